/** Proposing the fields of a form against inspecting it, which every upload goes through. */
import { PDFDocument, StandardFonts } from "pdf-lib";
import { inspect } from "../../workers/inspect.ts";
import { propose } from "../../workers/proposals/propose.ts";
import { median, timed } from "./median.ts";
import type { BenchResult } from "./seal.ts";

const PAGES = 40;
const ROUNDS = 15;

/** On each page text, ten form fields, five lines to fill in and a tag. */
async function form(): Promise<Uint8Array> {
  const doc = await PDFDocument.create();
  const font = await doc.embedFont(StandardFonts.Helvetica);
  for (let number = 1; number <= PAGES; number++) {
    const page = doc.addPage([595, 842]);
    for (let line = 0; line < 30; line++)
      page.drawText("The parties agree on what stands in this line of the contract, word by word.", {
        x: 50,
        y: 790 - 12 * line,
        size: 10,
        font,
      });
    for (let field = 0; field < 10; field++)
      doc
        .getForm()
        .createTextField(`page-${number}.field-${field}`)
        .addToPage(page, { x: 50, y: 400 - 24 * field, width: 200, height: 18 });
    for (let blank = 0; blank < 5; blank++)
      page.drawText("Reference: ____________________", { x: 300, y: 400 - 24 * blank, size: 10, font });
    page.drawText(`{{text:Buyer;name=note ${number}}}`, { x: 300, y: 200, size: 10, font });
  }
  return await doc.save();
}

/** `ratio` is the time of proposing over that of inspecting: medians of interleaved rounds, the first five left out. */
export async function benchProposals(): Promise<BenchResult[]> {
  const pdf = await form();
  const times: { proposing: number; inspecting: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    times.push({
      proposing: await timed(async () => {
        const found = propose({ pdf, limit: 1000 });
        if (!found.ok || found.value.data.length !== 16 * PAGES) throw new Error("not every field was proposed");
      }),
      inspecting: await timed(async () => {
        if (!(await inspect({ pdf, maxPages: PAGES })).ok) throw new Error("the form was refused");
      }),
    });
  }
  const counted = times.slice(5);
  const [proposing, inspecting] = (["proposing", "inspecting"] as const).map((key) =>
    median(counted.map((one) => one[key])),
  );
  if (proposing === undefined || inspecting === undefined) throw new Error("no round was measured");
  return [
    {
      name: `proposing the fields of a form of ${PAGES} pages ÷ inspecting it`,
      ratio: proposing / inspecting,
      target: "none",
      detail: `${proposing.toFixed(1)} ms, inspecting ${inspecting.toFixed(1)} ms`,
    },
  ];
}
