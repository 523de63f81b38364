import type { MailWords } from "./en.ts";

/** Die Wörter der Mails auf Deutsch. */
export const de: MailWords = {
  greeting: "Guten Tag {{name}},",
  footer: {
    sentFor: "Gesendet von Signet im Auftrag von {{organization}}.",
    private: "Diese Nachricht ist nur für {{address}} bestimmt.",
    account: "Gesendet von Signet zu Ihrem Konto.",
  },
  signing_request: {
    subject: "{{sender}} bittet Sie, „{{title}}“ zu unterschreiben",
    heading: "Bitte unterschreiben Sie „{{title}}“",
    body: "{{sender}} hat Ihnen ein Dokument zur Durchsicht und Unterschrift geschickt.",
    deadline: "Das Dokument kann bis {{date}} unterschrieben werden.",
    button: "Ansehen und unterschreiben",
    note: "Der Link gehört nur Ihnen: Leiten Sie diese E-Mail nicht weiter. Wenn Sie den Absender nicht kennen, können Sie sie ignorieren.",
  },
  reminder: {
    subject: "Erinnerung: {{sender}} bittet Sie, „{{title}}“ zu unterschreiben",
    heading: "„{{title}}“ wartet noch auf Sie",
    body: "{{sender}} hat Ihnen ein Dokument zur Durchsicht und Unterschrift geschickt, und es wartet noch auf Ihre Unterschrift.",
  },
  code: {
    subject: "Ihr Code für „{{title}}“",
    heading: "Ihr Einmalcode",
    body: "Geben Sie diesen Code ein, um mit „{{title}}“ fortzufahren.",
    note_one:
      "Der Code gilt einmal und eine Minute lang. Niemand wird Sie je am Telefon oder per E-Mail danach fragen.",
    note_other:
      "Der Code gilt einmal und {{count}} Minuten lang. Niemand wird Sie je am Telefon oder per E-Mail danach fragen.",
    hours_one:
      "Der Code gilt einmal und eine Stunde lang. Niemand wird Sie je am Telefon oder per E-Mail danach fragen.",
    hours_other:
      "Der Code gilt einmal und {{count}} Stunden lang. Niemand wird Sie je am Telefon oder per E-Mail danach fragen.",
    ignore: "Wenn Sie keinen Code angefordert haben, können Sie diese E-Mail ignorieren.",
  },
  completed: {
    subject: "Abgeschlossen: „{{title}}“",
    heading: "Alle haben „{{title}}“ unterschrieben",
    body: "Das Dokument ist versiegelt. Niemand kann es mehr ändern, ohne dass man es sieht.",
    attached: "Es liegt dieser E-Mail bei.",
    button: "Dokument herunterladen",
    note: "Der Download ist 30 Tage lang möglich und braucht kein Konto.",
    unsealed:
      "Alle haben unterschrieben, aber das Dokument konnte noch nicht versiegelt werden. Der Absender weiß davon und kann die Datei später bereitstellen.",
  },
  voided: {
    subject: "Zurückgezogen: „{{title}}“",
    heading: "„{{title}}“ wurde zurückgezogen",
    body: "{{sender}} hat das Dokument zurückgezogen. Es kann nicht mehr unterschrieben werden, und Sie müssen nichts tun.",
    reason: "Grund",
  },
  declined: {
    subject: "Abgelehnt: „{{title}}“",
    heading: "„{{title}}“ wurde abgelehnt",
    body: "{{by}} hat die Unterschrift abgelehnt. Das Dokument kann von niemandem mehr unterschrieben werden.",
    reason: "Grund",
  },
  viewer_invite: {
    subject: "{{sender}} lässt Sie „{{title}}“ mitverfolgen",
    heading: "Verfolgen Sie die Unterzeichnung von „{{title}}“",
    body: "{{sender}} lädt Sie ein zu sehen, wie die Unterzeichnung dieses Dokuments vorangeht.",
    button: "Stand ansehen",
    note: "Der Link gehört nur Ihnen: Leiten Sie diese E-Mail nicht weiter.",
  },
  viewer_update: {
    completed: {
      subject: "Von allen unterschrieben: „{{title}}“",
      heading: "Alle haben „{{title}}“ unterschrieben",
      body: "Das Dokument, das Sie verfolgen, wurde von allen unterschrieben. Es wird jetzt versiegelt.",
    },
    sealed: {
      subject: "Abgeschlossen: „{{title}}“",
      heading: "„{{title}}“ ist unterschrieben und versiegelt",
      body: "Das Dokument, das Sie verfolgen, wurde von allen unterschrieben und ist versiegelt.",
    },
    declined: {
      subject: "Abgelehnt: „{{title}}“",
      heading: "„{{title}}“ wurde abgelehnt",
      body: "Jemand hat die Unterschrift des Dokuments abgelehnt, das Sie verfolgen. Es kann nicht mehr unterschrieben werden.",
    },
    voided: {
      subject: "Zurückgezogen: „{{title}}“",
      heading: "„{{title}}“ wurde zurückgezogen",
      body: "Der Absender hat das Dokument zurückgezogen, das Sie verfolgen. Es kann nicht mehr unterschrieben werden.",
    },
    expired: {
      subject: "Abgelaufen: „{{title}}“",
      heading: "„{{title}}“ ist abgelaufen",
      body: "Die Frist für die Unterschrift des Dokuments, das Sie verfolgen, ist vorbei. Es kann nicht mehr unterschrieben werden.",
    },
  },
  invitation: {
    subject: "{{by}} lädt Sie zu {{organization}} ein",
    heading: "Arbeiten Sie bei {{organization}} mit",
    body: "{{by}} hat Sie eingeladen, bei {{organization}} mitzuarbeiten: Dokumente zur Unterschrift zu senden und zu verfolgen.",
    role_owner: "Sie werden Inhaber: Sie dürfen alles und entscheiden, wer sonst noch was darf.",
    role_admin: "Sie werden Administrator: Sie verwalten Personen, Schlüssel und Einstellungen.",
    role_member: "Sie werden Mitglied: Sie arbeiten mit Vorlagen und Umschlägen.",
    button: "Einladung annehmen",
    note: "Der Link gilt 7 Tage und gehört nur Ihnen: Leiten Sie diese E-Mail nicht weiter. Wenn Sie den Absender nicht kennen, können Sie sie ignorieren.",
  },
  sign_in_code: {
    subject: "Ihr Code für die Anmeldung",
    heading: "Ihr Code für die Anmeldung",
    body: "Geben Sie diesen Code auf der Seite ein, auf der Sie ihn angefordert haben.",
    ignore:
      "Wenn Sie sich nicht anmelden wollten, können Sie diese E-Mail ignorieren: Ohne den Code kommt niemand hinein.",
  },
  confirm_account: {
    subject: "Bestätigen Sie Ihre E-Mail-Adresse",
    heading: "Bestätigen Sie Ihre E-Mail-Adresse",
    body: "Geben Sie diesen Code ein, um Ihr Konto fertigzustellen.",
    ignore: "Wenn Sie kein Konto angefordert haben, können Sie diese E-Mail ignorieren: Es entsteht keines.",
  },
  magic_link: {
    subject: "Ihr Link für die Anmeldung",
    heading: "Mit einem Klick anmelden",
    body: "Öffnen Sie diesen Link in dem Browser, in dem Sie arbeiten wollen.",
    button: "Anmelden",
    ignore: "Wenn Sie sich nicht anmelden wollten, können Sie diese E-Mail ignorieren.",
  },
  password_reset: {
    subject: "Wählen Sie ein neues Passwort",
    heading: "Wählen Sie ein neues Passwort",
    body: "Jemand, wahrscheinlich Sie, hat ein neues Passwort angefordert. Wenn Sie eines wählen, werden Sie überall abgemeldet.",
    button: "Passwort wählen",
    ignore: "Wenn Sie es nicht waren, können Sie diese E-Mail ignorieren: Ihr Passwort bleibt, wie es ist.",
  },
  link: {
    note_one: "Der Link gilt einmal und eine Minute lang. Leiten Sie diese E-Mail nicht weiter.",
    note_other: "Der Link gilt einmal und {{count}} Minuten lang. Leiten Sie diese E-Mail nicht weiter.",
  },
  account_exists: {
    subject: "Sie haben bereits ein Konto",
    heading: "Sie haben bereits ein Konto",
    body: "Jemand, wahrscheinlich Sie, hat mit dieser Adresse ein Konto angefordert. Es gibt schon eines, und nichts wurde geändert. Melden Sie sich mit Ihrem Passwort an, oder lassen Sie sich einen Code oder einen Link schicken; wenn Sie das Passwort vergessen haben, können Sie ein neues wählen.",
    button: "Zur Anmeldung",
    ignore: "Wenn Sie es nicht waren, können Sie diese E-Mail ignorieren.",
  },
  security_notice: {
    subject: "Ihre Anmeldung wurde geändert",
    heading: "Ihre Anmeldung wurde geändert",
    password_changed: "Ihr Passwort wurde am {{date}} geändert, und Ihre anderen Sitzungen wurden beendet.",
    password_reset:
      "Ihr Passwort wurde am {{date}} über einen Einmal-Link neu gesetzt, und alle Ihre Sitzungen wurden beendet. Passkeys und verbundene Konten melden weiterhin in Ihrem Konto an: Sehen Sie sie unter Einstellungen, Konto durch und entfernen Sie, was Sie nicht kennen.",
    passkey_added: "Am {{date}} wurde Ihrem Konto ein Passkey hinzugefügt.",
    passkey_removed: "Am {{date}} wurde ein Passkey aus Ihrem Konto entfernt.",
    social_connected: "Am {{date}} wurde das Konto eines anderen Dienstes mit Ihrem verbunden.",
    social_disconnected: "Am {{date}} wurde das Konto eines anderen Dienstes von Ihrem getrennt.",
    help: "Wenn Sie das nicht waren, wählen Sie sofort ein neues Passwort, prüfen Sie Ihre Sitzungen, und benachrichtigen Sie Ihre Administration.",
  },
  anchor_witness: {
    subject: "Anker {{sequence}}: Bitte bewahren Sie diese E-Mail auf",
    heading: "Ein neuer Anker der gesiegelten Dokumente",
    body: "Sie sind Zeuge dieses Dienstes: Anker {{sequence}} steht unten, von ihm signiert. Wer ihn besitzt, kann zeigen, dass danach kein Dokument aus dem Verzeichnis genommen wurde.",
    checkpoint: "Checkpoint (C2SP tlog-checkpoint)",
    note: "Bewahren Sie diese E-Mail dort auf, wo die Betreiber des Dienstes sie nicht erreichen. Mehr ist nicht zu tun.",
  },
  member_promoted: {
    subject: "{{organization}}: Jemand hat jetzt mehr Rechte",
    heading: "Jemand hat in „{{organization}}“ jetzt mehr Rechte",
    owner: "{{name}} ({{email}}) gehört seit {{date}} zu den Inhabern von „{{organization}}“. Veranlasst von {{by}}.",
    admin:
      "{{name}} ({{email}}) gehört seit {{date}} zur Administration von „{{organization}}“. Veranlasst von {{by}}.",
    help: "Sie erhalten diese Nachricht, weil Sie die Organisation innehaben. Wenn das nicht so sein soll, nehmen Sie die Rolle unter Einstellungen, Mitglieder zurück, und sehen Sie im Protokoll nach, was geschehen ist.",
  },
  render_failed: {
    subject: "Nicht gesendet: „{{title}}“",
    heading: "„{{title}}“ konnte nicht vorbereitet werden",
    body: "Das Dokument konnte nicht erzeugt werden. Deshalb wurde niemandem etwas geschickt, und der Umschlag wurde storniert.",
    reason: "Was nicht ging",
  },
  stalled: {
    subject: "Angehalten: „{{title}}“",
    heading: "„{{title}}“ geht nicht von selbst weiter",
    body: "Ein Schritt, der von selbst läuft, ist endgültig fehlgeschlagen. Deshalb wird niemand als Nächstes um die Unterschrift gebeten. Was unterschrieben wurde, bleibt erhalten. Bitten Sie die Betreiber dieses Dienstes, die Ursache zu beheben und den Schritt neu zu starten.",
    reason: "Was nicht ging",
  },
};
