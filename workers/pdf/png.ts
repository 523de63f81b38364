/** Reads PNG pictures (RFC 2083) of every colour type, depth and interlacing. */
import { crc32, inflateSync } from "node:zlib";
import { PdfError } from "./objects.ts";

export type Png = {
  width: number;
  height: number;
  bits: number;
  /** 0 grey, 2 colour, 3 palette, 4 grey with alpha, 6 colour with alpha */
  colorType: number;
  interlaced: boolean;
  palette: Uint8Array | null;
  transparency: Uint8Array | null;
  /** The compressed data, chunks joined. */
  data: Uint8Array;
  /** Bytes of the data once inflated: a filter type and a row of samples, row after row. */
  filteredLength: number;
};

const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const DEPTHS: Record<number, readonly number[]> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};
/** Adam7 (§2.6): first column, first row, column step, row step. */
const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

type Pass = { x: number; y: number; dx: number; dy: number; width: number; height: number };

function damaged(): never {
  throw new PdfError("unsupported", "the PNG picture is damaged");
}

const SIGNATURE = "\x89PNG\r\n\x1a\n";
const HEADER_LENGTH = 13;
/** Of a chunk, besides its body: length, type and checksum. */
const AROUND = 12;

/** Encoders write chunks of 8 kB and more: a picture of 10 MB has some 1,300. */
const MOST_CHUNKS = 50_000;

type Chunk = { type: string; body: Buffer };

/**
 * Chunks and header. A new picture must have its chunks whole, with right checksums and in their order (§3.2, §4.3), all that
 * must be understood understood, and an end; what stands behind the end is left over by programs that shorten pictures.
 * @param accepted the picture was accepted by an earlier version, which looked at the header and for the data alone
 * @throws PdfError `unsupported` when damaged
 */
export function readPng(bytes: Uint8Array, accepted: boolean): Png {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const chunks = accepted ? looseChunks(file) : soundChunks(file);
  const header = chunks[0]?.body ?? damaged();
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [bits = 0, colorType = 0, compression, filter, interlace = 0] = header.subarray(8);
  if (width === 0 || height === 0 || !DEPTHS[colorType]?.includes(bits)) damaged();
  if (compression !== 0 || filter !== 0 || interlace > 1) damaged();
  if (!accepted) requireOrder(chunks, colorType);
  const bodies = (type: string): Buffer[] => chunks.filter((chunk) => chunk.type === type).map(({ body }) => body);
  const palette = bodies("PLTE").at(-1);
  if (colorType === 3 && !(palette && isPalette(palette))) damaged();
  const data = bodies("IDAT");
  const png: Png = {
    width,
    height,
    bits,
    colorType,
    interlaced: interlace === 1,
    palette: colorType === 3 ? (palette ?? null) : null,
    transparency: bodies("tRNS").at(-1) ?? null,
    data: data.length === 1 && data[0] ? data[0] : Buffer.concat(data),
    filteredLength: 0,
  };
  png.filteredLength = passes(png).reduce((sum, pass) => sum + pass.height * (1 + rowBytes(png, pass.width)), 0);
  return png;
}

const isPalette = ({ length }: Buffer): boolean => length > 0 && length % 3 === 0 && length <= 768;

/** All chunks up to the end. */
function soundChunks(file: Buffer): Chunk[] {
  if (file.toString("latin1", 0, SIGNATURE.length) !== SIGNATURE) damaged();
  const chunks: Chunk[] = [];
  for (let at = SIGNATURE.length; at + AROUND <= file.length; ) {
    const end = at + 8 + file.readUInt32BE(at);
    if (end + 4 > file.length || crc32(file.subarray(at + 4, end)) !== file.readUInt32BE(end)) damaged();
    const type = file.toString("latin1", at + 4, at + 8);
    const body = file.subarray(at + 8, end);
    if ((chunks.length === 0) !== (type === "IHDR")) damaged();
    if (type === "IEND") return body.length === 0 && chunks[0]?.body.length === HEADER_LENGTH ? chunks : damaged();
    if (chunks.length >= MOST_CHUNKS) damaged();
    chunks.push({ type, body });
    at = end + 4;
  }
  damaged();
}

/** Whatever stands in a row behind something like a header. */
function looseChunks(file: Buffer): Chunk[] {
  if (file.length < 33 || file.toString("latin1", 12, 16) !== "IHDR") damaged();
  const chunks: Chunk[] = [{ type: "IHDR", body: file.subarray(16, 29) }];
  for (let at = 33; at + AROUND <= file.length; ) {
    const length = file.readUInt32BE(at);
    const type = file.toString("latin1", at + 4, at + 8);
    if (type === "IEND" || at + AROUND + length > file.length) break;
    chunks.push({ type, body: file.subarray(at + 8, at + 8 + length) });
    at += AROUND + length;
  }
  return chunks;
}

