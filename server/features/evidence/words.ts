/**
 * What the checks say, in the languages of the pages that say it. Each cause has a sentence of its own; `{name}` is filled
 * in, `{name|leaf|leaves}` is what stands with that number: with 1, or with any other. Isomorphic: the command line, the verification page and the page of a bundle speak from here.
 */

const en = {
  titles: {
    document: "The file is the sealed document",
    leaf: "The entry in the record names this document",
    path: "The entry stands in the record",
    anchor: "The state of the record is the one that was signed",
    signature: "The signature over the record is valid",
    key: "The key was valid at that time",
    token: "A time stamp over the record",
    checkpoint: "The note for witnesses of the record",
    witnesses: "Witnesses that hold the record too",
    keys: "The published keys in the evidence",
    files: "The files of the evidence",
    audit: "The audit trail is whole",
    entry: "The audit entry that names the certificate",
    attachments: "The attachments are those that people added",
    pdf: "The PDF is sealed to its last byte",
    seal: "The seal in the PDF",
    chain: "The certificate of the seal",
    "seal-timestamp": "The time stamp of the seal",
    validation: "Validation data for the long term",
    "document-timestamp": "A time stamp over the whole file",
    revisions: "What was added behind the seal",
    foreign: "A signature made before the seal",
    certificate: "The certificate of completion",
  },
  findings: {
    "document-fits": "The file is the one that the leaf names.",
    "document-differs": "The leaf names another file.",
    "document-unknown": "Nobody sealed exactly these bytes here.",
    "document-deleted":
      "The sealed file is not among the evidence, as after its sender's retention has deleted it: only its hashes are here. Add the file that you hold to check it.",
    "leaf-fits": "The leaf has the hash that the proof starts with.",
    "leaf-differs": "The proof starts with another leaf.",
    "leaf-test": "The document was made in test mode: it binds nobody, and does not prove who signed.",
    "path-fits": "The path leads from leaf {index} to the root over {size} {size|leaf|leaves}.",
    "path-differs": "The path does not lead to the root that the anchor signs.",
    "anchor-fits": "This is anchor {sequence}.",
    "anchor-differs": "The anchor does not have the hash that it states.",
    "signature-holds": "The anchor is signed with the published key.",
    "signature-broken": "The signature of the anchor does not hold.",
    "key-missing": "The key of the anchor is not among the published keys.",
    "key-fits": "The key was valid when the anchor was signed, {at}.",
    "key-renamed": "The key does not have the thumbprint that it states.",
    "key-not-valid": "The key was not valid when the anchor was signed.",
    "token-holds": "{authority} stamped the hash of the anchor at {at}.",
    "token-absent": "The anchor carries no time stamp of its own; the signature states its time.",
    "token-unknown-authority":
      "The time stamp fits the anchor ({at}), but its authority, {authority}, is none of those that are trusted here.",
    "token-broken": "The time stamp of the anchor does not hold: {problems}",
    "checkpoint-fits": "The checkpoint note signs the same tree with the same key.",
    "checkpoint-differs": "The checkpoint note is not that of the anchor.",
    "checkpoint-absent": "There is no checkpoint note of this anchor here.",
    "witnesses-told":
      "By the service's own account {count} {count|witness|witnesses} took this anchor. Ask {count|it|one of them} for it: it must be the same.",
    "audit-fits": "The audit trail is whole: {count} {count|entry|entries}, of which the leaf fixes the first {fixed}.",
    "audit-later":
      "{count} more {count|entry follows|entries follow}. Nothing proves {count|it|them} yet: do not rely on {count|it|them}.",
    "audit-broken": "The audit trail is broken at entry {at}.",
    "audit-other": "The leaf does not name the entry of the audit trail that sealed this file.",
    "attachments-none": "The bundle has no attachments.",
    "attachments-fit": "{count} {count|attachment is one|attachments are those} that people added.",
    "attachments-deleted":
      "{count} {count|attachment is|attachments are} not among the evidence, as after deletion; {count|its hash stands|their hashes stand} in the audit trail.",
    "attachment-strange": "Nobody added the file {file}.",
    "attachment-missing": "The attachment {file} is missing.",
    "attachments-unnamed":
      "{count} {count|attachment is one|attachments are those} that people added; the trail does not say whether others were submitted too.",
    "keys-fit": "keys.json holds {count} {count|key|keys}, each with its own thumbprint, and the anchor's among them.",
    "keys-contradicted": "keys.json gives the key {kid} another validity than the one that is known from elsewhere.",
    "keys-twice": "keys.json holds a key twice.",
    "files-known": "{count} {count|file|files}, each of them one of an evidence bundle.",
    "unproven-explains": "{file} only explains: nothing proves what it says.",
    "unproven-missing":
      "{file} is missing. Nothing here depends on it, and nothing tells whether this evidence came with it.",
    "unproven-consistency":
      "{file}: nothing proves “{part}”. It leads from the anchor before this one, which is not part of the evidence; nothing here depends on it.",
    "unproven-token":
      "{file}: nothing proves “{part}”. The anchor's signature does not cover it, and its authority is not among those that are trusted from elsewhere.",
    "unproven-token-certificates":
      "{file}: not every byte of “{part}” is proven. The time stamp holds; nothing proves which certificates it came with.",
    "unproven-token-missing":
      "{file}: “{part}” is empty. The anchor's signature does not cover it, and nothing tells whether this anchor had a time stamp.",
    "unproven-validity":
      "{file}: the validity of the anchor's key {part} is not confirmed by keys that are known from elsewhere.",
    "unproven-key":
      "{file}: nothing proves the key {part}. It did not sign this anchor, and nothing here depends on it.",
    "unproven-key-missing": "{file} lacks the key {part}, which is known from elsewhere. Nothing here depends on it.",
    "unproven-authority":
      "{file}: nothing proves the authority {part}. It is not among those that are trusted from elsewhere for what this list is for.",
    "unproven-authority-missing":
      "{file} lacks the authority {part}, which is known from elsewhere; it may have come later.",
    "unproven-order": "{file}: nothing proves the order in which its content stands, and nothing here depends on it.",
    "file-strange": "{file} is none of the files of an evidence bundle: nobody vouches for it.",
    "file-missing": "{file} is missing.",
    "file-not-canonical": "{file} is not in its canonical form (RFC 8785).",
    "file-wrong": "{file} does not hold what it must.",
    unreadable: "The evidence cannot be read: {reason}.",
    "archive-unreadable": "The archive cannot be read: {reason}.",
    "pdf-sealed": "The seal and what was added with it cover all {size} bytes of the file.",
    "pdf-wrong": "{problems}",
    "seal-holds": "“{field}”: digest and signature fit, level {level}.",
    "seal-wrong": "“{field}”: {problems}",
    "chain-holds":
      "“{field}” was made with a certificate of {subject}, issued by {issuer}, which leads to a trusted authority.",
    "chain-wrong": "“{field}”: {problems}",
    "timestamp-holds": "{authority} stamped it at {at}.",
    "timestamp-absent": "“{field}” carries no time stamp: only its signer states the time.",
    "timestamp-wrong": "“{field}”: {problems}",
    "validation-lasting":
      "The file holds certificates and revocation lists, and a time stamp covers them: level {level}, protected until {until}.",
    "validation-stored":
      "The file holds certificates and revocation lists that no time stamp covers yet: level {level}.",
    "validation-none":
      "The file holds no validation data: level {level}. It can be checked while the certificates are valid.",
    "revisions-none": "Nothing was added behind “{field}”.",
    "revisions-allowed": "Behind “{field}” only this was added, and it may be: {changes}.",
    "revisions-wrong": "Behind “{field}”: {problems}",
    "foreign-signature":
      "“{field}” was signed by somebody else before the seal: it is part of what was sealed and is not judged here.",
    "certificate-sealed": "The certificate of completion is sealed and whole.",
    "certificate-wrong": "The certificate of completion: {problems}",
    "certificate-fits": "It is the one that the sealing entry of the audit trail names.",
    "certificate-other": "It is another one than the sealing entry of the audit trail names.",
    "certificate-unnamed":
      "The sealing entry of the audit trail names no certificate, as those of the first versions: nothing but its own seal speaks for it.",
    "entry-fits":
      "The leaf names this entry: the file is the certificate of completion of envelope {envelope}, and the entry holds the SHA-256 of the document that it certifies.",
    "entry-differs": "The leaf names another entry of the audit trail.",
    "certificate-deleted": "The certificate of completion is not among the evidence, as after deletion.",
    "certificate-appended":
      "The certificate of completion: its seal holds, and validation data was appended that no time stamp covers.",
  },
  problems: {
    "not-a-pdf": "The file is no PDF.",
    damaged: "The PDF is damaged.",
    encrypted: "The PDF is encrypted.",
    "too-complex": "The PDF is too complex to be checked.",
    "no-seal": "The PDF carries no seal of the trusted authorities.",
    "bytes-after-seal": "Bytes were appended that no seal covers.",
    "signer-certificate-missing": "The signer's certificate is missing.",
    "content-type-wrong": "The signature is over another kind of content.",
    "digest-mismatch": "The covered bytes are not those that were signed.",
    "signing-certificate-mismatch": "The signature names another certificate than the one that is enclosed.",
    "signature-invalid": "The signature does not fit its certificate.",
    "byte-range-wrong": "The covered range leaves out more than the signature itself.",
    "padding-changed": "The padding behind the signature was changed.",
    "unknown-format": "The signature is of a format that is not checked here.",
    malformed: "The signature cannot be read.",
    "cms-not-canonical": "The signature was written anew or holds more than it should.",
    "signing-time-present": "The signature states a second time of its own.",
    "stray-certificate": "A certificate is enclosed that nobody at hand vouches for.",
    "may-not-seal": "The certificate may not sign documents.",
    untrusted: "The certificate leads to none of the trusted authorities, or was not valid then.",
    "timestamp-invalid": "The time stamp does not hold.",
    "timestamp-out-of-order": "The time stamp states a time before what it covers.",
    revoked: "A certificate of the chain was revoked by then.",
    "changed-after": "The document was changed after it was sealed.",
    "imprint-mismatch": "The time stamp is for something else.",
    "nonce-mismatch": "The time stamp answers another request.",
    "not-a-timestamping-certificate": "The time stamp was made with a certificate that may not.",
  },
  changes: {
    "validation-data": "certificates and revocation lists",
    "document-timestamp": "time stamps",
    seal: "further seals",
    other: "other changes",
  },
  archive: {
    damaged: "it is damaged",
    ambiguous: "programs read it differently: pack the files anew, or ask for the bundle once more",
    "not-an-archive": "it is no ZIP archive",
    "too-large": "it is too large",
    encrypted: "it is encrypted",
    twice: "it holds a file twice",
    compression: "it is compressed in a way that is not read here",
  },
  labels: {
    "sha256-file": "SHA-256 of the file",
    documentSha256: "documentSha256 of the leaf",
    leaf: "Leaf (RFC 8785)",
    leafHash: "SHA-256(0x00 ‖ leaf)",
    rootHash: "rootHash",
    anchor: "Anchor (RFC 8785)",
    anchorHash: "SHA-256(anchor)",
    publicKey: "Ed25519 public key",
    signature: "Signature",
    kid: "Key id: thumbprint (RFC 7638)",
    validity: "Valid",
    now: "now",
    token: "Token (DER, base64)",
    serial: "Serial number",
    policy: "Policy",
    time: "Time",
    origin: "Origin",
    "witness-folder": "Kept in a folder",
    "witness-url": "Sent to an address on the web",
    "witness-mail": "Sent by mail",
    auditHash: "auditHash of the leaf",
    headHash: "Last hash of the trail",
    certificateNamed: "certificateSha256 of the sealing entry",
    entry: "Audit entry without its hash (RFC 8785)",
    entryHash: "SHA-256(entry)",
    byteRange: "Covered bytes (/ByteRange)",
    level: "Level",
    subject: "Certificate of",
    issuer: "Issued by",
    certificateSha256: "SHA-256 of the certificate",
    authoritySha256: "SHA-256 of the authority",
    claimedAt: "Time that the signer states (/M)",
    reason: "Reason",
    authority: "Authority",
    coveredTo: "Sealed up to byte",
    protectedUntil: "Protected until",
  },
};

