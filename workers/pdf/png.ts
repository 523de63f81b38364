/** Reads PNG pictures (RFC 2083) of every colour type, depth and interlacing. */
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

const MAX_PIXELS = 40_000_000;
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

/** Chunks and header. @throws PdfError `unsupported` when damaged, `too-complex` above 40 million pixels. */
export function readPng(bytes: Uint8Array): Png {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (file.length < 33 || file.toString("latin1", 12, 16) !== "IHDR") damaged();
  const header = file.subarray(16, 29);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [bits = 0, colorType = 0, compression, filter, interlace = 0] = header.subarray(8);
  if (width === 0 || height === 0 || !DEPTHS[colorType]?.includes(bits)) damaged();
  if (compression !== 0 || filter !== 0 || interlace > 1) damaged();
  if (width * height > MAX_PIXELS) throw new PdfError("too-complex", "the picture has too many pixels");
  const data: Buffer[] = [];
  let palette: Buffer | null = null;
  let transparency: Buffer | null = null;
  for (let at = 33; at + 12 <= file.length; ) {
    const length = file.readUInt32BE(at);
    const type = file.toString("latin1", at + 4, at + 8);
    if (type === "IEND" || at + 12 + length > file.length) break;
    const body = file.subarray(at + 8, at + 8 + length);
    if (type === "IDAT") data.push(body);
    else if (type === "PLTE") palette = body;
    else if (type === "tRNS") transparency = body;
    at += 12 + length;
  }
  if (colorType === 3 && (!palette || palette.length === 0 || palette.length % 3 !== 0 || palette.length > 768))
    damaged();
  const png: Png = {
    width,
    height,
    bits,
    colorType,
    interlaced: interlace === 1,
    palette: colorType === 3 ? palette : null,
    transparency,
    data: data.length === 1 && data[0] ? data[0] : Buffer.concat(data),
    filteredLength: 0,
  };
  png.filteredLength = passes(png).reduce((sum, pass) => sum + pass.height * (1 + rowBytes(png, pass.width)), 0);
  return png;
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
  let row = 0;
  for (const pass of passes(png)) {
    for (let y = 0; y < pass.height; y++) {
      for (let x = 0; x < pass.width; x++) {
        const values = Array.from({ length: channels }, (_, c) => sample(samples, row, png.bits, x * channels + c));
        out.set(colorOf(png, values), ((pass.y + y * pass.dy) * png.width + pass.x + x * pass.dx) * 4);
      }
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

function colorOf(png: Png, values: number[]): [number, number, number, number] {
  const [first = 0, second = 0, third = 0, fourth = 0] = values;
  const scale = (value: number): number => Math.round((value * 255) / ((1 << png.bits) - 1));
  const key = (index: number): number =>
    ((png.transparency?.[2 * index] ?? 0) << 8) | (png.transparency?.[2 * index + 1] ?? 0);
  switch (png.colorType) {
    case 0: {
      const grey = scale(first);
      return [grey, grey, grey, png.transparency && key(0) === first ? 0 : 255];
    }
    case 2: {
      const clear = png.transparency && key(0) === first && key(1) === second && key(2) === third;
      return [scale(first), scale(second), scale(third), clear ? 0 : 255];
    }
    case 3: {
      const [r = 0, g = 0, b = 0] = png.palette?.subarray(3 * first, 3 * first + 3) ?? [];
      return [r, g, b, png.transparency?.[first] ?? 255];
    }
    case 4: {
      const grey = scale(first);
      return [grey, grey, grey, scale(second)];
    }
    default:
      return [scale(first), scale(second), scale(third), scale(fourth)];
  }
}
