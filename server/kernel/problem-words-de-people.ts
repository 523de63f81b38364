/** German for what people are told who sign in, belong to an organization, send or sign. */
export const peopleDe: Readonly<Record<string, string>> = {
  // Sign-in.
  "The e-mail address or the password is wrong.": "Die E-Mail-Adresse oder das Passwort ist falsch.",
  "This session has ended. Sign in again.": "Diese Sitzung ist beendet. Melden Sie sich noch einmal an.",
  "Sign in to the dashboard, or send an API key.": "Melden Sie sich an, oder senden Sie einen API-Schlüssel.",
  "A password has at least {} characters.": "Ein Passwort hat mindestens {} Zeichen.",
  "A password has at most {} characters.": "Ein Passwort hat höchstens {} Zeichen.",
  "This is not your current password.": "Das ist nicht Ihr jetziges Passwort.",
  "This account has a password already: change it with the current one.":
    "Dieses Konto hat schon ein Passwort: Ändern Sie es mit dem jetzigen.",
  "This account has no password yet: set one first.":
    "Dieses Konto hat noch kein Passwort: Legen Sie zuerst eines fest.",
  "Too many wrong codes were entered for this address. Sign in another way, or try again tomorrow.":
    "Für diese Adresse wurden zu viele falsche Codes eingegeben. Melden Sie sich anders an, oder versuchen Sie es morgen.",
  "This passkey cannot be used to sign in here.": "Mit diesem Passkey können Sie sich hier nicht anmelden.",
  "This passkey is registered already.": "Dieser Passkey ist schon eingerichtet.",
  "You do not belong to an organization. Choose one, or create one.":
    "Sie gehören zu keiner Organisation. Wählen Sie eine, oder legen Sie eine an.",
  "This invitation has expired. Ask for a new one.": "Diese Einladung ist abgelaufen. Bitten Sie um eine neue.",
  "This invitation was accepted: sign in.": "Diese Einladung wurde angenommen: Melden Sie sich an.",
  "This call must come from a page of {}: open the dashboard under that address.":
    "Dieser Aufruf muss von einer Seite unter {} kommen: Öffnen Sie die Anwendung unter dieser Adresse.",
  "This credential lacks the permission `{}`.": "Diesem Zugang fehlt die Berechtigung `{}`.",
  "This operation needs a dashboard session; API keys cannot use it.":
    "Dafür müssen Sie angemeldet sein; mit API-Schlüsseln geht es nicht.",
  "This credential stood for something else when the call began. Send the call again.":
    "Dieser Zugang hat sich während des Aufrufs geändert. Senden Sie den Aufruf noch einmal.",
  "Authorization and x-api-key carry different keys.": "Authorization und x-api-key enthalten verschiedene Schlüssel.",
  "A password has {} to {} characters.": "Ein Passwort hat {} bis {} Zeichen.",
  "This password is known from a data breach, so attackers try it first. Choose another one, best of several unrelated words.":
    "Dieses Passwort ist aus einem Datenleck bekannt und wird von Angreifern zuerst probiert. Wählen Sie ein anderes, am besten aus mehreren Wörtern ohne Zusammenhang.",
  "This address has an account already.": "Für diese Adresse gibt es schon ein Konto.",
  "This address has an account already: sign in.": "Für diese Adresse gibt es schon ein Konto: Melden Sie sich an.",
  "Use a path of the dashboard, beginning with a single slash.":
    "Geben Sie einen Pfad der Anwendung an, der mit einem einzelnen Schrägstrich beginnt.",
  "This link is not known: a later start of the appliance has made a new one. `signet first-link` prints another.":
    "Dieser Link gilt nicht mehr: Beim letzten Start wurde ein neuer erstellt. `signet first-link` zeigt einen neuen an.",
  "This link has expired. `signet first-link` prints a new one.":
    "Dieser Link ist abgelaufen. `signet first-link` zeigt einen neuen an.",
  "The first owner exists already: sign in.": "Den ersten Inhaber gibt es schon: Melden Sie sich an.",
  "This registration has expired or was used already: begin again.":
    "Diese Einrichtung ist abgelaufen oder schon abgeschlossen: Beginnen Sie noch einmal.",
  "The authenticator's answer cannot be used.": "Die Antwort des Authentifikators ist nicht verwendbar.",
  "A person has at most {} passkeys: remove one that you no longer use.":
    "Eine Person hat höchstens {} Passkeys: Entfernen Sie einen, den Sie nicht mehr benutzen.",
  // Organizations, members, API keys.
  "You work in another organization now, as you chose in another window. Nothing was done here.":
    "Sie haben in einem anderen Fenster die Organisation gewechselt. Hier wurde nichts ausgeführt.",
  "Choose one of your own organizations.": "Wählen Sie eine Ihrer Organisationen.",
  "Only owners of an organization may create another one here.":
    "Nur Inhaber einer Organisation dürfen hier eine weitere anlegen.",
  "Only an owner may make, change or remove an owner.": "Nur Inhaber dürfen Inhaber ernennen, ändern oder entfernen.",
  "You do not hold `{}`, so you cannot grant it.":
    "Sie haben die Berechtigung `{}` nicht und können sie daher nicht vergeben.",
  "An organization has at most {} API keys: revoke one that nothing uses any more.":
    "Eine Organisation hat höchstens {} API-Schlüssel: Widerrufen Sie einen, der nicht mehr gebraucht wird.",
  "The plan does not include the export of the audit log (features.auditLogExport).":
    "Der Tarif enthält den Export des Protokolls nicht (features.auditLogExport).",
  "This invitation is not known, or a newer mail replaced it.":
    "Diese Einladung ist nicht bekannt oder wurde durch eine neuere E-Mail ersetzt.",
  "This invitation was withdrawn, or a newer mail replaced it.":
    "Diese Einladung wurde zurückgezogen oder durch eine neuere E-Mail ersetzt.",
  "Whoever made this invitation may not any more. Ask for a new one.":
    "Wer diese Einladung ausgesprochen hat, darf das nicht mehr. Bitten Sie um eine neue.",
  "You are signed in as {}, but {} was invited: sign out and open the link again.":
    "Sie sind als {} angemeldet, die Einladung gilt aber für {}: Melden Sie sich ab und öffnen Sie den Link noch einmal.",
  "{} has an account: sign in with it, then open the link again.":
    "Für {} gibt es ein Konto: Melden Sie sich damit an und öffnen Sie den Link noch einmal.",
  "{} is a member already.": "{} ist schon Mitglied.",
  "Enter your name.": "Geben Sie Ihren Namen ein.",
  "Choose a password.": "Wählen Sie ein Passwort.",
  "An organization has at most {} open invitations: revoke one that nobody accepts.":
    "Eine Organisation hat höchstens {} offene Einladungen: Ziehen Sie eine zurück, die niemand annimmt.",
  "An organization mails an address at most 3 invitations a day.":
    "Eine Organisation sendet höchstens 3 Einladungen am Tag an dieselbe Adresse.",
  "This address was mailed as many invitations as it gets in a day.":
    "Diese Adresse hat heute schon so viele Einladungen erhalten wie möglich.",
  "A person mails at most 50 invitations an hour.": "Eine Person versendet höchstens 50 Einladungen in der Stunde.",
  "This address was mailed an invitation less than a minute ago.":
    "An diese Adresse ging vor weniger als einer Minute eine Einladung.",
  // Envelopes.
  "The envelope was changed at the same time.": "Der Umschlag wurde gleichzeitig geändert.",
  "A link can be sent again once a minute.": "Ein Link kann einmal in der Minute erneut gesendet werden.",
  "An envelope has at most {} viewers.": "Ein Umschlag hat höchstens {} Beobachter.",
  "The plan allows 1 viewer per envelope (features.viewersPerEnvelope).":
    "Der Tarif erlaubt einen Beobachter je Umschlag (features.viewersPerEnvelope).",
  "The plan allows {} viewers per envelope (features.viewersPerEnvelope).":
    "Der Tarif erlaubt {} Beobachter je Umschlag (features.viewersPerEnvelope).",
  "The plan does not let viewers see the document (features.viewerDocumentAccess).":
    "Der Tarif lässt Beobachter das Dokument nicht sehen (features.viewerDocumentAccess).",
  "Each role has exactly one recipient.": "Jede Rolle hat genau einen Empfänger.",
  "Role `{}` needs a recipient.": "Die Rolle `{}` braucht einen Empfänger.",
  "The template has no role `{}`; it has {}.": "Die Vorlage hat keine Rolle `{}`; sie hat {}.",
  "The template has no role `{}`.": "Die Vorlage hat keine Rolle `{}`.",
  "Role `{}` has no field `{}`.": "Die Rolle `{}` hat kein Feld `{}`.",
  "A field of type {} cannot be prefilled.": "Ein Feld vom Typ {} kann nicht vorausgefüllt werden.",
  "There is no such template.": "Diese Vorlage gibt es nicht.",
  "The template has no such published version.": "Diese Version der Vorlage ist nicht veröffentlicht.",
  "Use a template id.": "Geben Sie die Kennung einer Vorlage an.",
  "This e-mail address stands here twice.": "Diese E-Mail-Adresse ist hier doppelt.",
  "`dedupeOn` needs an `externalId`.": "`dedupeOn` verlangt eine `externalId`.",
  "Use an https URL without user name; http://localhost is accepted in test mode.":
    "Geben Sie eine https-URL ohne Benutzernamen an; im Testmodus geht auch http://localhost.",
  "A code by SMS needs a phone number.": "Für einen Code per SMS fehlt die Telefonnummer.",
  "Use the international form, for example +41441234567.":
    "Geben Sie die Nummer in internationaler Form an, zum Beispiel +41441234567.",
  "Verification `{}` is not set up on this appliance.": "Die Identitätsprüfung `{}` ist hier nicht eingerichtet.",
  "No step of this envelope has failed for good.": "Kein Schritt dieses Umschlags ist endgültig gescheitert.",
  "The documents of this envelope were deleted on {}, as the organization's retention asks. Its hashes, audit trail and anchors remain.":
    "Die Dokumente dieses Umschlags wurden am {} gelöscht, wie es die Aufbewahrungsfrist der Organisation verlangt. Hashwerte, Protokoll und Anker bleiben.",
  "The document was deleted, as its sender's retention asks.":
    "Das Dokument wurde gelöscht, wie es die Aufbewahrungsfrist des Absenders verlangt.",
  "The envelope is held already, or its documents were deleted.":
    "Der Umschlag ist schon vor dem Löschen geschützt, oder seine Dokumente sind gelöscht.",
  "The envelope is {}: it is never sealed.": "Der Umschlag ist {}: Er wird nie versiegelt.",
  declined: "abgelehnt",
  voided: "storniert",
  expired: "abgelaufen",
  "The seal waits for the next anchor.": "Das Siegel wartet auf den nächsten Anker.",
  "There is no anchor yet.": "Es gibt noch keinen Anker.",
  "Give the SHA-256 of the document as 64 hexadecimal characters.":
    "Geben Sie den SHA-256-Wert des Dokuments mit 64 Hexadezimalzeichen an.",
  // Signing.
  "A signer token is required: send `Authorization: Bearer <access token>`.":
    "Dafür ist der Zugang einer unterzeichnenden Person nötig: Senden Sie `Authorization: Bearer <access token>`.",
  "A viewer's access token is required: send `Authorization: Bearer <access token>`.":
    "Dafür ist der Zugang eines Beobachters nötig: Senden Sie `Authorization: Bearer <access token>`.",
  "Codes by SMS are not set up on this appliance.": "Codes per SMS sind hier nicht eingerichtet.",
  "The identity of this person is checked in another way.":
    "Die Identität dieser Person wird auf andere Weise geprüft.",
  "Too many wrong codes were entered. Send the link again first: no code works before that.":
    "Es wurden zu viele falsche Codes eingegeben. Senden Sie zuerst den Link noch einmal: Vorher gilt kein Code.",
  "This is not a recipient who signs this envelope.": "Diese Person unterschreibt diesen Umschlag nicht.",
  "This is the address of the present signer.": "Das ist die Adresse der Person, die jetzt unterschreiben soll.",
  "Use a full URL.": "Geben Sie eine vollständige URL an.",
  "Use an https origin, for example https://app.example.com; http://localhost is for test mode only.":
    "Geben Sie einen https-Ursprung an, zum Beispiel https://app.example.com; http://localhost geht nur im Testmodus.",
  "Use an https URL without user name and password; http://localhost is for test mode only.":
    "Geben Sie eine https-URL ohne Benutzernamen und Passwort an; http://localhost geht nur im Testmodus.",
  "Sign in one of these ways: {}.": "Unterschreiben Sie auf eine dieser Arten: {}.",
  "The image is not base64.": "Das Bild ist kein gültiges Base64.",
  "The image is larger than 512 KB.": "Das Bild ist größer als 512 KB.",
  "The image has more than {} by {} pixels.": "Das Bild hat mehr als {} mal {} Pixel.",
  "The image is not a PNG, or it is damaged.": "Das Bild ist kein PNG oder beschädigt.",
  "Send a PNG as `data:image/png;base64,…`.": "Senden Sie ein PNG als `data:image/png;base64,…`.",
  "This is not a time zone of the IANA database.": "Diese Zeitzone steht nicht in der IANA-Datenbank.",
  "This is not a statement that was offered. Load the session again.":
    "Diese Erklärung wurde nicht angeboten. Laden Sie die Sitzung noch einmal.",
  "`{}` is not a field of this signer.": "`{}` ist kein Feld dieser Person.",
  "This is not a field of this signer.": "Das ist kein Feld dieser Person.",
  "This is not an attachment or image field of this signer.": "Das ist kein Anlagen- oder Bildfeld dieser Person.",
  "Send it as `{}`, beside `fields`.": "Senden Sie es als `{}`, neben `fields`.",
  "Send one value, not an array.": "Senden Sie einen einzelnen Wert, keine Liste.",
  "Send an array of attachment ids.": "Senden Sie eine Liste mit Kennungen von Anlagen.",
  "Send one file, as the part `file`.": "Senden Sie eine einzige Datei, als Teil `file`.",
  "At most {} file.": "Höchstens {} Datei.",
  "At most {} files.": "Höchstens {} Dateien.",
  "A file is named twice.": "Eine Datei ist doppelt genannt.",
  "A file was not uploaded for this field, or not within 24 hours.":
    "Eine Datei wurde nicht für dieses Feld hochgeladen, oder nicht in den letzten 24 Stunden.",
  "An uploaded file is gone. Upload it again.":
    "Eine hochgeladene Datei ist nicht mehr da. Laden Sie sie noch einmal hoch.",
  "This field accepts {}.": "Dieses Feld akzeptiert {}.",
  "The content of the file is not {}.": "Der Inhalt der Datei ist nicht {}.",
  "The picture is damaged.": "Das Bild ist beschädigt.",
  "The picture has more than {} by {} pixels.": "Das Bild hat mehr als {} mal {} Pixel.",
  "This text is too long for its field: {} of its characters fit.":
    "Dieser Text ist zu lang für sein Feld: {} seiner Zeichen passen hinein.",
  "Too many wrong codes were entered. Ask the sender to send the link again.":
    "Es wurden zu viele falsche Codes eingegeben. Bitten Sie den Absender, den Link noch einmal zu senden.",
  "There is no valid code. Request a new one.": "Es gibt keinen gültigen Code. Fordern Sie einen neuen an.",
  "A code may be tried {} times. Request a new one.":
    "Ein Code darf {}-mal versucht werden. Fordern Sie einen neuen an.",
  "No code is needed here.": "Hier ist kein Code nötig.",
  "The code was entered already.": "Der Code wurde schon eingegeben.",
  "The code for this signature is handed over by the sender.": "Den Code für diese Unterschrift übergibt der Absender.",
  "A newer link was sent, so this one no longer works.": "Es wurde ein neuerer Link gesendet: Dieser gilt nicht mehr.",
  "This session has ended: the link was opened again elsewhere.":
    "Diese Sitzung ist beendet: Der Link wurde anderswo noch einmal geöffnet.",
  "There is nothing to sign with this link any more.": "Mit diesem Link gibt es nichts mehr zu unterschreiben.",
  "This field is required.": "Dieses Feld muss ausgefüllt werden.",
  "This box must be ticked.": "Dieses Kästchen muss angekreuzt werden.",
  "This field cannot be changed.": "Dieses Feld kann nicht geändert werden.",
  "This field cannot be given a value.": "In dieses Feld kann nichts eingetragen werden.",
  "This field takes a text.": "In dieses Feld gehört ein Text.",
  "This field takes a number.": "In dieses Feld gehört eine Zahl.",
  "This field takes true or false.": "In dieses Feld gehört true oder false.",
  "This field takes a single line.": "In dieses Feld gehört eine einzige Zeile.",
  "The text has characters that cannot be printed.": "Der Text enthält Zeichen, die nicht gedruckt werden können.",
  "At most {} characters.": "Höchstens {} Zeichen.",
  "At least {} characters.": "Mindestens {} Zeichen.",
  "At most {} decimals.": "Höchstens {} Nachkommastellen.",
  "At most {}.": "Höchstens {}.",
  "At least {}.": "Mindestens {}.",
  "Use a whole number.": "Geben Sie eine ganze Zahl an.",
  "Use a telephone number.": "Geben Sie eine Telefonnummer an.",
  "Choose one of the options.": "Wählen Sie eine der Möglichkeiten.",
  "The date must not be before {}.": "Das Datum darf nicht vor {} liegen.",
  "The date must not be after {}.": "Das Datum darf nicht nach {} liegen.",
  "The text does not have the form that is asked for.": "Der Text hat nicht die verlangte Form.",
  "A file is required.": "Es fehlt eine Datei.",
  "A file may have 10 MB.": "Eine Datei darf 10 MB haben.",
  "All files of one signer together may have 25 MB.": "Alle Dateien einer Person dürfen zusammen 25 MB haben.",
  "The sender does not offer to decline this document here.": "Der Absender lässt hier kein Ablehnen zu.",
  "The sender does not allow passing this document on.": "Der Absender erlaubt nicht, dieses Dokument weiterzugeben.",
  "The sender no longer shares this envelope with you.": "Der Absender teilt diesen Umschlag nicht mehr mit Ihnen.",
};
