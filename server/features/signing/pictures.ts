import { crc32, inflateSync } from "node:zlib";
import type { AttachmentType } from "../templates/contract.ts";

/** Looks into uploaded bytes before anything else trusts them. Pure. */

/** The type that the first bytes show, or undefined. */
export function sniff(bytes: Uint8Array): AttachmentType | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 16)).toString("latin1");
  if (head.startsWith("%PDF-")) return "application/pdf";
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("RIFF") && head.slice(8, 12) === "WEBP") return "image/webp";
  return undefined;
}

export type PictureSize = { width: number; height: number };

const channels: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const depths: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};
/** First column, first row, column step, row step of the interlacing passes (PNG specification, Adam7). */
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/**
 * The size of a PNG that decodes: chunks with right checksums, and exactly the picture data that its header announces.
 * No more than that is ever inflated. Undefined for anything else, so that what was accepted can be drawn later.
 * @param limit pixels
 */
export function pngSize(bytes: Uint8Array, limit: PictureSize): PictureSize | "too-large" | undefined {
  if (sniff(bytes) !== "image/png") return undefined;
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const data: Buffer[] = [];
  let header: Buffer | undefined;
  let palette = false;
  let ended = false;
  for (let at = 8; at < file.length && !ended; ) {
    if (at + 12 > file.length) return undefined;
    const length = file.readUInt32BE(at);
    const end = at + 8 + length;
    if (end + 4 > file.length || crc32(file.subarray(at + 4, end)) !== file.readUInt32BE(end)) return undefined;
    const type = file.toString("latin1", at + 4, at + 8);
    const body = file.subarray(at + 8, end);
    if ((header === undefined) !== (type === "IHDR")) return undefined;
    if (type === "IHDR") header = body;
    else if (type === "PLTE") palette = body.length > 0 && body.length % 3 === 0 && body.length <= 768;
    else if (type === "IDAT") data.push(body);
    else if (type === "IEND") ended = true;
    at = end + 4;
  }
  if (!ended || header?.length !== 13) return undefined;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [bits = 0, color = 0, compression, filter, interlace = 2] = header.subarray(8);
  if (width === 0 || height === 0 || !depths[color]?.includes(bits) || compression !== 0 || filter !== 0)
    return undefined;
  if (interlace > 1 || (color === 3 && !palette)) return undefined;
  if (width > limit.width || height > limit.height) return "too-large";
  const layout = layoutOf(width, height, bits * (channels[color] ?? 1), interlace === 1);
  const expected = layout.reduce((sum, { rows, bytes }) => sum + rows * bytes, 0);
  try {
    // One byte of room tells "more than announced" from "as announced".
    const inflated = inflateSync(Buffer.concat(data), { maxOutputLength: expected + 1 });
    return inflated.length === expected && filtersKnown(inflated, layout) ? { width, height } : undefined;
  } catch {
    return undefined;
  }
}

/** Rows of one pass and their bytes, the filter type in front included. */
type Pass = { rows: number; bytes: number };

function layoutOf(width: number, height: number, bitsPerPixel: number, interlaced: boolean): Pass[] {
  const plain = [[0, 0, 1, 1]] as const;
  return (interlaced ? passes : plain).flatMap(([x, y, dx, dy]) => {
    const columns = Math.ceil((width - x) / dx);
    const rows = Math.ceil((height - y) / dy);
    return columns > 0 && rows > 0 ? [{ rows, bytes: 1 + Math.ceil((columns * bitsPerPixel) / 8) }] : [];
  });
}

/** Each row says how it was filtered: 0 to 4 (PNG specification §9). */
function filtersKnown(data: Uint8Array, layout: readonly Pass[]): boolean {
  let at = 0;
  for (const { rows, bytes } of layout) {
    for (let row = 0; row < rows; row += 1, at += bytes) if ((data[at] ?? 5) > 4) return false;
  }
  return true;
}

/**
 * Width and height from the frame header of a baseline or progressive JPEG of grey, colour or CMYK that goes on to its
 * picture data (ITU-T T.81 §B.2), or undefined. The data itself is not decoded: it goes into documents as it is.
 */
export function jpegSize(bytes: Uint8Array): PictureSize | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (sniff(bytes) !== "image/jpeg") return undefined;
  let frame: PictureSize | undefined;
  for (let at = 2; at + 4 <= file.length; ) {
    if (file[at] !== 0xff) return undefined;
    const marker = file[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const length = file.readUInt16BE(at + 2);
    if (length < 2 || at + 2 + length > file.length) return undefined;
    if (marker === 0xda) return frame;
    // The end before any data, a second frame, or a coding that PDF does not know.
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (marker === 0xd9 || (isFrame && (marker > 0xc2 || frame !== undefined))) return undefined;
    if (isFrame) {
      const [height, width, components] = [file.readUInt16BE(at + 5), file.readUInt16BE(at + 7), file[at + 9] ?? 0];
      if (length < 8 + 3 * components || file[at + 4] !== 8 || width === 0 || height === 0) return undefined;
      if (components !== 1 && components !== 3 && components !== 4) return undefined;
      frame = { width, height };
    }
    at += 2 + length;
  }
  return undefined;
}
