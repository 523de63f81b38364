import { writeFile } from "node:fs/promises";
import path from "node:path";
import { NodeCompiler } from "@myriaddreamin/typst-ts-node-compiler";
import { bodyFont, fontFamilies } from "../workers/fonts.ts";
import { fontFolder } from "../workers/typst/coverage.ts";

/** Typesets the sample agreement of the dashboard anew: `node scripts/sample-agreement.ts`. Its text is our own. */

const folder = path.join(import.meta.dirname, "../apps/dashboard/src/sample");

const languages = {
  en: {
    lang: "en",
    kind: "Sample",
    title: "Consulting agreement",
    lead: "This agreement is between the client and the consultant named below. It takes effect on the day on which the last of them signs.",
    client: "Client",
    consultant: "Consultant",
    project: "Project",
    fee: "Fixed fee",
    clauses: [
      [
        "Services.",
        "The consultant carries out the project named above with the care that is usual in the profession, and reports on its progress every two weeks.",
      ],
      [
        "Fee.",
        "The client pays the fixed fee in two equal parts: the first when both have signed, the second when the results have been handed over. Invoices are due within 30 days.",
      ],
      [
        "Results.",
        "When the fee has been paid, the client may use the results without limit of time, place or purpose.",
      ],
      [
        "Confidentiality.",
        "Each side keeps to itself what it learns about the other, during the project and for two years after it.",
      ],
      ["Ending.", "Either side may end this agreement with 14 days' notice. Work done until then is paid."],
    ],
    newsletter: "The client may be named as a reference.",
    signatures: "Signatures",
    signature: "Signature",
    date: "Date",
    note: "A sample to try electronic signatures with. It is no legal advice and binds nobody.",
  },
  de: {
    lang: "de",
    kind: "Muster",
    title: "Beratungsvertrag",
    lead: "Dieser Vertrag wird zwischen den unten genannten Parteien geschlossen. Er gilt von dem Tag an, an dem die letzte von ihnen unterschreibt.",
    client: "Auftraggeber",
    consultant: "Auftragnehmer",
    project: "Vorhaben",
    fee: "Festpreis",
    clauses: [
      [
        "Leistung.",
        "Der Auftragnehmer führt das genannte Vorhaben mit der berufsüblichen Sorgfalt aus und berichtet alle zwei Wochen über den Stand.",
      ],
      [
        "Vergütung.",
        "Der Auftraggeber zahlt den Festpreis in zwei gleichen Teilen: den ersten nach der Unterschrift beider, den zweiten nach Übergabe der Ergebnisse. Rechnungen sind in 30 Tagen fällig.",
      ],
      [
        "Ergebnisse.",
        "Nach der Zahlung darf der Auftraggeber die Ergebnisse zeitlich, örtlich und sachlich unbegrenzt nutzen.",
      ],
      [
        "Vertraulichkeit.",
        "Jede Seite behält für sich, was sie über die andere erfährt, während des Vorhabens und zwei Jahre danach.",
      ],
      ["Ende.", "Jede Seite kann mit einer Frist von 14 Tagen kündigen. Bis dahin Geleistetes wird bezahlt."],
    ],
    newsletter: "Der Auftraggeber darf als Referenz genannt werden.",
    signatures: "Unterschriften",
    signature: "Unterschrift",
    date: "Datum",
    note: "Ein Muster, um elektronische Unterschriften auszuprobieren. Es ist keine Rechtsberatung und bindet niemanden.",
  },
};

const fontPaths = fontFamilies
  .filter(({ family }) => family === bodyFont)
  .flatMap((family) => family.styles.map((style) => fontFolder(family, style)));
const compiler = NodeCompiler.create({ workspace: folder, fontArgs: [{ fontPaths }] });

for (const [language, words] of Object.entries(languages)) {
  const compiled = compiler.compile({
    mainFilePath: path.join(folder, "agreement.typ"),
    inputs: { words: JSON.stringify(words) },
  });
  if (!compiled.result) throw new Error(JSON.stringify(compiled.takeError()?.shortDiagnostics));
  await writeFile(path.join(folder, `agreement-${language}.pdf`), compiler.pdf(compiled.result, {}));
}
