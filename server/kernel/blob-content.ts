import { createDecipheriv, createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { headLength, magic, tagLength, wrapEnd } from "./blob-format.ts";
import type { StoredContent } from "./endpoint.ts";
import type { Secrets } from "./secrets.ts";

const pieceLength = 256 * 1024;

/**
 * Checks a file of the store to its end, a piece at a time, and opens it for reading.
 * @param look is given each piece of the content as it is checked
 * @throws Error when it is damaged or cannot be read
 */
export async function openContent(
  secrets: Secrets,
  path: string,
  sha256: string,
  look: (piece: Uint8Array) => void = () => undefined,
): Promise<StoredContent> {
  const hash = createHash("sha256");
  let size = 0;
  /** What came in one piece is not read again. */
  let only: Uint8Array | null = null;
  for await (const piece of decrypted(secrets, path, sha256)) {
    hash.update(piece);
    only = size === 0 ? piece : null;
    size += piece.length;
    look(piece);
  }
  if (hash.digest("hex") !== sha256) throw new Error("it has another hash");
  const source = only === null ? () => decrypted(secrets, path, sha256) : () => [only];
  return {
    size,
    async *pieces(range = { start: 0, end: size - 1 }) {
      let at = 0;
      let last: Uint8Array | null = null;
      for await (const piece of source()) {
        const wanted = piece.subarray(Math.max(0, range.start - at), Math.max(0, range.end + 1 - at));
        at += piece.length;
        if (wanted.length === 0) continue;
        if (last !== null) yield last;
        last = wanted;
      }
      // Given only now that the whole is authenticated: whoever counts the bytes would stop before an error behind them.
      if (last !== null) yield last;
    },
  };
}

/** Authenticated at its end only. */
async function* decrypted(secrets: Secrets, path: string, sha256: string): AsyncGenerator<Uint8Array> {
  const handle = await open(path, "r");
  try {
    const end = (await handle.stat()).size - tagLength;
    const read = async (from: number, length: number) => {
      const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, from);
      if (bytesRead < length) throw new Error("it is cut short");
      return buffer;
    };
    if (end < headLength) throw new Error("it is cut short");
    const head = await read(0, headLength);
    if (!head.subarray(0, magic.length).equals(magic)) throw new Error("it is no blob");
    const address = Buffer.from(sha256, "hex");
    const key = secrets.unwrapKey(head.subarray(magic.length, wrapEnd), address);
    const decipher = createDecipheriv("aes-256-gcm", key, head.subarray(wrapEnd)).setAAD(address);
    decipher.setAuthTag(await read(end, tagLength));
    for (let at = headLength; at < end; at += pieceLength)
      yield decipher.update(await read(at, Math.min(pieceLength, end - at)));
    decipher.final();
  } finally {
    await handle.close();
  }
}
