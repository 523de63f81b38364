/** Where the data of inline images ends (ISO 32000-1 §8.9.7): some readers decode it, others look for `EI`. */
import { inflateSync } from "node:zlib";
import { isText, plainLength } from "./content-stream.ts";
import { PdfDict, PdfError, PdfName, type PdfObject } from "./objects.ts";
import { lzw } from "./older-filters.ts";
import { type Budget, isSpace, Parser } from "./parser.ts";

/**
 * The place behind `EI`, and whether it is certain; `lost` when the content breaks off within the data, `cut` when only
 * `EI` is missing. `unclear` when readers may see different ends.
 */
export type ImageEnd = { end: number; certain: boolean } | "lost" | "cut" | "unclear";

/** Steps that may still be spent on ends of the images of one page, below none when they did not suffice; `budget` pays for what is decoded. */
export type Search = { left: number; budget: Budget };

/** Decoded bytes of an image that says nothing of its size, and of any image. */
const MAX_DATA = 4 * 1024 * 1024;
const MAX_PICTURE = 64 * 1024 * 1024;
/** Bytes that are decoded in the time in which one is scanned (measured). */
const INFLATED_PER_STEP = 8;
const UNPACKED_PER_STEP = 2;
/** Decoded bytes of small images. */
const SMALL = 16 * 1024;
/** Components of a pixel in any colour space of an inline image but those with inks of their own. */
const MAX_COMPONENTS = 4;
/** Steps that an image costs at least, and one that must be inflated or the like. */
const STEPS = 100;
const STEPS_TO_DECODE = 1000;
/** Of each pair an image may have one. */
const NAMES = "W Width,H Height,BPC BitsPerComponent,CS ColorSpace,IM ImageMask,F Filter,DP DecodeParms"
  .split(",")
  .map((pair) => pair.split(" "));

/** Of the image whose entries stand from `begin` to `to`, where `ID` is. */
export function imageEnd(bytes: Uint8Array, begin: number, to: number, search: Search): ImageEnd {
  const from = to + 2;
  search.left -= STEPS;
  const dict = entriesBetween(bytes, begin, to);
  if (!dict || (from < bytes.length && !isSpace(bytes[from] ?? 0))) return "unclear";
  const start = from + 1;
  const filter = filterOf(dict);
  const length = filter === null ? rawLength(dict) : filteredLength(bytes, start, filter, dict, search);
  if (length === "unclear" || search.left < 0) return "unclear";
  if (length === null) return searched(bytes, start, search);
  const stop = start + length;
  if (stop > bytes.length) return holdsEnd(bytes, start) ? "unclear" : "lost";
  // Some programs write two bytes to end the line of ID, which shifts the data.
  const crlf = bytes[from] === 13 && bytes[start] === 10 && isSpace(bytes[stop + 1] ?? 0);
  const end = endBehind(bytes, stop, search) ?? (crlf ? endBehind(bytes, stop + 1, search) : null);
  if (search.left < 0) return "unclear";
  if (end === null) return holdsEnd(bytes, start) ? "unclear" : filter === null ? "cut" : "lost";
  const certain = filter === null || firstEnd(bytes, start, end, search, true) < 0;
  return certain ? { end, certain } : "unclear";
}

/** An end that is only looked for counts when no other stands before the next image. */
function searched(bytes: Uint8Array, start: number, search: Search): ImageEnd {
  const found = firstEnd(bytes, start, bytes.length, search, false);
  if (search.left < 0) return "unclear";
  if (found < 0) return holdsEnd(bytes, start) ? "unclear" : "lost";
  const other = firstEnd(bytes, found + 2, bytes.length, search, false);
  if (search.left < 0 || (other >= 0 && !bytes.subarray(found + 2, other).some(beginning))) return "unclear";
  return { end: found + 2, certain: false };
}

/** Some readers take the two letters for the end wherever they stand. */
const holdsEnd = (bytes: Uint8Array, from: number, to = bytes.length): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset + Math.min(from, to), Math.max(0, to - from)).includes("EI", 0, "latin1");
const beginning = (byte: number, at: number, bytes: Uint8Array): boolean =>
  byte === 0x42 && bytes[at + 1] === 0x49 && isSpace(bytes[at - 1] ?? 32) && isSpace(bytes[at + 2] ?? 0);

