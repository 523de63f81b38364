/** Looking at an upload, trial seal included, against pdf-lib, which only loads the file and saves it again. */
import { PDFDocument } from "pdf-lib";
import { inspect } from "../../workers/inspect.ts";
import { samplePdf } from "../harness/pdfs.ts";
import { median, timed } from "./median.ts";
import type { BenchResult } from "./seal.ts";

const ROUNDS = 25;
const files = {
  "5 pages": { pages: 5 },
  "300 pages": { pages: 300 },
  "20 MB": { pages: 5, ballast: 20 * 1024 * 1024 },
};

/** `ratio` is pdf-lib's time over ours: medians of interleaved rounds, the first five left out. */
export async function benchUpload(): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const [name, options] of Object.entries(files)) {
    const pdf = await samplePdf(options);
    const times: { ours: number; theirs: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      times.push({
        ours: await timed(async () => {
          const looked = await inspect({ pdf, maxPages: 1000 });
          if (!looked.ok) throw new Error(looked.error.code);
        }),
        theirs: await timed(async () => await (await PDFDocument.load(pdf)).save()),
      });
    }
    const [ours, theirs] = (["ours", "theirs"] as const).map((key) => median(times.slice(5).map((one) => one[key])));
    if (ours === undefined || theirs === undefined) throw new Error("no round was measured");
    results.push({
      name: `looking at an upload of ${name}, pdf-lib's load and save ÷ ours`,
      ratio: theirs / ours,
      target: name === "20 MB" ? "none" : "ours < 20 ms",
      detail: `${ours.toFixed(1)} ms, pdf-lib ${theirs.toFixed(1)} ms`,
    });
  }
  return results;
}
