import { createHash } from "node:crypto";
import { z } from "zod";
import type { PictureSize } from "../../../workers/protocol.ts";
import { canonicalize } from "../../kernel/canonical.ts";
import type { ProblemError } from "../../kernel/problem.ts";
import { maxSignatureBytes, maxSignatureHeight, maxSignatureWidth, type SignatureInput } from "./contract.ts";
import { type PictureVerdict, sniff } from "./pictures.ts";

/** What is kept of a signature: the hash of its picture, whose bytes are a blob, or the typed name and its face. */
export const StoredSignature = z.union([
  z.object({ method: z.enum(["draw", "upload"]), imageSha256: z.string() }),
  z.object({ method: z.enum(["type", "automatic"]), text: z.string(), font: z.string() }),
]);
export type StoredSignature = z.infer<typeof StoredSignature>;

export type ReadSignature = { stored: StoredSignature; image: Uint8Array | null };

/** Reads a picture that was sent; `limit` in pixels. */
export type ReadPicture = (picture: Uint8Array, limit: PictureSize) => Promise<PictureVerdict>;

const sha256 = (data: Uint8Array | string): string => createHash("sha256").update(data).digest("hex");

/**
 * Reads a signature that was sent. A picture must be a PNG that decodes to its end, so that it can be drawn later.
 * @param member `signature` or `initials`, for the pointer
 */
export async function readSignature(
  input: SignatureInput,
  member: "signature" | "initials",
  { methods, readPicture }: { methods: readonly string[]; readPicture: ReadPicture },
): Promise<ReadSignature | ProblemError> {
  if (!methods.includes(input.method)) {
    const detail = `Sign in one of these ways: ${methods.join(", ")}.`;
    return { pointer: `#/${member}/method`, code: "enum", detail };
  }
  if (input.method === "type") {
    return { stored: { method: "type", text: input.text, font: input.font }, image: null };
  }
  const refuse = (code: "format" | "max", detail: string): ProblemError => ({
    pointer: `#/${member}/image`,
    code,
    detail,
  });
  const base64 = input.image.slice(input.image.indexOf(",") + 1);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return refuse("format", "The image is not base64.");
  const image = Buffer.from(base64, "base64");
  if (image.length > maxSignatureBytes) return refuse("max", "The image is larger than 512 KB.");
  const limit = { width: maxSignatureWidth, height: maxSignatureHeight };
  const found = sniff(image) === "image/png" ? await readPicture(image, limit) : "damaged";
  if (found === "too-large") {
    return refuse("max", `The image has more than ${maxSignatureWidth} by ${maxSignatureHeight} pixels.`);
  }
  if (found === "damaged") return refuse("format", "The image is not a PNG, or it is damaged.");
  return { stored: { method: input.method, imageSha256: sha256(image) }, image };
}

/** One hash for what was drawn, uploaded or typed; null when no signature was asked for. */
export function signatureHash(stored: StoredSignature | null): string | null {
  if (stored === null) return null;
  return "imageSha256" in stored
    ? stored.imageSha256
    : sha256(canonicalize({ method: stored.method, text: stored.text, font: stored.font }));
}