const UNDERSTOOD = new Set(["IHDR", "PLTE", "IDAT"]);
/** A reader may pass over chunks whose type begins with a small letter (§3.3). */
const isAncillary = (type: string): boolean => /^[a-z][A-Za-z]{3}$/.test(type);

/** One palette, transparency behind it, and then the data, which nothing interrupts (§4.3). */
function requireOrder(chunks: readonly Chunk[], colorType: number): void {
  const types = chunks.map(({ type }) => type);
  const [data, lastData] = [types.indexOf("IDAT"), types.lastIndexOf("IDAT")];
  if (data < 0 || types.slice(data, lastData + 1).some((type) => type !== "IDAT")) damaged();
  if (types.some((type) => !UNDERSTOOD.has(type) && !isAncillary(type))) damaged();
  let palette = 0;
  for (const [index, { type, body }] of chunks.entries()) {
    if (type === "PLTE") {
      if (index > data || palette > 0 || !isPalette(body)) damaged();
      palette = body.length / 3;
    } else if (type === "tRNS") {
      const first = types.indexOf("tRNS") === index;
      if (!first || index > data || !isTransparency(body.length, colorType, palette)) damaged();
    }
  }
}

/** §4.2.1.1 of the extensions: one value for each sample, or one byte for each of the first colours of a palette. */
function isTransparency(length: number, colorType: number, palette: number): boolean {
  if (colorType === 0) return length === 2;
  if (colorType === 2) return length === 6;
  return colorType === 3 && length > 0 && length <= palette;
}

/**
 * The rows, each behind its filter type. No more than the header announces is ever inflated.
 * @param accepted as for `readPng`: there may be more data, and unknown filters where a PDF takes the data as it is
 * @throws PdfError `unsupported` when the data is not what the header announces
 */
export function filteredRows(png: Png, accepted: boolean): Uint8Array {
  const length = png.filteredLength;
  // One byte of room tells "more than announced" from "as announced".
  const most = length + (accepted ? 1024 : 1);
  try {
    // In one piece: the default pieces of 16 kB would all be copied once more.
    const chunkSize = Math.max(most, MIN_PIECE);
    const inflated: unknown = inflateSync(png.data, { maxOutputLength: most, chunkSize, info: true });
    if (isInflated(inflated)) {
      const { buffer: rows, engine } = inflated;
      if (accepted ? rows.length >= length : rows.length === length && engine.bytesWritten === png.data.length) {
        return rows;
      }
    }
  } catch {
    // Said below, the same for every way in which the data can be wrong.
  }
  damaged();
}

/** The smallest that zlib takes. */
const MIN_PIECE = 64;

/** What zlib gives with `info`, which its types leave out; `bytesWritten` counts what was read of the compressed data. */
type Inflated = { buffer: Uint8Array; engine: { bytesWritten: number } };

function isInflated(value: unknown): value is Inflated {
  if (typeof value !== "object" || value === null || !("buffer" in value) || !("engine" in value)) return false;
  const { buffer, engine } = value;
  return buffer instanceof Uint8Array && typeof engine === "object" && engine !== null && "bytesWritten" in engine;
}

/** @throws PdfError `unsupported` when a row is filtered in a way that there is not (§6) */
export function requireKnownFilters(png: Png, rows: Uint8Array): void {
  let at = 0;
  for (const pass of passes(png)) {
    const row = 1 + rowBytes(png, pass.width);
    for (let y = 0; y < pass.height; y++, at += row) if ((rows[at] ?? 5) > 4) damaged();
  }
}

const rowBytes = (png: Png, width: number): number =>
  Math.ceil((width * png.bits * (CHANNELS[png.colorType] ?? 1)) / 8);

function passes(png: Png): Pass[] {
  const { width, height } = png;
  if (!png.interlaced) return [{ x: 0, y: 0, dx: 1, dy: 1, width, height }];
  return ADAM7.map(([x, y, dx, dy]) => {
    return { x, y, dx, dy, width: Math.ceil((width - x) / dx), height: Math.ceil((height - y) / dy) };
  }).filter((pass) => pass.width > 0 && pass.height > 0);
}

/**
 * Undoes the row filters (§6) in place and returns the part of `source` that then holds the samples, the filter bytes
 * gone: what is written never overtakes what is read.
 */
export function unfiltered(png: Png, source: Uint8Array): Uint8Array {
  const step = Math.max(1, ((CHANNELS[png.colorType] ?? 1) * png.bits) >> 3);
  let from = 0;
  let to = 0;
  for (const pass of passes(png)) {
    const row = rowBytes(png, pass.width);
    for (let y = 0; y < pass.height; y++) {
      unfilterRow(source, from, to, row, step, y > 0);
      from += row + 1;
      to += row;
    }
  }
  return source.subarray(0, to);
}

