/** Undoes stream filters (ISO 32000-1 §7.4), all but those for pictures and encryption. */
import { constants, inflateSync } from "node:zlib";
import { type ObjectSource, type PdfDict, PdfError, type PdfStream } from "./objects.ts";
import { ascii85, asciiHex, type Faults, lzw, runLength } from "./older-filters.ts";
import type { Budget } from "./parser.ts";

export type { Faults } from "./older-filters.ts";

const ABSOLUTE_LIMIT = 64 * 1024 * 1024;
/** What a filter makes of a byte at most (LZW; deflate makes 1032). */
const MAX_RATIO = 4096;
const BAD_CHECKSUM = "a compressed stream has a wrong checksum";

/**
 * The decoded bytes of a stream, never more than `limit` (bytes; those of a stream without filters have no other limit);
 * with `lenient`, of bad data what comes before the fault, and the work on what fails is charged as well.
 * @throws PdfError `unsupported` for another filter, `too-complex` above the limit, `damaged` for bad data.
 */
export function decodeStream(
  source: ObjectSource,
  stream: PdfStream,
  budget: Budget,
  limit?: number,
  lenient: Faults | null = null,
): Uint8Array {
  const filters = source.array(stream.dict.get("Filter")) ?? [stream.dict.get("Filter") ?? null];
  const parms = source.array(stream.dict.get("DecodeParms")) ?? [stream.dict.get("DecodeParms") ?? null];
  if (filters.length > 4) throw new PdfError("too-complex", "too many filters");
  let bytes = stream.raw;
  filters.forEach((filter, index) => {
    const value = source.resolve(filter);
    if (value === null) return;
    const parm = source.dict(parms[index]);
    const allowed = Math.min(limit ?? ABSOLUTE_LIMIT, budget.inflate, ABSOLUTE_LIMIT);
    if (allowed <= 0) throw new PdfError("too-complex", "too much compressed data");
    const early = source.number(parm?.get("EarlyChange")) !== 0;
    try {
      bytes = undone(source.name(value), bytes, allowed, { lenient, early, budget });
    } catch (error) {
      // Who is lenient goes on to the next stream.
      if (lenient) budget.inflate -= Math.min(allowed, MAX_RATIO * bytes.length);
      throw error;
    }
    budget.inflate -= bytes.length;
    if (parm) bytes = unpredict(bytes, source, parm);
  });
  if (limit !== undefined && bytes.length > limit) throw new PdfError("too-complex", "a stream is too large");
  return bytes;
}

type Manner = { lenient: Faults | null; early: boolean; budget: Budget };

function undone(filter: string | null, bytes: Uint8Array, limit: number, manner: Manner): Uint8Array {
  const { lenient, early, budget } = manner;
  const faults = lenient ?? { unclear: false };
  switch (filter) {
    case "FlateDecode":
    case "Fl":
      return lenient ? inflateSoundPart(bytes, limit, budget, lenient) : inflate(bytes, limit);
    case "LZWDecode":
    case "LZW":
      return lzw(bytes, limit, early, faults).bytes;
    case "ASCII85Decode":
    case "A85":
      return ascii85(bytes, limit, faults);
    case "ASCIIHexDecode":
    case "AHx":
      return asciiHex(bytes, limit, faults);
    case "RunLengthDecode":
    case "RL":
      return runLength(bytes, limit);
    default:
      throw new PdfError("unsupported", `filter ${filter ?? "of unknown kind"}`);
  }
}

/** Readers show what they could inflate before the data went wrong; a wrong checksum at the end is nothing to them. */
function inflateSoundPart(bytes: Uint8Array, limit: number, budget: Budget, faults: Faults): Uint8Array {
  try {
    return inflate(bytes, limit);
  } catch (error) {
    if (!(error instanceof PdfError) || error.code !== "damaged") throw error;
    // All that was compressed is there.
    if (error.message !== BAD_CHECKSUM) faults.unclear = true;
  }
  let best: Uint8Array = new Uint8Array();
  let work = 0;
  let tries = 1;
  try {
    for (let low = 0, high = bytes.length - 1; low <= high; ) {
      const middle = (low + high) >> 1;
      work += middle + best.length;
      tries++;
      if (work > ABSOLUTE_LIMIT) throw new PdfError("too-complex", "a compressed stream is too large and corrupt");
      try {
        best = inflate(bytes.subarray(0, middle), limit);
        low = middle + 1;
      } catch (error) {
        if (!(error instanceof PdfError) || error.code !== "damaged") throw error;
        high = middle - 1;
      }
    }
  } finally {
    // Each try came about as far as the best.
    budget.inflate -= tries * best.length;
  }
  return best;
}

