import "../../server/node-version.ts";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { examinePdf, examineToken } from "../../apps/shared/validation/examine.ts";
import { checkBundle } from "../../server/features/evidence/bundle/check.ts";
import { bundlesAt, earlierBundles } from "./earlier-bundles.ts";

/**
 * Flips 600 bits in the bundles of `fixtures/evidence/COMMIT` and writes down the verdict on each, to be compared with those
 * of every later version: `node test/harness/make-flip-fixtures.ts COMMIT`, in a checkout of that commit.
 */

const commit = process.argv[2] ?? "";
const { names, files: filesOf, pins } = earlierBundles(commit);
let state = Buffer.from("600 flips");
/** The same numbers in each run. */
function next(below: number): number {
  state = createHash("sha256").update(state).digest();
  return state.readUInt32BE(0) % below;
}
const lines: string[] = [];
for (let count = 0; count < 600; count += 1) {
  const own = names[count % names.length] ?? "";
  const bundle = `${own}.zip`;
  const files = new Map(await filesOf(own));
  // Every second one in the document, the others in the files that prove it.
  const others = [...files.keys()].filter((name) => !/README|verify\.html/.test(name));
  const name = count % 2 === 0 ? "document.pdf" : (others[next(others.length)] ?? "");
  const changed = Buffer.from(files.get(name) ?? []);
  const place = next(changed.length);
  const bit = next(8);
  changed[place] = (changed[place] ?? 0) ^ (1 << bit);
  files.set(name, changed);
  const { verdict } = await checkBundle(files, pins, { pdf: examinePdf, token: examineToken, at: bundlesAt });
  lines.push(JSON.stringify({ bundle, name, place, bit, verdict }));
}
writeFileSync(path.join(import.meta.dirname, "../fixtures/evidence", commit, "flips.jsonl"), `${lines.join("\n")}\n`);
