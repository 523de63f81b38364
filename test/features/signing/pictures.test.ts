import { crc32, deflateSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jpegSize, pngSize, sniff } from "../../../server/features/signing/pictures.ts";
import { jpegOf, png, pngOf } from "../../harness/pictures.ts";

const limit = { width: 2000, height: 1000 };

describe("PNG", () => {
  test("a picture that decodes", () => {
    expect(pngSize(png(120, 40), limit)).toEqual({ width: 120, height: 40 });
    expect(pngSize(png(2000, 1000), limit)).toEqual(limit);
  });

  test("is judged by its header before anything is inflated", () => {
    expect(pngSize(png(2001, 1), limit)).toBe("too-large");
    const announced = pngOf({ width: 60_000, height: 60_000, data: deflateSync(Buffer.alloc(10)) });
    expect(pngSize(announced, limit)).toBe("too-large");
  });

  test("that holds more than it announces is refused without being inflated whole", () => {
    const bomb = pngOf({ width: 10, height: 10, data: deflateSync(Buffer.alloc(200 * 1024 * 1024)) });
    const before = process.memoryUsage().rss;
    expect(pngSize(bomb, limit)).toBeUndefined();
    expect(process.memoryUsage().rss - before).toBeLessThan(160 * 1024 * 1024);
  });

  test("with less data, a wrong checksum, a wrong depth or no end is refused", () => {
    expect(pngSize(pngOf({ width: 10, height: 10, data: deflateSync(Buffer.alloc(100)) }), limit)).toBeUndefined();
    const whole = png(10, 10);
    const flipped = Buffer.from(whole);
    flipped.writeUInt8((flipped.at(20) ?? 0) ^ 1, 20);
    expect(pngSize(flipped, limit)).toBeUndefined();
    expect(pngSize(whole.subarray(0, whole.length - 12), limit)).toBeUndefined();
    expect(pngSize(pngOf({ width: 1, height: 1, bits: 3, data: deflateSync(Buffer.alloc(5)) }), limit)).toBeUndefined();
  });

  test("a row with an unknown filter could not be drawn, so it is refused", () => {
    const row = Buffer.from([5, 0, 0, 0, 0]);
    expect(pngSize(pngOf({ width: 1, height: 1, data: deflateSync(row) }), limit)).toBeUndefined();
    row.writeUInt8(4, 0);
    expect(pngSize(pngOf({ width: 1, height: 1, data: deflateSync(row) }), limit)).toEqual({ width: 1, height: 1 });
  });

  test("interlaced pictures count their passes", () => {
    // 3 by 3 pixels of grey: passes of 1, 1, 2, 2 and 3 pixels, and their filter bytes (Adam7).
    const data = deflateSync(Buffer.alloc(1 + 1 + (1 + 1) + (1 + 2) + (1 + 1) * 2 + (1 + 3)));
    const picture = pngOf({ width: 3, height: 3, bits: 8, color: 0, interlace: 1, data });
    expect(pngSize(picture, limit)).toEqual({ width: 3, height: 3 });
  });

  test("nothing that was cut or changed passes, and nothing throws", () => {
    const whole = png(40, 20);
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), fc.boolean(), (at, mask, cut) => {
        const changed = Buffer.from(cut ? whole.subarray(0, at) : whole);
        if (!cut) changed.writeUInt8((changed.at(at) ?? 0) ^ mask, at);
        // A change in a checksummed chunk is found; the length of the end chunk's body is the only byte that may not matter.
        expect(pngSize(changed, limit)).toBeUndefined();
      }),
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void pngSize(bytes, limit)));
  });
});

describe("JPEG and others", () => {
  test("the size of a JPEG", () => {
    expect(jpegSize(jpegOf(0xc0, 640, 300))).toEqual({ width: 640, height: 300 });
    expect(jpegSize(jpegOf(0xc2, 1, 1))).toEqual({ width: 1, height: 1 });
    expect(jpegSize(jpegOf(0xc9, 1, 1))).toBeUndefined();
    expect(jpegSize(jpegOf(0xc0, 0, 1))).toBeUndefined();
    expect(jpegSize(jpegOf(0xc0, 1, 1).subarray(0, 12))).toBeUndefined();
    expect(jpegSize(jpegOf(0xc0, 1, 1).subarray(0, 21))).toBeUndefined();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (tail) => {
        jpegSize(Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), tail]));
      }),
    );
  });

  test("types by their first bytes", () => {
    expect(sniff(Buffer.from("%PDF-1.7"))).toBe("application/pdf");
    expect(sniff(png(1, 1))).toBe("image/png");
    expect(sniff(jpegOf(0xc0, 1, 1))).toBe("image/jpeg");
    expect(sniff(Buffer.from("RIFF\0\0\0\0WEBPVP8 ", "latin1"))).toBe("image/webp");
    expect(sniff(Buffer.from("<html>"))).toBeUndefined();
    expect(sniff(Buffer.alloc(0))).toBeUndefined();
    expect(crc32("IEND")).toBe(0xae426082);
  });
});
