import { crc32, deflateSync } from "node:zlib";

/** Small pictures made byte by byte. */

/** A chunk with its length and its checksum. */
export function chunk(type: string, body: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), body]);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  const tail = Buffer.alloc(4);
  tail.writeUInt32BE(crc32(named));
  return Buffer.concat([head, named, tail]);
}

/** A PNG with this header and this compressed data, whether or not they fit. */
export function pngOf(options: {
  width: number;
  height: number;
  bits?: number;
  color?: number;
  interlace?: number;
  data: Uint8Array;
}): Buffer {
  return pngOfChunks([headerChunk(options), chunk("IDAT", options.data), chunk("IEND", Buffer.alloc(0))]);
}

/** The signature and these chunks. */
export function pngOfChunks(chunks: readonly Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...chunks]);
}

export function headerChunk(options: {
  width: number;
  height: number;
  bits?: number;
  color?: number;
  interlace?: number;
}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(options.width, 0);
  header.writeUInt32BE(options.height, 4);
  header.set([options.bits ?? 8, options.color ?? 6, 0, 0, options.interlace ?? 0], 8);
  return chunk("IHDR", header);
}

/** A stroke on a clear ground, 8-bit colour with alpha. */
export function png(width: number, height: number): Buffer {
  const row = 1 + width * 4;
  const rows = Buffer.alloc(row * height);
  for (let y = 0; y < height; y += 1) {
    const x = Math.min(width - 1, Math.floor((y * width) / height));
    rows.writeUInt8(255, y * row + 1 + x * 4 + 3);
  }
  return pngOf({ width, height, data: deflateSync(rows) });
}

/** A grey JPEG without its data: `frame` 0xc0 is baseline, 0xc9 codes arithmetically, which PDF cannot show. */
export function jpegOf(frame: number, width: number, height: number): Buffer {
  const header = [0xff, frame, 0, 11, 8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0];
  const scan = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0];
  return Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, ...header, ...scan, 0, 0xff, 0xd9]);
}

/** A PNG of these rows, which have no filter bytes yet. */
export function pngOfRows(width: number, height: number, bits: number, color: number, rows: Uint8Array): Buffer {
  const row = rows.length / height;
  const filtered = Buffer.alloc(rows.length + height);
  for (let y = 0; y < height; y++) filtered.set(rows.subarray(y * row, (y + 1) * row), y * (row + 1) + 1);
  return pngOf({ width, height, bits, color, data: deflateSync(filtered) });
}

/** A wavy line of dark ink on a transparent ground, like a drawn signature. */
export function inkPng(width: number, height: number, seed: number): Uint8Array {
  const rows = new Uint8Array(width * height * 4);
  for (let x = 0; x < width; x++) {
    const middle = height / 2 + Math.sin((x + seed * 40) / 25) * height * 0.3;
    for (let y = 0; y < height; y++) {
      const distance = Math.abs(y - middle);
      const alpha = distance < 3 ? 255 : distance < 4 ? Math.round((4 - distance) * 255) : 0;
      rows.set([16, 36, 77, alpha], (y * width + x) * 4);
    }
  }
  return pngOfRows(width, height, 8, 6, rows);
}

/** One opaque colour, 8 bits. */
export function solidPng(width: number, height: number, rgb: [number, number, number]): Uint8Array {
  const rows = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; i++) rows.set(rgb, i * 3);
  return pngOfRows(width, height, 8, 2, rows);
}
