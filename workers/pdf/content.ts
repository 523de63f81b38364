/** Content streams (ISO 32000-1 §7.8.2) as far as drawing over them needs: does the page leave its state as it found it? */
import { PdfError, PdfStream } from "./objects.ts";
import { isRegular, isSpace } from "./parser.ts";
import type { PdfFile, PdfPage } from "./reader.ts";

/** What a page's content lacks: `open` saves never restored, `extra` restores of states never saved. */
export type Balance = { open: number; extra: number };

const MAX_CONTENT = 4 * 1024 * 1024;

/**
 * Counts q and Q over all of the page's streams. Content that cannot be decoded here, or is longer than 4 MB, counts as
 * balanced, as it nearly always is.
 */
export function balanceOf(file: PdfFile, page: PdfPage): Balance {
  try {
    const contents = file.resolve(page.dict.get("Contents"));
    const items = contents instanceof PdfStream ? [contents] : Array.isArray(contents) ? contents : [];
    const parts: Uint8Array[] = [];
    let room = MAX_CONTENT;
    for (const item of items) {
      const stream = file.stream(item);
      if (!stream) continue;
      const part = file.decode(stream, room);
      room -= part.length;
      parts.push(part, SEPARATOR);
    }
    return count(parts.length === 2 && parts[0] ? parts[0] : Buffer.concat(parts));
  } catch (error) {
    if (error instanceof PdfError) return { open: 0, extra: 0 };
    throw error;
  }
}

const SEPARATOR = Buffer.from("\n");
const [LOWER_Q, UPPER_Q, UPPER_I, UPPER_D, UPPER_E] = [0x71, 0x51, 0x49, 0x44, 0x45];

function count(bytes: Uint8Array): Balance {
  let depth = 0;
  let extra = 0;
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0;
    if (isSpace(byte)) at++;
    else if (byte === 0x28) at = endOfString(bytes, at);
    else if (byte === 0x25) at = endOfComment(bytes, at);
    else if (!isRegular(byte)) at = byte === 0x2f ? endOfWord(bytes, at + 1) : at + 1;
    else {
      const end = endOfWord(bytes, at);
      if (end === at + 1 && byte === LOWER_Q) depth++;
      else if (end === at + 1 && byte === UPPER_Q) depth > 0 ? depth-- : extra++;
      at = end === at + 2 && byte === UPPER_I && bytes[at + 1] === UPPER_D ? endOfInlineImage(bytes, end) : end;
    }
  }
  return { open: depth, extra };
}

function endOfWord(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && isRegular(bytes[at] ?? 0)) at++;
  return at;
}

function endOfComment(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== 10 && bytes[at] !== 13) at++;
  return at;
}

function endOfString(bytes: Uint8Array, from: number): number {
  let depth = 0;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x5c) at++;
    else if (byte === 0x28) depth++;
    else if (byte === 0x29 && --depth === 0) return at + 1;
  }
  return bytes.length;
}

/** Behind `EI` that stands alone (§8.9.7); the data before it is binary. */
function endOfInlineImage(bytes: Uint8Array, from: number): number {
  for (let at = from + 1; at + 1 < bytes.length; at++) {
    if (bytes[at] !== UPPER_E || bytes[at + 1] !== UPPER_I) continue;
    const after = bytes[at + 2];
    if (isSpace(bytes[at - 1] ?? 0) && (after === undefined || isSpace(after))) return at + 2;
  }
  return bytes.length;
}
