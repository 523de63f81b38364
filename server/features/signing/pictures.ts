import type { PictureSize } from "../../../workers/protocol.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { TaskCrashed, TaskTimeout } from "../../kernel/pool.ts";
import type { AttachmentType } from "../templates/contract.ts";

/** Looks at uploaded bytes before anything else trusts them. Here that is the first of them; the rest is read in a thread. */

/** The type that the first bytes show, or undefined. */
export function sniff(bytes: Uint8Array): AttachmentType | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 16)).toString("latin1");
  if (head.startsWith("%PDF-")) return "application/pdf";
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("RIFF") && head.slice(8, 12) === "WEBP") return "image/webp";
  return undefined;
}

/** `sound`: it can be drawn later. */
export type PictureVerdict = "sound" | "damaged" | "too-large";

/**
 * Reads a PNG or JPEG whole, in a thread.
 * @param limit in pixels
 * @param whileWaiting ends the waiting for a thread: of the request, whose caller may have left
 * @throws AppError `service-unavailable` when the thread does not come to an end with it; PoolBusy
 */
export async function checkPicture(
  { pool }: Pick<Deps, "pool">,
  picture: Uint8Array,
  limit: PictureSize,
  whileWaiting?: AbortSignal,
): Promise<PictureVerdict> {
  const options = whileWaiting ? { whileWaiting } : {};
  const read = await pool.run("readPicture", { picture, limit }, options).catch((error: unknown) => {
    if (!(error instanceof TaskTimeout || error instanceof TaskCrashed)) throw error;
    throw new AppError("service-unavailable", { retryAfter: 5, cause: error });
  });
  if (read.ok) return "sound";
  return read.error.code === "image-too-large" ? "too-large" : "damaged";
}