function inflate(bytes: Uint8Array, allowed: number): Uint8Array {
  try {
    // A stream cut short still yields what it holds, as in other readers.
    return inflateSync(bytes, { maxOutputLength: allowed, finishFlush: constants.Z_SYNC_FLUSH });
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : "";
    if (code === "ERR_BUFFER_TOO_LARGE") throw new PdfError("too-complex", "a compressed stream is too large");
    const wrongSum = cause instanceof Error && cause.message === "incorrect data check";
    throw new PdfError("damaged", wrongSum ? BAD_CHECKSUM : "a compressed stream is corrupt");
  }
}

/** TIFF and PNG predictors (§7.4.4.4, RFC 2083 §6). */
function unpredict(data: Uint8Array, source: ObjectSource, parm: PdfDict): Uint8Array {
  const number = (key: string, fallback: number): number => source.number(parm.get(key)) ?? fallback;
  const predictor = number("Predictor", 1);
  if (predictor === 1) return data;
  const colors = number("Colors", 1);
  const bits = number("BitsPerComponent", 8);
  const columns = number("Columns", 1);
  const rowBits = colors * bits * columns;
  if (![colors, bits, columns].every((n) => Number.isInteger(n) && n > 0) || rowBits > 8 * ABSOLUTE_LIMIT) {
    throw new PdfError("damaged", "bad predictor parameters");
  }
  const row = Math.ceil(rowBits / 8);
  const pixel = Math.max(1, (colors * bits) >> 3);
  if (predictor === 2) return tiff(data, row, pixel, bits);
  if (predictor < 10) throw new PdfError("unsupported", `predictor ${predictor}`);
  return png(data, row, pixel);
}

function tiff(data: Uint8Array, row: number, pixel: number, bits: number): Uint8Array {
  if (bits !== 8) throw new PdfError("unsupported", "TIFF predictor on other than 8 bits");
  const out = Uint8Array.from(data);
  for (let start = 0; start < out.length; start += row) {
    const stop = Math.min(start + row, out.length);
    for (let i = start + pixel; i < stop; i++) out[i] = (out[i] ?? 0) + (out[i - pixel] ?? 0);
  }
  return out;
}

function png(data: Uint8Array, row: number, pixel: number): Uint8Array {
  const rows = Math.ceil(data.length / (row + 1));
  const out = new Uint8Array(Math.max(0, data.length - rows));
  let to = 0;
  for (let from = 0; from < data.length; ) {
    const type = data[from++] ?? 0;
    const stop = Math.min(row, data.length - from);
    const line = to;
    for (let i = 0; i < stop; i++) {
      const left = i >= pixel ? (out[line + i - pixel] ?? 0) : 0;
      const up = line >= row ? (out[line - row + i] ?? 0) : 0;
      const corner = i >= pixel && line >= row ? (out[line - row + i - pixel] ?? 0) : 0;
      out[to++] = (data[from++] ?? 0) + pngDelta(type, left, up, corner);
    }
  }
  return out;
}

function pngDelta(type: number, left: number, up: number, corner: number): number {
  switch (type) {
    case 0:
      return 0;
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) >> 1;
    case 4: {
      const estimate = left + up - corner;
      const [a, b, c] = [Math.abs(estimate - left), Math.abs(estimate - up), Math.abs(estimate - corner)];
      return a <= b && a <= c ? left : b <= c ? up : corner;
    }
    default:
      throw new PdfError("damaged", `PNG filter type ${type}`);
  }
}
