import type { BundleVerdict } from "../../../server/features/evidence/bundle/check.ts";

/** The words of the page; those of the checks stand with the checks. */

const en = {
  title: "Check the evidence of a sealed document",
  lead: "Everything is checked on this machine: this page has no way into a network. Choose the ZIP file of the evidence, or all the files that were in it. With the ZIP file you may add the PDF that you hold, to check that one.",
  files: "Evidence",
  filesHint: "or drop the files anywhere on this page",
  trust:
    "Evidence brings its own keys. It is proven only under a key and an authority that you know from elsewhere: from the installation that sealed it, or from somebody whom you trust. Type both, or give the files keys.json and certificates.pem that you got another way.",
  kid: "Thumbprint of the anchor key",
  authority: "SHA-256 fingerprint of the authority",
  keyFiles: "Or the files keys.json and certificates.pem from elsewhere",
  stamps: "Authorities for time stamps alone",
  stampsHint:
    "Needed only when time stamps come from an outside authority, whose timestamp-certificates.pem then lies in the evidence. Whatever you name here is not trusted for seals.",
  stampAuthority: "SHA-256 fingerprint of the time-stamping authority",
  stampFiles: "Or the file timestamp-certificates.pem from elsewhere",
  keyFilesTaken: "Taken from these files: {keys} keys, {certificates} authorities.",
  keyFileWrong: "{file} holds neither keys nor certificates.",
  busy: "Checking …",
  ok: "OK",
  wrong: "Wrong",
  notJudged: "Note",
  values: "Values",
  brought: "What this evidence brings along",
  broughtPinned: "Keys and authorities that you named",
  pinned: "named by you",
  unpinned: "not named by you",
  anchorKey: "Key of the anchor",
  authorities: "Authorities behind seals, SHA-256",
  timestampAuthorities: "Authorities behind time stamps alone, SHA-256",
  language: "Deutsch",
  copy: "Copy the report as JSON",
  copied: "Copied.",
  print: "Print",
  noFiles: "No evidence was among the files.",
  certificateOf:
    "The file that you added is the certificate of completion of envelope {envelope}; the document has the SHA-256 {sha256}.",
  verdicts: {
    valid: { title: "Proven", text: "Everything fits, under the key and the authorities that you named." },
    unpinned: {
      title: "Consistent, not yet proven",
      text: "Everything fits together, but a forger could have made all of it, keys included. Compare the key and the authorities below with what you know from elsewhere, or enter them above.",
    },
    test: {
      title: "TEST: not a real document",
      text: "Everything fits, under the key and the authorities that you named, and it was made in test mode: it binds nobody, and does not prove who signed.",
    },
    incomplete: {
      title: "Document proven, not all that lies beside it",
      text: "The document is proven under the key and the authorities that you named. Below stands what nothing proves: do not rely on that.",
    },
    "no-document": {
      title: "Evidence without the document",
      text: "Everything fits together, and the document itself is not there: it was deleted or left out. Add the copy that you hold to have it checked.",
    },
    invalid: { title: "Wrong", text: "This is not the evidence of the document. What does not fit is marked below." },
  },
};

type Words = { [K in keyof Omit<typeof en, "verdicts">]: string } & {
  verdicts: Record<BundleVerdict, { title: string; text: string }>;
};