type Words = { [Group in keyof typeof en]: { [Key in keyof (typeof en)[Group]]: string } };

const de: Words = {
  titles: {
    document: "Die Datei ist das versiegelte Dokument",
    leaf: "Der Eintrag im Verzeichnis nennt dieses Dokument",
    path: "Der Eintrag steht im Verzeichnis",
    anchor: "Der Stand des Verzeichnisses ist der unterschriebene",
    signature: "Die Signatur über das Verzeichnis ist gültig",
    key: "Der Schlüssel war zu dieser Zeit gültig",
    token: "Ein Zeitstempel über das Verzeichnis",
    checkpoint: "Die Notiz für Zeugen des Verzeichnisses",
    witnesses: "Zeugen, die das Verzeichnis ebenfalls haben",
    keys: "Die veröffentlichten Schlüssel im Nachweis",
    files: "Die Dateien des Nachweises",
    audit: "Das Protokoll ist vollständig",
    entry: "Der Protokolleintrag, der das Zertifikat nennt",
    attachments: "Die Anlagen sind die hinzugefügten",
    pdf: "Das PDF ist bis zum letzten Byte versiegelt",
    seal: "Das Siegel im PDF",
    chain: "Das Zertifikat des Siegels",
    "seal-timestamp": "Der Zeitstempel des Siegels",
    validation: "Prüfdaten für lange Zeit",
    "document-timestamp": "Ein Zeitstempel über die ganze Datei",
    revisions: "Was nach dem Siegel hinzukam",
    foreign: "Eine Signatur aus der Zeit vor dem Siegel",
    certificate: "Das Abschlusszertifikat",
  },
  findings: {
    "document-fits": "Die Datei ist die, die das Blatt nennt.",
    "document-differs": "Das Blatt nennt eine andere Datei.",
    "document-unknown": "Genau diese Bytes hat hier niemand versiegelt.",
    "document-deleted":
      "Die versiegelte Datei liegt dem Nachweis nicht bei, wie nach der Löschung durch die Aufbewahrungsfrist des Absenders; hier sind nur ihre Hashwerte. Fügen Sie die Datei hinzu, die Sie haben, um sie zu prüfen.",
    "leaf-fits": "Das Blatt hat den Hashwert, mit dem der Beweis beginnt.",
    "leaf-differs": "Der Beweis beginnt mit einem anderen Blatt.",
    "leaf-test": "Das Dokument entstand im Testmodus: Es bindet niemanden und beweist nicht, wer unterschrieben hat.",
    "path-fits": "Der Pfad führt von Blatt {index} zur Wurzel über {size} {size|Blatt|Blätter}.",
    "path-differs": "Der Pfad führt nicht zu der Wurzel, die der Anker unterschreibt.",
    "anchor-fits": "Das ist Anker {sequence}.",
    "anchor-differs": "Der Anker hat nicht den Hashwert, den er angibt.",
    "signature-holds": "Der Anker ist mit dem veröffentlichten Schlüssel unterschrieben.",
    "signature-broken": "Die Signatur des Ankers stimmt nicht.",
    "key-missing": "Der Schlüssel des Ankers ist nicht unter den veröffentlichten.",
    "key-fits": "Der Schlüssel war gültig, als der Anker unterschrieben wurde, {at}.",
    "key-renamed": "Der Schlüssel hat nicht den Fingerabdruck, den er angibt.",
    "key-not-valid": "Der Schlüssel war nicht gültig, als der Anker unterschrieben wurde.",
    "token-holds": "{authority} hat den Hashwert des Ankers am {at} gestempelt.",
    "token-absent": "Der Anker trägt keinen eigenen Zeitstempel; seine Signatur nennt die Zeit.",
    "token-unknown-authority":
      "Der Zeitstempel passt zum Anker ({at}), aber seine Stelle, {authority}, gehört nicht zu denen, denen hier vertraut wird.",
    "token-broken": "Der Zeitstempel des Ankers stimmt nicht: {problems}",
    "checkpoint-fits": "Die Checkpoint-Notiz unterschreibt denselben Baum mit demselben Schlüssel.",
    "checkpoint-differs": "Die Checkpoint-Notiz ist nicht die des Ankers.",
    "checkpoint-absent": "Zu diesem Anker gibt es hier keine Checkpoint-Notiz.",
    "witnesses-told":
      "Nach Angabe des Dienstes {count|hat|haben} {count} {count|Zeuge|Zeugen} diesen Anker übernommen. Fragen Sie {count|ihn|einen davon} danach: Es muss derselbe sein.",
    "audit-fits":
      "Das Protokoll ist vollständig: {count} {count|Eintrag, von dem|Einträge, von denen} das Blatt die ersten {fixed} festhält.",
    "audit-later":
      "{count} {count|weiterer Eintrag folgt|weitere Einträge folgen}. Noch beweist {count|ihn|sie} nichts: Verlassen Sie sich nicht darauf.",
    "audit-broken": "Das Protokoll ist bei Eintrag {at} unterbrochen.",
    "audit-other": "Das Blatt nennt nicht den Eintrag des Protokolls, der diese Datei versiegelt hat.",
    "attachments-none": "Das Paket hat keine Anlagen.",
    "attachments-fit":
      "{count} {count|Anlage ist eine, die hinzugefügt wurde|Anlagen sind die, die hinzugefügt wurden}.",
    "attachments-deleted":
      "{count} {count|Anlage liegt|Anlagen liegen} dem Nachweis nicht bei, wie nach der Löschung; {count|ihr Hashwert steht|ihre Hashwerte stehen} im Protokoll.",
    "attachment-strange": "Niemand hat die Datei {file} hinzugefügt.",
    "attachment-missing": "Die Anlage {file} fehlt.",
    "attachments-unnamed":
      "{count} {count|Anlage ist eine hinzugefügte|Anlagen sind hinzugefügte}; das Protokoll sagt nicht, ob noch andere eingereicht wurden.",
    "keys-fit":
      "keys.json enthält {count} Schlüssel, {count|mit seinem eigenen Fingerabdruck, und er ist der|jeden mit seinem eigenen Fingerabdruck, darunter den} des Ankers.",
    "keys-contradicted":
      "keys.json gibt dem Schlüssel {kid} eine andere Gültigkeit als die, welche von anderswo bekannt ist.",
    "keys-twice": "keys.json enthält einen Schlüssel doppelt.",
    "files-known": "{count} {count|Datei, die zu einem Nachweis gehört|Dateien, die alle zu einem Nachweis gehören}.",
    "unproven-explains": "{file} erklärt nur: Was darin steht, beweist nichts.",
    "unproven-missing":
      "{file} fehlt. Nichts hier hängt davon ab, und nichts sagt, ob die Datei zu diesem Nachweis gehörte.",
    "unproven-consistency":
      "{file}: Nichts beweist „{part}“. Es führt vom vorigen Anker hierher, der nicht zum Nachweis gehört; nichts hier hängt davon ab.",
    "unproven-token":
      "{file}: Nichts beweist „{part}“. Die Signatur des Ankers deckt ihn nicht ab, und seine Stelle gehört nicht zu denen, denen von anderswo vertraut wird.",
    "unproven-token-certificates":
      "{file}: Nicht jedes Byte von „{part}“ ist bewiesen. Der Zeitstempel stimmt; nichts beweist, welche Zertifikate ihm beilagen.",
    "unproven-token-missing":
      "{file}: „{part}“ ist leer. Die Signatur des Ankers deckt diese Angabe nicht ab, und nichts sagt, ob dieser Anker einen Zeitstempel hatte.",
    "unproven-validity":
      "{file}: Die Gültigkeit des Ankerschlüssels {part} ist durch keine Schlüssel bestätigt, die von anderswo bekannt sind.",
    "unproven-key":
      "{file}: Nichts beweist den Schlüssel {part}. Er hat diesen Anker nicht unterschrieben, und nichts hier hängt davon ab.",
    "unproven-key-missing":
      "In {file} fehlt der Schlüssel {part}, der von anderswo bekannt ist. Nichts hier hängt davon ab.",
    "unproven-authority":
      "{file}: Nichts beweist die Stelle {part}. Sie gehört nicht zu denen, welchen von anderswo für den Zweck dieser Liste vertraut wird.",
    "unproven-authority-missing":
      "In {file} fehlt die Stelle {part}, die von anderswo bekannt ist; sie kam vielleicht später hinzu.",
    "unproven-order":
      "{file}: Nichts beweist die Reihenfolge, in der der Inhalt steht, und nichts hier hängt davon ab.",
    "file-strange": "{file} ist keine Datei eines Nachweises: Niemand bürgt dafür.",
    "file-missing": "{file} fehlt.",
    "file-not-canonical": "{file} steht nicht in der festgelegten Form (RFC 8785).",
    "file-wrong": "{file} enthält nicht, was es enthalten muss.",
    unreadable: "Der Nachweis lässt sich nicht lesen: {reason}.",
    "archive-unreadable": "Das Archiv lässt sich nicht lesen: {reason}.",
    "pdf-sealed": "Das Siegel und was mit ihm hinzukam decken alle {size} Byte der Datei ab.",
    "pdf-wrong": "{problems}",
    "seal-holds": "„{field}“: Prüfsumme und Signatur stimmen, Stufe {level}.",
    "seal-wrong": "„{field}“: {problems}",
    "chain-holds":
      "„{field}“ entstand mit einem Zertifikat von {subject}, ausgestellt von {issuer}; es führt zu einer vertrauten Stelle.",
    "chain-wrong": "„{field}“: {problems}",
    "timestamp-holds": "{authority} hat am {at} gestempelt.",
    "timestamp-absent": "„{field}“ trägt keinen Zeitstempel: Nur der Unterzeichner nennt die Zeit.",
    "timestamp-wrong": "„{field}“: {problems}",
    "validation-lasting":
      "Die Datei enthält Zertifikate und Sperrlisten, und ein Zeitstempel deckt sie ab: Stufe {level}, geschützt bis {until}.",
    "validation-stored":
      "Die Datei enthält Zertifikate und Sperrlisten, die noch kein Zeitstempel abdeckt: Stufe {level}.",
    "validation-none":
      "Die Datei enthält keine Prüfdaten: Stufe {level}. Sie lässt sich prüfen, solange die Zertifikate gültig sind.",
    "revisions-none": "Nach „{field}“ kam nichts hinzu.",
    "revisions-allowed": "Nach „{field}“ kam nur Erlaubtes hinzu: {changes}.",
    "revisions-wrong": "Nach „{field}“: {problems}",
    "foreign-signature":
      "„{field}“ hat jemand anderes vor dem Siegel unterschrieben: Es gehört zu dem, was versiegelt wurde, und wird hier nicht beurteilt.",
    "certificate-sealed": "Das Abschlusszertifikat ist versiegelt und unverändert.",
    "certificate-wrong": "Das Abschlusszertifikat: {problems}",
    "certificate-fits": "Es ist das, welches der Siegeleintrag des Protokolls nennt.",
    "certificate-other": "Es ist ein anderes als das, welches der Siegeleintrag des Protokolls nennt.",
    "certificate-unnamed":
      "Der Siegeleintrag des Protokolls nennt kein Zertifikat, wie die der ersten Versionen: Nur sein eigenes Siegel spricht dafür.",
    "entry-fits":
      "Das Blatt nennt diesen Eintrag: Die Datei ist das Abschlusszertifikat des Umschlags {envelope}, und im Eintrag steht der SHA-256-Wert des Dokuments, das es bescheinigt.",
    "entry-differs": "Das Blatt nennt einen anderen Eintrag des Protokolls.",
    "certificate-deleted": "Das Abschlusszertifikat liegt dem Nachweis nicht bei, wie nach der Löschung.",
    "certificate-appended":
      "Das Abschlusszertifikat: Sein Siegel stimmt; angehängt wurden Prüfdaten, die kein Zeitstempel abdeckt.",
  },
  problems: {
    "not-a-pdf": "Die Datei ist kein PDF.",
    damaged: "Das PDF ist beschädigt.",
    encrypted: "Das PDF ist verschlüsselt.",
    "too-complex": "Das PDF ist zu umfangreich, um geprüft zu werden.",
    "no-seal": "Das PDF trägt kein Siegel der vertrauten Stellen.",
    "bytes-after-seal": "Es wurden Bytes angehängt, die kein Siegel abdeckt.",
    "signer-certificate-missing": "Das Zertifikat des Unterzeichners fehlt.",
    "content-type-wrong": "Die Signatur gilt einer anderen Art von Inhalt.",
    "digest-mismatch": "Die abgedeckten Bytes sind nicht die unterschriebenen.",
    "signing-certificate-mismatch": "Die Signatur nennt ein anderes Zertifikat als das beigelegte.",
    "signature-invalid": "Die Signatur passt nicht zu ihrem Zertifikat.",
    "byte-range-wrong": "Der abgedeckte Bereich lässt mehr aus als die Signatur selbst.",
    "padding-changed": "Die Füllung hinter der Signatur wurde verändert.",
    "unknown-format": "Die Signatur hat ein Format, das hier nicht geprüft wird.",
    malformed: "Die Signatur lässt sich nicht lesen.",
    "cms-not-canonical": "Die Signatur wurde neu geschrieben oder enthält mehr, als sie darf.",
    "signing-time-present": "Die Signatur nennt eine zweite, eigene Zeit.",
    "stray-certificate": "Es liegt ein Zertifikat bei, für das hier niemand einsteht.",
    "may-not-seal": "Das Zertifikat darf keine Dokumente unterschreiben.",
    untrusted: "Das Zertifikat führt zu keiner vertrauten Stelle oder war damals nicht gültig.",
    "timestamp-invalid": "Der Zeitstempel stimmt nicht.",
    "timestamp-out-of-order": "Der Zeitstempel nennt eine Zeit vor dem, was er abdeckt.",
    revoked: "Ein Zertifikat der Kette war zu der Zeit gesperrt.",
    "changed-after": "Das Dokument wurde nach dem Versiegeln verändert.",
    "imprint-mismatch": "Der Zeitstempel gilt etwas anderem.",
    "nonce-mismatch": "Der Zeitstempel antwortet auf eine andere Anfrage.",
    "not-a-timestamping-certificate": "Der Zeitstempel entstand mit einem Zertifikat, das dies nicht darf.",
  },
  changes: {
    "validation-data": "Zertifikate und Sperrlisten",
    "document-timestamp": "Zeitstempel",
    seal: "weitere Siegel",
    other: "andere Änderungen",
  },
  archive: {
    damaged: "es ist beschädigt",
    ambiguous:
      "Programme lesen es verschieden: Packen Sie die Dateien neu, oder bitten Sie noch einmal um den Nachweis",
    "not-an-archive": "es ist kein ZIP-Archiv",
    "too-large": "es ist zu groß",
    encrypted: "es ist verschlüsselt",
    twice: "es enthält eine Datei doppelt",
    compression: "es ist auf eine Weise gepackt, die hier nicht gelesen wird",
  },
  labels: {
    "sha256-file": "SHA-256 der Datei",
    documentSha256: "documentSha256 des Blattes",
    leaf: "Blatt (RFC 8785)",
    leafHash: "SHA-256(0x00 ‖ Blatt)",
    rootHash: "rootHash",
    anchor: "Anker (RFC 8785)",
    anchorHash: "SHA-256(Anker)",
    publicKey: "Öffentlicher Ed25519-Schlüssel",
    signature: "Signatur",
    kid: "Schlüsselkennung: Fingerabdruck (RFC 7638)",
    validity: "Gültig",
    now: "heute",
    token: "Zeitstempel (DER, base64)",
    serial: "Seriennummer",
    policy: "Richtlinie",
    time: "Zeit",
    origin: "Herkunft",
    "witness-folder": "In einem Ordner abgelegt",
    "witness-url": "An eine Adresse im Web gesendet",
    "witness-mail": "Per E-Mail gesendet",
    auditHash: "auditHash des Blattes",
    headHash: "Letzter Hashwert des Protokolls",
    certificateNamed: "certificateSha256 des Siegeleintrags",
    entry: "Protokolleintrag ohne seinen Hashwert (RFC 8785)",
    entryHash: "SHA-256(Eintrag)",
    byteRange: "Abgedeckte Bytes (/ByteRange)",
    level: "Stufe",
    subject: "Zertifikat von",
    issuer: "Ausgestellt von",
    certificateSha256: "SHA-256 des Zertifikats",
    authoritySha256: "SHA-256 der Stelle",
    claimedAt: "Zeit, die der Unterzeichner nennt (/M)",
    reason: "Grund",
    authority: "Stelle",
    coveredTo: "Versiegelt bis Byte",
    protectedUntil: "Geschützt bis",
  },
};

