import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { inflateRawSync } from "node:zlib";
import { z } from "zod";
import type { Pins } from "../../server/features/evidence/bundle/check.ts";
import { pemsIn } from "../../server/features/evidence/bundle/read.ts";
import { readZip } from "../../server/features/evidence/bundle/zip.ts";
import { AnchorKeys } from "../../server/features/keys/contract.ts";

/** What whole appliances of earlier versions handed out (`make-evidence-fixtures.ts`, `make-flip-fixtures.ts`). */

const root = path.resolve(import.meta.dirname, "../fixtures/evidence");
export const bundleCommits: readonly string[] = readdirSync(root);
/** Within the authorities' ten years. */
export const bundlesAt = "2026-11-23T00:00:00.000Z";

const Flip = z.object({
  bundle: z.string(),
  name: z.string(),
  place: z.int(),
  bit: z.int(),
  /** What the version of the bundle said of it. */
  verdict: z.string(),
});

/** Spare bits at the end of a base64 text were once passed over. */
const stricterSince: readonly string[] = ["awkward.zip checkpoint.txt 174"];

export function earlierBundles(commit: string) {
  const read = (name: string) => readFileSync(path.join(root, commit, name));
  const prints = (name: string) =>
    pemsIn(read(name).toString()).map((der) => createHash("sha256").update(der).digest("hex"));
  const pins: Pins = {
    kids: AnchorKeys.parse(JSON.parse(read("keys.json").toString())).keys.map(({ kid }) => kid),
    certificates: prints("certificates.pem"),
    timestamps: prints("timestamp-certificates.pem"),
  };
  const files = (name: string) => readZip(read(`${name}.zip`), async (bytes) => inflateRawSync(bytes));
  return {
    read,
    pins,
    /** Without `.zip`. */
    names: readdirSync(path.join(root, commit)).flatMap((name) => /^(.+)\.zip$/.exec(name)?.[1] ?? []),
    files,
    /** Bundles with one bit flipped, and what is to be said of each. @param every one of so many */
    async *flipped(every = 1) {
      const lines = read("flips.jsonl").toString().trim().split("\n");
      for (const line of lines.filter((_, index) => index % every === 0)) {
        const { bundle, name, place, bit, verdict } = Flip.parse(JSON.parse(line));
        const changed = new Map(await files(path.basename(bundle, ".zip")));
        const bytes = Buffer.from(changed.get(name) ?? []);
        bytes[place] = (bytes[place] ?? 0) ^ (1 << bit);
        changed.set(name, bytes);
        const about = `${bundle} ${name} ${place}`;
        yield { about, files: changed, verdict: stricterSince.includes(about) ? "invalid" : verdict };
      }
    },
  };
}
