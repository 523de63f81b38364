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
