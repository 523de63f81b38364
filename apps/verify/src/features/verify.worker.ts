import "../../../shared/validation/platform.ts";
import { sha256 } from "@noble/hashes/sha2.js";
import { toHex } from "../../../../server/features/evidence/anchors/anchor.ts";
import type { Anchor } from "../../../../server/features/evidence/contract.ts";
import { type Authorities, tokenStep } from "../../../../server/features/evidence/seal-steps.ts";
import type { Step } from "../../../../server/features/evidence/verify.ts";
import type { SealReport } from "../../../../workers/seal/verify.ts";
import { beginDigests, type Digests, examineHashed, examineToken } from "../../../shared/validation/examine.ts";

/** Everything that takes time, off the page's own thread. The file never leaves the browser. */

export type ToWorker =
  | { kind: "hash"; file: File }
  | { kind: "examine"; trusted: Authorities; at: string }
  | { kind: "token"; anchor: Anchor; trusted: readonly Uint8Array[] };
export type FromWorker =
  | { kind: "progress"; share: number }
  | { kind: "hashed"; sha256: string }
  /** Null when the file is too large to be held as a whole. */
  | { kind: "examined"; seals: SealReport | null }
  | { kind: "token"; step: Step }
  | { kind: "failed"; message: string };

/** Files up to this size are read as a whole and hashed by the browser's own code; larger ones piece by piece. */
const wholeUpTo = 64 * 1024 * 1024;
/** No sealed document is larger: uploads end at 25 MB, and attachments are files of their own. */
const examinedUpTo = 200 * 1024 * 1024;

type Held = { file: File; read: { bytes: Uint8Array; digests: Digests } | null };

/** Known once the file is read, or hashed piece by piece. */
const held = Promise.withResolvers<Held>();
// Whoever hashes hears of a failure.
held.promise.catch(() => undefined);
const post = (message: FromWorker) => self.postMessage(message);

self.addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  answer(data).catch((error: unknown) => {
    post({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  });
});

async function answer(message: ToWorker): Promise<void> {
  if (message.kind === "hash") post({ kind: "hashed", sha256: await hashed(message.file) });
  else if (message.kind === "token")
    post({ kind: "token", step: await tokenStep(message.anchor, message.trusted, examineToken) });
  else post({ kind: "examined", seals: await examined(message.trusted, message.at) });
}

async function hashed(file: File): Promise<string> {
  try {
    const read = file.size <= wholeUpTo ? await readWhole(file) : null;
    // Its seals are looked at as soon as the authorities are known, while it is looked up.
    if (read) held.resolve({ file, read });
    const digest = await read?.digests.whole;
    const hash = digest ? toHex(digest) : await hashedInPieces(file);
    held.resolve({ file, read });
    return hash;
  } catch (error) {
    held.reject(error);
    throw error;
  }
}

async function hashedInPieces(file: File): Promise<string> {
  const hash = sha256.create();
  const reader = file.stream().getReader();
  let [done, told] = [0, 0];
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    hash.update(part.value);
    done += part.value.length;
    if (done - told < file.size / 100) continue;
    told = done;
    post({ kind: "progress", share: done / file.size });
  }
  return toHex(hash.digest());
}

/** What the signatures cover is hashed while the file is still being looked up. */
async function readWhole(file: File) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const digests = beginDigests(bytes);
  // Heard where they are waited for.
  digests.ranges.catch(() => undefined);
  return { bytes, digests };
}

async function examined(trusted: Authorities, at: string): Promise<SealReport | null> {
  const { file, read } = await held.promise;
  if (file.size > examinedUpTo) return null;
  const { bytes, digests } = read ?? (await readWhole(file));
  return await examineHashed(bytes, digests, trusted, at);
}
