import "../../server/node-version.ts";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { inflateRawSync } from "node:zlib";
import { examinePdf, examineToken } from "../../apps/shared/validation/examine.ts";
import { checkBundle, type Pins } from "../../server/features/evidence/bundle.ts";
import { pemsIn } from "../../server/features/evidence/bundle-read.ts";
import { readZip } from "../../server/features/evidence/zip.ts";
import { AnchorKeys } from "../../server/features/keys/contract.ts";

/**
 * Flips 600 bits in the bundles of `fixtures/evidence/COMMIT` and writes down the verdict on each, to be compared with those
 * of every later version: `node test/harness/make-flip-fixtures.ts COMMIT`, in a checkout of that commit.
 */

const folder = path.join(import.meta.dirname, "../fixtures/evidence", process.argv[2] ?? "");
const read = (name: string) => readFileSync(path.join(folder, name));
const prints = (name: string) =>
  pemsIn(read(name).toString()).map((der) => createHash("sha256").update(der).digest("hex"));
const pins: Pins = {
  kids: AnchorKeys.parse(JSON.parse(read("keys.json").toString())).keys.map(({ kid }) => kid),
  certificates: prints("certificates.pem"),
  timestamps: prints("timestamp-certificates.pem"),
};
const at = "2026-11-23T00:00:00.000Z";
const bundles = readdirSync(folder).filter((name) => name.endsWith(".zip"));
let state = Buffer.from("600 flips");
/** The same numbers in each run. */
function next(below: number): number {
  state = createHash("sha256").update(state).digest();
  return state.readUInt32BE(0) % below;
}
const lines: string[] = [];
for (let count = 0; count < 600; count += 1) {
  const bundle = bundles[count % bundles.length] ?? "";
  const files = new Map(await readZip(read(bundle), async (bytes) => inflateRawSync(bytes)));
  // Every second one in the document, the others in the files that prove it.
  const others = [...files.keys()].filter((name) => !/README|verify\.html/.test(name));
  const name = count % 2 === 0 ? "document.pdf" : (others[next(others.length)] ?? "");
  const changed = Buffer.from(files.get(name) ?? []);
  const place = next(changed.length);
  const bit = next(8);
  changed[place] = (changed[place] ?? 0) ^ (1 << bit);
  files.set(name, changed);
  const { verdict } = await checkBundle(files, pins, { pdf: examinePdf, token: examineToken, at });
  lines.push(JSON.stringify({ bundle, name, place, bit, verdict }));
}
writeFileSync(path.join(folder, "flips.jsonl"), `${lines.join("\n")}\n`);