/** Where the first `EI` stands that is a word of its own, with `text` such a one before text; -1 for none before `to`. */
function firstEnd(bytes: Uint8Array, from: number, to: number, search: Search, text: boolean): number {
  let at = from - 1;
  do at = bytes.indexOf(0x45, at + 1);
  while (
    at >= 0 &&
    at + 2 < to &&
    !(isEnd(bytes, at) && isSpace(bytes[at - 1] ?? 0) && (!text || isText(bytes, at + 2)))
  );
  search.left -= (at < 0 ? bytes.length : at) - from;
  return at + 2 < to ? at : -1;
}

/** Behind the `EI` that stands here, with white space before it. */
function endBehind(bytes: Uint8Array, from: number, search: Search): number | null {
  let at = from;
  while (at < bytes.length && isSpace(bytes[at] ?? 0)) at++;
  search.left -= at - from;
  return isEnd(bytes, at) ? at + 2 : null;
}

const isEnd = (bytes: Uint8Array, at: number): boolean =>
  bytes[at] === 0x45 && bytes[at + 1] === 0x49 && (at + 2 >= bytes.length || isSpace(bytes[at + 2] ?? 0));

/** Null for entries that readers take in different ways. */
function entriesBetween(bytes: Uint8Array, start: number, end: number): PdfDict | null {
  const dict = new PdfDict();
  const parser = new Parser(bytes, start, { objects: 1000, scan: 0, inflate: 0 }, end);
  try {
    for (parser.skip(); parser.peek() !== -1; parser.skip()) {
      const key = parser.object();
      if (!(key instanceof PdfName) || dict.has(key.value)) return null;
      dict.set(key.value, parser.object());
    }
  } catch (error) {
    if (!(error instanceof PdfError)) throw error;
    return null;
  }
  const twice = NAMES.some((pair) => pair.every((key) => dict.has(key)));
  return twice || parser.ambiguous ? null : dict;
}

const entry = (dict: PdfDict, short: string, long: string): PdfObject => dict.get(short) ?? dict.get(long) ?? null;

/** The filter that its bytes are read by first. */
function filterOf(dict: PdfDict): string | null {
  const filter = entry(dict, "F", "Filter");
  const first = Array.isArray(filter) ? (filter[0] ?? null) : filter;
  return first === null ? null : first instanceof PdfName ? first.value : "";
}

type Length = number | null | "unclear";

function rawLength(dict: PdfDict): Length {
  const bits = entry(dict, "BPC", "BitsPerComponent");
  if (typeof bits === "number" && ![1, 2, 4, 8, 16].includes(bits)) return "unclear";
  const length = plainLength(dict);
  return length === null || (Number.isInteger(length) && length >= 0) ? length : "unclear";
}

/** Bytes of data up to where its filter says that it ends; null when that cannot be known. */
function filteredLength(bytes: Uint8Array, start: number, filter: string, dict: PdfDict, search: Search): Length {
  const data = bytes.subarray(start);
  const marked = (mark: string): Length => {
    const end = Buffer.from(data.buffer, data.byteOffset, data.length).indexOf(mark, 0, "latin1");
    search.left -= end < 0 ? data.length : end;
    return end < 0 ? null : end + mark.length;
  };
  switch (filter) {
    case "AHx":
    case "ASCIIHexDecode":
      return marked(">");
    case "A85":
    case "ASCII85Decode":
      return marked("~>");
    case "RL":
    case "RunLengthDecode":
      return runsLength(data, search);
    case "DCT":
    case "DCTDecode":
      return jpegLength(data, search);
    case "Fl":
    case "FlateDecode":
      return asNeeded(data, dict, search, inflated);
    case "LZW":
    case "LZWDecode":
      return asNeeded(data, dict, search, unpacked);
    default:
      return null;
  }
}

type Decoded = { length: number; from: number };

/** Readers may stop as soon as they have what the picture needs: more than that must not hold what ends it for them. */
function asNeeded(
  data: Uint8Array,
  dict: PdfDict,
  search: Search,
  decode: (data: Uint8Array, dict: PdfDict, search: Search) => Decoded | null | "unclear",
): Length {
  search.left -= STEPS_TO_DECODE;
  if (search.left < 0) return "unclear";
  const decoded = decode(data, dict, search);
  if (decoded === null || decoded === "unclear") return decoded;
  const { length, from } = decoded;
  search.left -= from;
  const single = !Array.isArray(entry(dict, "F", "Filter"));
  const exact = single && plainLength(dict.clone().delete("F").delete("Filter")) === length;
  return exact || !holdsEnd(data, 0, from) ? from : "unclear";
}

