import { createDecipheriv, createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import {
  type CheckedBlob,
  type CheckedPart,
  type CheckOrder,
  headLength,
  magic,
  tagLength,
  wrapEnd,
} from "./blob-format.ts";
import { unwrapDataKey, type WrapKey } from "./secrets.ts";

/**
 * Reads, decrypts and hashes files one after another, with calls that wait: in a thread of its own that costs a fraction of
 * what promises cost for thousands of small files, and the others go on meanwhile.
 */

/** Read, decrypted and hashed at a time: each call costs more than what pieces of a processor's cache would save. */
const pieceLength = 1024 * 1024;
/** So many bytes or files are told at once. */
const partBytes = 16 * 1024 * 1024;
const partFiles = 256;

export type BlobCheck = { folder: string; keys: readonly WrapKey[] };

/** Every file below one two-letter folder, in the order of hashes; told in parts, so that a long one shows how far it is. */
export function checkFolder({ folder, keys }: BlobCheck, order: CheckOrder, tell: (part: CheckedPart) => void): void {
  const { prefix, after } = order;
  const begin = (): CheckedPart => ({ prefix, blobs: [], stray: [], unreadable: [], last: false });
  let part = begin();
  let bytes = 0;
  const names = (path: string): string[] => {
    try {
      return readdirSync(path).sort();
    } catch (error) {
      if (!isMissing(error)) part.unreadable.push({ path, message: messageOf(error) });
      return [];
    }
  };
  for (const second of names(join(folder, prefix))) {
    const path = join(folder, prefix, second);
    const begins = `${prefix}${second}`;
    if (begins < after.slice(0, 4)) continue;
    if (!/^[0-9a-f]{2}$/.test(second)) {
      part.stray.push(path);
      continue;
    }
    for (const name of names(path)) {
      if (begins === after.slice(0, 4) && name <= after) continue;
      if (!/^[0-9a-f]{64}$/.test(name) || !name.startsWith(begins)) {
        part.stray.push(join(path, name));
        continue;
      }
      const checked = checkFile(join(path, name), name, keys);
      // What a server beside us removed since it was listed was named by nothing.
      if (checked === null) continue;
      part.blobs.push(checked);
      bytes += checked.size;
      if (bytes < partBytes && part.blobs.length < partFiles) continue;
      tell(part);
      part = begin();
      bytes = 0;
    }
  }
  tell({ ...part, last: true });
}

// One thread checks one file at a time.
const buffer = Buffer.allocUnsafe(pieceLength);

/** Reads, decrypts and hashes one file. @returns null when it is gone */
export function checkFile(path: string, sha256: string, keys: readonly WrapKey[]): CheckedBlob | null {
  let handle: number;
  try {
    handle = openSync(path, "r");
  } catch (error) {
    if (isMissing(error)) return null;
    return { sha256, size: 0, putAt: 0, problem: messageOf(error) };
  }
  try {
    const { size, mtimeMs } = fstatSync(handle);
    const found = { sha256, size: Math.max(0, size - headLength - tagLength), putAt: mtimeMs };
    try {
      return { ...found, problem: contentHolds(handle, size, { sha256, keys }) ? null : "it is damaged" };
    } catch (error) {
      return { ...found, problem: messageOf(error) };
    }
  } finally {
    closeSync(handle);
  }
}

/** @throws Error when the data key cannot be had or the tag does not fit */
function contentHolds(handle: number, size: number, about: { sha256: string; keys: readonly WrapKey[] }): boolean {
  const end = size - tagLength;
  if (end < headLength) return false;
  const first = readSync(handle, buffer, 0, Math.min(size, pieceLength), 0);
  if (first < headLength || !buffer.subarray(0, magic.length).equals(magic)) return false;
  const address = Buffer.from(about.sha256, "hex");
  const dataKey = unwrapDataKey(about.keys, buffer.subarray(magic.length, wrapEnd), address);
  const decipher = createDecipheriv("aes-256-gcm", dataKey, buffer.subarray(wrapEnd, headLength), {
    authTagLength: tagLength,
  }).setAAD(address);
  const hash = createHash("sha256");
  hash.update(decipher.update(buffer.subarray(headLength, Math.min(first, end))));
  // The smaller ones, most of all blobs, came in that single read, their tag with them.
  for (let at = first; at < end; ) {
    const length = readSync(handle, buffer, 0, Math.min(pieceLength, end - at), at);
    if (length === 0) return false;
    hash.update(decipher.update(buffer.subarray(0, length)));
    at += length;
  }
  const tag = Buffer.allocUnsafe(tagLength);
  if (first === size) buffer.copy(tag, 0, end, size);
  else if (readSync(handle, tag, 0, tagLength, end) !== tagLength) return false;
  decipher.setAuthTag(tag);
  hash.update(decipher.final());
  return hash.digest("hex") === about.sha256;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