const de: Words = {
  title: "Nachweis eines versiegelten Dokuments prüfen",
  lead: "Alles wird auf diesem Gerät geprüft: Diese Seite hat keinen Weg in ein Netz. Wählen Sie die ZIP-Datei des Nachweises oder alle Dateien daraus. Zur ZIP-Datei können Sie das PDF hinzufügen, das Sie haben, um dieses zu prüfen.",
  files: "Nachweis",
  filesHint: "oder legen Sie die Dateien irgendwo auf dieser Seite ab",
  trust:
    "Ein Nachweis bringt seine eigenen Schlüssel mit. Bewiesen ist er nur unter einem Schlüssel und einer Stelle, die Sie von anderswo kennen: von der Installation, die versiegelt hat, oder von jemandem, dem Sie vertrauen. Tippen Sie beide ein, oder geben Sie die Dateien keys.json und certificates.pem an, die Sie auf anderem Weg erhalten haben.",
  kid: "Fingerabdruck des Ankerschlüssels",
  authority: "SHA-256-Fingerabdruck der Stelle",
  keyFiles: "Oder die Dateien keys.json und certificates.pem von anderswo",
  stamps: "Stellen nur für Zeitstempel",
  stampsHint:
    "Nur nötig, wenn Zeitstempel von einer fremden Stelle kommen; dann liegt timestamp-certificates.pem im Nachweis. Was Sie hier nennen, gilt nicht für Siegel.",
  stampAuthority: "SHA-256-Fingerabdruck der Zeitstempelstelle",
  stampFiles: "Oder die Datei timestamp-certificates.pem von anderswo",
  keyFilesTaken: "Aus diesen Dateien übernommen: {keys} Schlüssel, {certificates} Stellen.",
  keyFileWrong: "{file} enthält weder Schlüssel noch Zertifikate.",
  busy: "Wird geprüft …",
  ok: "Stimmt",
  wrong: "Falsch",
  notJudged: "Hinweis",
  values: "Werte",
  brought: "Was dieser Nachweis mitbringt",
  broughtPinned: "Schlüssel und Stellen, die Sie genannt haben",
  pinned: "von Ihnen genannt",
  unpinned: "nicht von Ihnen genannt",
  anchorKey: "Schlüssel des Ankers",
  authorities: "Stellen hinter Siegeln, SHA-256",
  timestampAuthorities: "Stellen nur hinter Zeitstempeln, SHA-256",
  language: "English",
  copy: "Bericht als JSON kopieren",
  copied: "Kopiert.",
  print: "Drucken",
  noFiles: "Unter den Dateien war kein Nachweis.",
  certificateOf:
    "Die Datei, die Sie hinzugefügt haben, ist das Abschlusszertifikat des Umschlags {envelope}; das Dokument hat den SHA-256-Wert {sha256}.",
  verdicts: {
    valid: { title: "Bewiesen", text: "Alles stimmt, unter dem Schlüssel und den Stellen, die Sie genannt haben." },
    unpinned: {
      title: "In sich stimmig, noch nicht bewiesen",
      text: "Alles passt zusammen, aber ein Fälscher könnte alles davon selbst gemacht haben, auch die Schlüssel. Vergleichen Sie Schlüssel und Stellen unten mit dem, was Sie von anderswo wissen, oder geben Sie sie oben ein.",
    },
    test: {
      title: "TEST: kein echtes Dokument",
      text: "Alles stimmt, unter dem Schlüssel und den Stellen, die Sie genannt haben, und es entstand im Testmodus: Es bindet niemanden und beweist nicht, wer unterschrieben hat.",
    },
    incomplete: {
      title: "Das Dokument ist bewiesen, nicht alles daneben",
      text: "Das Dokument ist bewiesen, unter dem Schlüssel und den Stellen, die Sie genannt haben. Unten steht, was nichts beweist: Verlassen Sie sich darauf nicht.",
    },
    "no-document": {
      title: "Nachweis ohne das Dokument",
      text: "Alles passt zusammen, und das Dokument selbst fehlt: Es wurde gelöscht oder weggelassen. Fügen Sie die Kopie hinzu, die Sie haben, um sie prüfen zu lassen.",
    },
    invalid: {
      title: "Falsch",
      text: "Das ist nicht der Nachweis des Dokuments. Was nicht passt, ist unten gekennzeichnet.",
    },
  },
};

export type PageLanguage = "en" | "de";
export const pageWords: Readonly<Record<PageLanguage, Words>> = { en, de };