/** Bytes that the data may come to when it is decoded, with one more a row for predictors. */
function mostOf(dict: PdfDict): number {
  const [width, height] = [entry(dict, "W", "Width"), entry(dict, "H", "Height")];
  const bits = entry(dict, "BPC", "BitsPerComponent") ?? 1;
  if (typeof width !== "number" || typeof height !== "number" || typeof bits !== "number") return MAX_DATA;
  const size = plainLength(dict.clone().delete("F").delete("Filter")) ?? (width * bits * MAX_COMPONENTS * height) / 8;
  return Math.min(Math.max(Math.ceil(size + height) || 0, MAX_DATA), MAX_PICTURE);
}

/** What is decoded takes time from all pages together: a page may well be one large picture, and no file is many of them. */
function pay(search: Search, steps: number): void {
  search.budget.inflate -= Math.ceil(steps);
  if (search.budget.inflate < 0) search.left = -1;
}

function inflated(data: Uint8Array, dict: PdfDict, search: Search): Decoded | null | "unclear" {
  const most = mostOf(dict);
  try {
    const result: unknown = inflateSync(data, { info: true, maxOutputLength: most });
    if (typeof result !== "object" || result === null || !("buffer" in result && "engine" in result)) return null;
    const { buffer, engine } = result;
    if (!(buffer instanceof Uint8Array) || typeof engine !== "object" || engine === null) return null;
    pay(search, buffer.length / INFLATED_PER_STEP);
    return "bytesWritten" in engine ? { length: buffer.length, from: Number(engine.bytesWritten) } : null;
  } catch (error) {
    search.left -= data.length;
    const tooLarge = isTooLarge(error);
    pay(search, (tooLarge ? most : 2 * inflatedAtMost(data, most)) / INFLATED_PER_STEP);
    if (!tooLarge) return null;
    if (most === MAX_PICTURE) search.left = -1;
    return "unclear";
  }
}

const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";

/** What comes out of data before its fault, up to a factor of eight; inflating again for it costs little more than the first time. */
function inflatedAtMost(data: Uint8Array, most: number): number {
  let limit = SMALL;
  for (; limit < most; limit *= 8) {
    try {
      inflateSync(data, { maxOutputLength: limit });
    } catch (error) {
      if (!isTooLarge(error)) break;
    }
  }
  return Math.min(limit, most);
}

function unpacked(data: Uint8Array, dict: PdfDict, search: Search): Decoded | null | "unclear" {
  const parms = entry(dict, "DP", "DecodeParms");
  const first = Array.isArray(parms) ? parms[0] : parms;
  const early = !(first instanceof PdfDict && first.get("EarlyChange") === 0);
  const most = mostOf(dict);
  try {
    const { bytes, end } = lzw(data, most, early, { unclear: false });
    pay(search, bytes.length / UNPACKED_PER_STEP);
    if (end < 0) search.left -= data.length;
    return end < 0 ? null : { length: bytes.length, from: end };
  } catch (error) {
    if (!(error instanceof PdfError)) throw error;
    pay(search, most / UNPACKED_PER_STEP);
    if (most === MAX_PICTURE) search.left = -1;
    return "unclear";
  }
}

/** A length below 128 for so many bytes and one more, above for one byte; 128 ends them. */
function runsLength(data: Uint8Array, search: Search): number | null {
  let at = 0;
  while (at < data.length && data[at] !== 128) at += (data[at] ?? 0) < 128 ? (data[at] ?? 0) + 2 : 2;
  search.left -= at;
  return at < data.length ? at + 1 : null;
}

/** Up to the marker that ends a JPEG picture (ITU-T T.81 §B.1). */
function jpegLength(data: Uint8Array, search: Search): number | null {
  let at = 2;
  let inScan = false;
  while (at + 1 < data.length) {
    const marker = data[at + 1] ?? 0;
    if (data[at] !== 0xff) {
      if (!inScan) break;
      at++;
    } else if (marker === 0xd9) {
      search.left -= at;
      return at + 2;
    } else if (marker === 0xff) at++;
    else if (marker === 0 || marker === 1 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else {
      inScan = marker === 0xda;
      at += 2 + ((data[at + 2] ?? 0) << 8) + (data[at + 3] ?? 0);
    }
  }
  search.left -= Math.min(at, data.length);
  return null;
}