export type FindingLanguage = "en" | "de";
export const findingWords: Readonly<Record<FindingLanguage, Words>> = { en, de };

export type FindingCode = keyof Words["findings"];
export type StepName = keyof Words["titles"];
export type Problem = keyof Words["problems"];
export type LaterChange = keyof Words["changes"];
export type ArchiveFault = keyof Words["archive"];

/** `problems`, `changes` and `reason` hold codes, `at` and `until` times (ISO 8601). */
export type FindingValues = {
  problems?: readonly Problem[];
  changes?: readonly LaterChange[];
  fault?: ArchiveFault;
  at?: string | number | null;
  until?: string | null;
  [name: string]: string | number | null | readonly string[] | undefined;
};

/** Says a finding. @param time how times are written; as they are when absent */
export function findingText(
  code: FindingCode,
  values: FindingValues,
  language: FindingLanguage = "en",
  time: (at: string) => string = (at) => at,
): string {
  const { findings, problems, changes, archive } = findingWords[language];
  const numbered = findings[code].replaceAll(
    /\{(\w+)\|([^|}]*)\|([^|}]*)\}/g,
    (_, name: string, one: string, other: string) => (values[name] === 1 ? one : other),
  );
  return numbered.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (name === "problems") return (values.problems ?? []).map((problem) => problems[problem]).join(" ");
    if (name === "changes") return (values.changes ?? []).map((change) => changes[change]).join(", ");
    if (name === "reason" && values.fault) return archive[values.fault];
    const value = values[name];
    if ((name === "at" || name === "until") && typeof value === "string") return time(value);
    return value === null || value === undefined ? "–" : String(value);
  });
}
