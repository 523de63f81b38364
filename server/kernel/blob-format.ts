import { wrappedKeyLength } from "./secrets.ts";

/**
 * File of a blob: magic (4) | wrapped data key | nonce (12) | ciphertext | tag (16). AES-256-GCM under a random key per blob;
 * the SHA-256 of the content is authenticated with both, so a file cannot stand in for another.
 */
export const magic = Buffer.from("SGB1");
export const nonceLength = 12;
export const tagLength = 16;
export const wrapEnd = magic.length + wrappedKeyLength;
export const headLength = wrapEnd + nonceLength;

/** What is asked of a store in another thread: the folders are named by their two letters, in order. */
export type CheckOrder = { prefix: string; after: string };
/** A file as it was found; `problem` is null when its content has its hash. `putAt` is in milliseconds since the epoch. */
export type CheckedBlob = { sha256: string; size: number; putAt: number; problem: string | null };
/** `stray`: files that are no blobs; `unreadable`: what could not be listed. */
export type CheckedPart = {
  prefix: string;
  blobs: CheckedBlob[];
  stray: string[];
  unreadable: { path: string; message: string }[];
  last: boolean;
};
