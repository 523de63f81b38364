/** Stream filters that few producers use today (ISO 32000-1 §7.4.2 to §7.4.5). */
import { PdfError } from "./objects.ts";
import { hexValue, isSpace } from "./parser.ts";

/** What was wrong with data that was decoded leniently. */
export type Faults = {
  /** Readers may make something else of it: most stop at such a fault, some go on, some show nothing. */
  unclear: boolean;
};
/** Bytes to read and how many may come out of them; above that: PdfError `too-complex`. */
type Decode = (bytes: Uint8Array, limit: number, faults: Faults) => Uint8Array;

/** Pairs of digits up to `>`; what is no digit is passed over, as most readers do. */
export const asciiHex: Decode = (bytes, limit, faults) => {
  const out = new Output(limit);
  let high = -1;
  for (const byte of bytes) {
    if (byte === 0x3e) break;
    const value = hexValue(byte);
    if (value < 0) {
      if (!isSpace(byte)) faults.unclear = true;
      continue;
    }
    if (high >= 0) out.push(high * 16 + value);
    high = high >= 0 ? -1 : value;
  }
  if (high >= 0) out.push(high * 16);
  return out.bytes();
};

/** Groups of five digits to the base 85, `z` for four zeros, up to `~`. */
export const ascii85: Decode = (bytes, limit, faults) => {
  const out = new Output(limit);
  let value = 0;
  let count = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === 0x7e) {
      const next = bytes.subarray(at + 1).find((other) => !isSpace(other));
      if (next !== undefined && next !== 0x3e) faults.unclear = true;
      break;
    }
    if (isSpace(byte)) continue;
    if (byte === 0x7a && count === 0) {
      for (let i = 0; i < 4; i++) out.push(0);
      continue;
    }
    if (byte < 0x21 || byte > 0x75) {
      faults.unclear = true;
      continue;
    }
    value = value * 85 + (byte - 0x21);
    if (++count < 5) continue;
    if (value > 0xffffffff) faults.unclear = true;
    for (let shift = 3; shift >= 0; shift--) out.push(value >>> (8 * shift));
    value = 0;
    count = 0;
  }
  for (let missing = count; missing > 0 && missing < 5; missing++) value = value * 85 + 84;
  for (let index = 0; index < count - 1; index++) out.push(value >>> (24 - 8 * index));
  return out.bytes();
};

/** A length below 128: so many bytes and one more as they are; above: one byte repeated 257 − length times. */
export const runLength = (bytes: Uint8Array, limit: number): Uint8Array => {
  const out = new Output(limit);
  for (let at = 0; at < bytes.length && bytes[at] !== 128; ) {
    const length = bytes[at++] ?? 128;
    if (length < 128) for (let i = 0; i <= length && at < bytes.length; i++) out.push(bytes[at++] ?? 0);
    else {
      const byte = bytes[at++];
      if (byte !== undefined) for (let i = length; i < 257; i++) out.push(byte);
    }
  }
  return out.bytes();
};

const [CLEAR, END, LARGEST] = [256, 257, 4096];

/**
 * Codes of 9 to 12 bits; with `early` they grow one code sooner than they must. A bad code ends the data.
 * @returns also where the code stands that ends the data, -1 without one
 */
export function lzw(
  bytes: Uint8Array,
  limit: number,
  early: boolean,
  faults: Faults,
): { bytes: Uint8Array; end: number } {
  const out = new Output(limit);
  // What a code stands for: another code and one byte behind it.
  const prefix = new Uint16Array(LARGEST);
  const suffix = new Uint8Array(LARGEST);
  const word = new Uint8Array(LARGEST);
  let next = 258;
  let width = 9;
  let previous = -1;
  let first = 0;
  for (let bit = 0; bit + width <= bytes.length * 8; ) {
    const at = bit >> 3;
    const window = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const code = (window >> (24 - width - (bit & 7))) & ((1 << width) - 1);
    bit += width;
    if (code === END) return { bytes: out.bytes(), end: (bit + 7) >> 3 };
    if (code === CLEAR) {
      [next, width, previous] = [258, 9, -1];
      continue;
    }
    const known = code < 256 || (code > END && code < next);
    if (!known && (code !== next || previous < 0)) {
      faults.unclear = true;
      break;
    }
    let length = 0;
    let part = known ? code : previous;
    while (part > 255 && length < LARGEST) {
      word[length++] = suffix[part] ?? 0;
      part = prefix[part] ?? 0;
    }
    // A code that is only being made repeats the first byte of the one before it.
    const last = first;
    first = part;
    out.push(part);
    while (length > 0) out.push(word[--length] ?? 0);
    if (!known) out.push(last);
    if (previous >= 0 && next < LARGEST) {
      prefix[next] = previous;
      suffix[next++] = known ? first : last;
    }
    const due = next + (early ? 1 : 0);
    width = due > 2047 ? 12 : due > 1023 ? 11 : due > 511 ? 10 : 9;
    previous = code;
  }
  return { bytes: out.bytes(), end: -1 };
}

/** Bytes one after the other, never more than `limit`. */
class Output {
  readonly #limit: number;
  #bytes = new Uint8Array(4096);
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(byte: number): void {
    if (this.#length === this.#bytes.length) {
      if (this.#length >= this.#limit) throw new PdfError("too-complex", "a compressed stream is too large");
      const grown = new Uint8Array(this.#length * 2);
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes[this.#length++] = byte;
  }

  bytes(): Uint8Array {
    if (this.#length > this.#limit) throw new PdfError("too-complex", "a compressed stream is too large");
    return this.#bytes.subarray(0, this.#length);
  }
}
