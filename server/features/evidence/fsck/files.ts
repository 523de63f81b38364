import type { CheckedPart } from "../../../kernel/blob-format.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { namesInUse, youngMs } from "../../retention/service.ts";
import { guarded } from "../findings.ts";
import type { Walk } from "./fsck.ts";

const dayMs = 24 * 3_600_000;
/** So much is looked at before it counts. */
const countedFiles = 16;
const countedBytes = 16 * 1024 * 1024;

/** Every file of the store, in the order of their hashes: whole, named by a row, and nothing else among them. */
export async function checkFiles(deps: Deps, walk: Walk, after: string, threads: number | undefined): Promise<void> {
  const { findings } = walk;
  findings.count("blobs", 0);
  const since = deps.clock.now() - youngMs;
  let isNamed: ((sha256: string) => boolean) | null = null;
  // Without the names nothing is called an orphan.
  await guarded(findings, "names of files", async () => {
    isNamed = await namesInUse(deps);
  });
  const isOrphan = (sha256: string, putAt: number) => isNamed !== null && putAt < since && !isNamed(sha256);
  await guarded(findings, "blobs/tmp", async () => {
    for (const path of await deps.blobs.drafts(deps.clock.now() - dayMs))
      findings.found("draft-left", path, "a write was interrupted over a day ago");
  });
  let gathered = 0;
  let bytes = 0;
  let place = after;
  const counted = (done = false) => {
    const read = bytes;
    gathered = 0;
    bytes = 0;
    return walk.reached((state) => {
      state.bytes += read;
      state.files = { done, after: place };
    });
  };
  for await (const part of deps.blobs.walk({ after, threads })) {
    findings.count("blobs", part.blobs.length);
    for (const { sha256, size, putAt, problem } of part.blobs) {
      bytes += size;
      const where = `blob store ${sha256}`;
      if (problem !== null) findings.found("blob-damaged", where, problem);
      if (isOrphan(sha256, putAt)) findings.found("blob-orphan", where, `no row names it (${size} bytes)`);
    }
    for (const path of part.stray) findings.found("file-stray", path, "it is not a file of the store");
    for (const { path, message } of part.unreadable) findings.found("unreadable", path, message);
    place = placeBehind(part) ?? place;
    gathered += part.blobs.length;
    if (gathered < countedFiles && bytes < countedBytes) continue;
    // Hashes are spread evenly, so a place among them is a share of the whole.
    walk.progress(Number.parseInt(place.slice(0, 8), 16) / 16 ** Math.min(8, place.replace("~", "").length));
    await counted();
  }
  walk.progress(1);
  await counted(true);
}

/** Sorts behind every name in a folder that is done, those of strays too. */
function placeBehind({ prefix, last, blobs }: CheckedPart): string | undefined {
  if (prefix === "") return "0";
  return last ? `${prefix}~` : blobs.at(-1)?.sha256;
}
