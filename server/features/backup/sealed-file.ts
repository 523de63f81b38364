import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto";
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { openPlainFile } from "./target-files.ts";

/**
 * A file of a backup, encrypted in chunks, so that a database of any size is never held in memory:
 * magic (4) | for each MiB of content: ciphertext | tag (16). AES-256-GCM under a key of its own per backup and name; the nonce
 * counts the chunks and says which is the last, so that none can be left out, moved or cut off. With calls that wait: for a
 * process of its own.
 */

const magic = Buffer.from("SGX1");
const chunkLength = 1024 * 1024;
const tagLength = 16;

export class SealedFileDamaged extends Error {
  override name = "SealedFileDamaged";
}

/** The key of one file of a backup. */
export function fileKey(backupKey: Uint8Array, id: string, name: string): Buffer {
  return Buffer.from(hkdfSync("sha256", backupKey, "", `signet/backup/file/${id}/${name}`, 32));
}

function nonceOf(chunk: number, last: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(chunk), 3);
  nonce[11] = last ? 1 : 0;
  return nonce;
}

type Told = (bytes: number) => void;

/** Writes the encrypted copy of a file, or of content that shall lie nowhere in clear. @returns its size and SHA-256 */
export function sealFile(
  from: string | Uint8Array,
  to: string,
  key: Uint8Array,
  told: Told,
): { bytes: number; sha256: string } {
  const input = openInput(from);
  const output = openSync(to, "wx", 0o600);
  try {
    const { size } = input;
    const hash = createHash("sha256").update(magic);
    writeAll(output, magic);
    let bytes = magic.length;
    const chunks = Math.max(1, Math.ceil(size / chunkLength));
    const buffer = Buffer.allocUnsafe(Math.min(chunkLength, Math.max(1, size)));
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      const plain = input.read(buffer, Math.min(chunkLength, size - chunk * chunkLength));
      const cipher = createCipheriv("aes-256-gcm", key, nonceOf(chunk, chunk === chunks - 1));
      const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      hash.update(sealed);
      writeAll(output, sealed);
      bytes += sealed.length;
      told(plain.length);
    }
    fsyncSync(output);
    return { bytes, sha256: hash.digest("hex") };
  } finally {
    closeSync(output);
    input.close();
  }
}

/** What is sealed, from its beginning to its end. */
function openInput(from: string | Uint8Array) {
  if (typeof from !== "string") {
    let at = 0;
    const read = (_: Buffer, length: number) => {
      at += length;
      return from.subarray(at - length, at);
    };
    return { size: from.length, read, close: () => undefined };
  }
  const handle = openSync(from, "r");
  return {
    size: fstatSync(handle).size,
    read: (buffer: Buffer, length: number) => readAll(handle, buffer, length),
    close: () => closeSync(handle),
  };
}

/**
 * Reads an encrypted file to its end and checks every chunk before it is given away.
 * @returns the SHA-256 of the encrypted file
 * @throws SealedFileDamaged
 */
export function openSealedFile(from: string, key: Uint8Array, take: (plain: Buffer) => void): string {
  const input = openPlainFile(from);
  try {
    const { size } = fstatSync(input);
    const head = readAll(input, Buffer.alloc(magic.length), magic.length);
    if (!head.equals(magic)) throw new SealedFileDamaged(`${from} is no file of a backup`);
    const hash = createHash("sha256").update(head);
    const sealedLength = chunkLength + tagLength;
    const chunks = Math.max(1, Math.ceil((size - magic.length) / sealedLength));
    const buffer = Buffer.allocUnsafe(sealedLength);
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      const left = size - magic.length - chunk * sealedLength;
      const sealed = readAll(input, buffer, Math.min(sealedLength, left));
      hash.update(sealed);
      take(openChunk(sealed, { key, from, nonce: nonceOf(chunk, chunk === chunks - 1) }));
    }
    return hash.digest("hex");
  } finally {
    closeSync(input);
  }
}

function openChunk(sealed: Buffer, { key, from, nonce }: { key: Uint8Array; from: string; nonce: Buffer }): Buffer {
  const end = sealed.length - tagLength;
  try {
    if (end < 0) throw new Error("it is shorter than a tag");
    const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagLength });
    decipher.setAuthTag(sealed.subarray(end));
    return Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()]);
  } catch (cause) {
    throw new SealedFileDamaged(`${from} was changed or cut off`, { cause });
  }
}

function readAll(handle: number, buffer: Buffer, length: number): Buffer {
  let at = 0;
  while (at < length) {
    const read = readSync(handle, buffer, at, length - at, null);
    if (read === 0) throw new SealedFileDamaged("the file ended early");
    at += read;
  }
  return buffer.subarray(0, Math.max(0, length));
}

/** Writes again what a call left unwritten. */
export function writeAll(handle: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(handle, bytes, at);
}
