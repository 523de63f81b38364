/** PNG pictures made here, so that tests know every pixel. */
import { crc32, deflateSync } from "node:zlib";

function chunk(type: string, body: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), body]);
  const out = Buffer.alloc(named.length + 8);
  out.writeUInt32BE(body.length, 0);
  named.copy(out, 4);
  out.writeUInt32BE(crc32(named), named.length + 4);
  return out;
}

/** A PNG file from raw rows without their filter bytes. */
export function png(width: number, height: number, bits: number, colorType: number, rows: Uint8Array): Uint8Array {
  const row = rows.length / height;
  const filtered = Buffer.alloc(rows.length + height);
  for (let y = 0; y < height; y++) filtered.set(rows.subarray(y * row, (y + 1) * row), y * (row + 1) + 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([bits, colorType, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(filtered)),
    chunk("IEND", new Uint8Array()),
  ]);
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
  return png(width, height, 8, 6, rows);
}

/** One opaque colour, 8 bits. */
export function solidPng(width: number, height: number, rgb: [number, number, number]): Uint8Array {
  const rows = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; i++) rows.set(rgb, i * 3);
  return png(width, height, 8, 2, rows);
}
