import { movableClock } from "./clock.ts";
import "../../server/node-version.ts";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { degrees, PDFDocument, StandardFonts } from "pdf-lib";
import { anchorNow } from "../../server/features/evidence/anchors/signing.ts";
import { startAppliance } from "./appliance.ts";
import { sealedEnvelope } from "./bundles.ts";
import { samplePdf, variant } from "./pdfs.ts";
import { items, publishTemplate } from "./scenario.ts";

/**
 * Sends documents of several kinds through a whole appliance and keeps what it hands out, to be verified by every later version:
 * `node test/harness/make-evidence-fixtures.ts COMMIT`, in a checkout of that commit. A folder that exists stays as it is for ever.
 */

const folder = path.join(import.meta.dirname, "../fixtures/evidence", process.argv[2] ?? "");
mkdirSync(folder);

/** Two pages, the second turned and cropped, whose content leaves states open. */
async function awkward(): Promise<Uint8Array> {
  const pdf = await PDFDocument.create();
  const font = await pdf.embedFont(StandardFonts.Helvetica);
  for (const text of ["First", "Second"]) pdf.addPage([595, 842]).drawText(text, { x: 80, y: 700, size: 18, font });
  const [first, second] = pdf.getPages();
  first?.node.addContentStream(pdf.context.register(pdf.context.stream("q 0.5 0 0 0.5 10 10 cm")));
  second?.setRotation(degrees(90));
  second?.setCropBox(20, 20, 555, 802);
  return await pdf.save();
}

/** Its cross-reference table points nowhere: it is written anew when it is uploaded. */
async function damaged(): Promise<Uint8Array> {
  const text = Buffer.from(await samplePdf({ pages: 2 })).toString("latin1");
  return Buffer.from(text.replace(/startxref\s+\d+/, "startxref\n1"), "latin1");
}

const extras = [
  { id: "cover", type: "whiteout", page: 1, x: 40, y: 50, width: 200, height: 30 },
  { id: "note", type: "text", text: "Printed before it was sent", page: 1, x: 60, y: 60, width: 300, height: 20 },
];
const sealedBefore = path.join(import.meta.dirname, "../fixtures/sealed/2026-11-21/p-256-raised-B-LTA.pdf");
const two = { pages: 2 };
const cases: Record<string, { pdf: Uint8Array; items?: readonly object[] }> = {
  table: { pdf: await variant("table", two) },
  linearized: { pdf: await variant("linearized-stream", two) },
  hybrid: { pdf: await variant("hybrid", two) },
  form: { pdf: await samplePdf({ ...two, form: true, objectStreams: true }), items: [...extras, ...items] },
  awkward: { pdf: await awkward() },
  repaired: { pdf: await damaged() },
  "signed-before": { pdf: readFileSync(sealedBefore) },
};

const clock = movableClock();
const app = await startAppliance({ clock });
const bytesOf = async (target: string) => Buffer.from(await (await app.call(target)).arrayBuffer());
for (const [name, options] of Object.entries(cases)) {
  const envelope = await sealedEnvelope(app, clock, await publishTemplate(app, options));
  await anchorNow(app.deps);
  const certificate = await bytesOf(`/v1/envelopes/${envelope}/document?version=certificate`);
  writeFileSync(path.join(folder, `${name}-certificate.pdf`), certificate);
  writeFileSync(path.join(folder, `${name}.zip`), await bytesOf(`/v1/envelopes/${envelope}/evidence`));
}
for (const name of ["keys.json", "certificates.pem", "timestamp-certificates.pem"]) {
  writeFileSync(path.join(folder, name), await bytesOf(`/.well-known/svc/${name}`));
}
await app.stop();
console.log(readdirSync(folder).join("\n"));