/** One row; its own loop for each filter, because signatures are mostly pixels and this is where the time goes. */
function unfilterRow(out: Uint8Array, from: number, to: number, row: number, step: number, hasUp: boolean): void {
  const filter = out[from] ?? 0;
  const begin = from + 1;
  if (filter === 0 || (filter === 2 && !hasUp)) {
    out.copyWithin(to, begin, begin + row);
  } else if (filter === 1 || (filter === 4 && !hasUp)) {
    for (let i = 0; i < row; i++) out[to + i] = (out[begin + i] ?? 0) + (i < step ? 0 : (out[to + i - step] ?? 0));
  } else if (filter === 2) {
    for (let i = 0; i < row; i++) out[to + i] = (out[begin + i] ?? 0) + (out[to + i - row] ?? 0);
  } else if (filter === 3) {
    for (let i = 0; i < row; i++) {
      const left = i < step ? 0 : (out[to + i - step] ?? 0);
      const up = hasUp ? (out[to + i - row] ?? 0) : 0;
      out[to + i] = (out[begin + i] ?? 0) + ((left + up) >> 1);
    }
  } else if (filter === 4) {
    for (let i = 0; i < row; i++) {
      const left = i < step ? 0 : (out[to + i - step] ?? 0);
      const up = out[to + i - row] ?? 0;
      const corner = i < step ? 0 : (out[to + i - row - step] ?? 0);
      const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
      out[to + i] = (out[begin + i] ?? 0) + (a <= b && a <= c ? left : b <= c ? up : corner);
    }
  } else damaged();
}

/** The picture as 8-bit red, green, blue, alpha. */
export function pixelsOf(png: Png, samples: Uint8Array): Uint8Array {
  if (png.colorType === 6 && png.bits === 8 && !png.interlaced) return samples;
  const out = new Uint8Array(png.width * png.height * 4);
  const channels = CHANNELS[png.colorType] ?? 1;
  const color = colorReader(png);
  let row = 0;
  for (const pass of passes(png)) {
    for (let y = 0; y < pass.height; y++) {
      const line = ((pass.y + y * pass.dy) * png.width + pass.x) * 4;
      for (let x = 0; x < pass.width; x++) color(samples, row, x * channels, out, line + x * pass.dx * 4);
      row += rowBytes(png, pass.width);
    }
  }
  return out;
}

/** A sample at its own depth. */
function sample(samples: Uint8Array, row: number, bits: number, index: number): number {
  if (bits === 8) return samples[row + index] ?? 0;
  if (bits === 16) return ((samples[row + 2 * index] ?? 0) << 8) | (samples[row + 2 * index + 1] ?? 0);
  const bit = index * bits;
  return ((samples[row + (bit >> 3)] ?? 0) >> (8 - bits - (bit & 7))) & ((1 << bits) - 1);
}

/** Writes the colour of the pixel whose samples begin at `index` of a row. Nothing is allocated: pictures are mostly pixels. */
type ColorReader = (samples: Uint8Array, row: number, index: number, out: Uint8Array, to: number) => void;

function colorReader({ bits, colorType, palette, transparency }: Png): ColorReader {
  const most = (1 << bits) - 1;
  const scale = (value: number): number => Math.round((value * 255) / most);
  const key = (index: number): number =>
    transparency ? ((transparency[2 * index] ?? 0) << 8) | (transparency[2 * index + 1] ?? 0) : -1;
  const [clear0, clear1, clear2] = [key(0), key(1), key(2)];
  switch (colorType) {
    case 0:
      return (samples, row, index, out, to) => {
        const grey = sample(samples, row, bits, index);
        const scaled = scale(grey);
        out[to] = scaled;
        out[to + 1] = scaled;
        out[to + 2] = scaled;
        out[to + 3] = grey === clear0 ? 0 : 255;
      };
    case 2:
      return (samples, row, index, out, to) => {
        const red = sample(samples, row, bits, index);
        const green = sample(samples, row, bits, index + 1);
        const blue = sample(samples, row, bits, index + 2);
        out[to] = scale(red);
        out[to + 1] = scale(green);
        out[to + 2] = scale(blue);
        out[to + 3] = red === clear0 && green === clear1 && blue === clear2 ? 0 : 255;
      };
    case 3:
      return (samples, row, index, out, to) => {
        const entry = sample(samples, row, bits, index);
        for (let part = 0; part < 3; part++) out[to + part] = palette?.[3 * entry + part] ?? 0;
        out[to + 3] = transparency?.[entry] ?? 255;
      };
    case 4:
      return (samples, row, index, out, to) => {
        const grey = scale(sample(samples, row, bits, index));
        out[to] = grey;
        out[to + 1] = grey;
        out[to + 2] = grey;
        out[to + 3] = scale(sample(samples, row, bits, index + 1));
      };
    default:
      return (samples, row, index, out, to) => {
        for (let part = 0; part < 4; part++) out[to + part] = scale(sample(samples, row, bits, index + part));
      };
  }
}
