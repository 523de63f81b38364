import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PdfError } from "../../../workers/pdf/objects.ts";
import { type Reading, readPicture } from "../../../workers/pdf/picture.ts";
import { filteredRows, pixelsOf, readPng, unfiltered } from "../../../workers/pdf/png.ts";
import { checkPicture } from "../../../workers/read-picture.ts";
import { chunk, headerChunk, jpegOf, png, pngOf, pngOfChunks } from "../../harness/pictures.ts";

const limit = { width: 2000, height: 1000 };

/** `new`: as strictly as an upload; `stored`: as a picture that an earlier version accepted. */
function verdictOf(picture: Uint8Array, reading: Reading): string {
  try {
    const { width, height } = readPicture(picture, reading);
    return `${width} × ${height}`;
  } catch (error) {
    if (error instanceof PdfError) return error.code;
    throw error;
  }
}
const verdicts = (picture: Uint8Array) => ({
  new: verdictOf(picture, { limit }),
  stored: verdictOf(picture, { accepted: true }),
});

/** The passes of 3 × 3 pixels that hold any (PNG specification, Adam7). */
const adam7 = [
  { rows: 1, columns: 1 },
  { rows: 1, columns: 1 },
  { rows: 1, columns: 2 },
  { rows: 2, columns: 1 },
  { rows: 1, columns: 3 },
];

/** Rows of zeros behind filter type 0, of 3 × 3 pixels. */
function rowsOf(bitsPerPixel: number, interlaced: boolean): Buffer {
  const passes = interlaced ? adam7 : [{ rows: 3, columns: 3 }];
  return Buffer.alloc(
    passes.reduce((sum, { rows, columns }) => sum + rows * (1 + Math.ceil((columns * bitsPerPixel) / 8)), 0),
  );
}

const kinds = [
  ["grey", 0, 1, [1, 2, 4, 8, 16]],
  ["colour", 2, 3, [8, 16]],
  ["palette", 3, 1, [1, 2, 4, 8]],
  ["grey with alpha", 4, 2, [8, 16]],
  ["colour with alpha", 6, 4, [8, 16]],
] as const;
const valid = kinds.flatMap(([name, color, channels, depths]) =>
  depths.flatMap((bits) =>
    [0, 1].map((interlace) => ({
      name: `${name}, ${bits} bits, interlace ${interlace}`,
      color,
      channels,
      bits,
      interlace,
    })),
  ),
);

test.each(valid)("PNG of every kind is sound: $name", ({ color, channels, bits, interlace }) => {
  const data = chunk("IDAT", deflateSync(rowsOf(bits * channels, interlace === 1)));
  const palette = color === 3 ? [chunk("PLTE", Buffer.alloc(3))] : [];
  const header = headerChunk({ width: 3, height: 3, bits, color, interlace });
  const file = (more: readonly Buffer[]) => pngOfChunks([header, ...more, data, end]);
  expect(verdicts(file(palette))).toEqual({ new: "3 × 3", stored: "3 × 3" });
  // A depth that there is for no colour type.
  expect(
    verdictOf(pngOfChunks([headerChunk({ width: 3, height: 3, bits: 3, color }), ...palette, data, end]), {}),
  ).toBe("unsupported");
});

const end = chunk("IEND", Buffer.alloc(0));
const grey = headerChunk({ width: 1, height: 1, color: 0 });
const colours = headerChunk({ width: 1, height: 1, color: 3 });
const palette = chunk("PLTE", Buffer.from([1, 2, 3]));
const dot = deflateSync(Buffer.from([0, 7]));
const data = chunk("IDAT", dot);
const text = chunk("tEXt", Buffer.from("Title\0Dot"));
const sound = { new: "1 × 1", stored: "1 × 1" };
/** Refused where it is new, drawn where it was accepted before. */
const onlyStored = { new: "unsupported", stored: "1 × 1" };
const never = { new: "unsupported", stored: "unsupported" };
const whole = pngOfChunks([grey, data, end]);
const changed = (at: number) => {
  const copy = Buffer.from(whole);
  copy.writeUInt8((copy.at(at) ?? 0) ^ 1, at < 0 ? copy.length + at : at);
  return copy;
};

describe("golden pictures", () => {
  test.each<[string, Buffer, { new: string; stored: string }]>([
    ["one grey pixel", whole, sound],
    ["what may be passed over, before and behind the data", pngOfChunks([grey, text, data, text, end]), sound],
    [
      "data in several chunks",
      pngOfChunks([grey, chunk("IDAT", dot.subarray(0, 3)), chunk("IDAT", dot.subarray(3)), end]),
      sound,
    ],
    ["a transparent grey", pngOfChunks([grey, chunk("tRNS", Buffer.from([0, 7])), data, end]), sound],
    [
      "a transparent colour of a palette",
      pngOfChunks([colours, palette, chunk("tRNS", Buffer.from([0])), data, end]),
      sound,
    ],
    ["a palette that a grey picture does not need", pngOfChunks([grey, palette, data, end]), sound],
    [
      "what a program that shortened it left behind the end",
      Buffer.concat([whole, Buffer.from("rest of a larger picture")]),
      sound,
    ],

    [
      "data interrupted",
      pngOfChunks([grey, chunk("IDAT", dot.subarray(0, 3)), text, chunk("IDAT", dot.subarray(3)), end]),
      onlyStored,
    ],
    ["something that must be understood", pngOfChunks([grey, chunk("CODE", Buffer.alloc(1)), data, end]), onlyStored],
    ["a type of no letters", pngOfChunks([grey, chunk("a1\0~", Buffer.alloc(1)), data, end]), onlyStored],
    ["more chunks than an encoder makes", pngOfChunks([grey, ...Array(50_001).fill(text), data, end]), onlyStored],
    ["a second header", pngOfChunks([grey, grey, data, end]), onlyStored],
    ["two palettes", pngOfChunks([colours, palette, palette, data, end]), onlyStored],
    ["the palette behind the data", pngOfChunks([colours, data, palette, end]), onlyStored],
    [
      "transparency before its palette",
      pngOfChunks([colours, chunk("tRNS", Buffer.from([0])), palette, data, end]),
      onlyStored,
    ],
    [
      "transparency of more colours than there are",
      pngOfChunks([colours, palette, chunk("tRNS", Buffer.alloc(2)), data, end]),
      onlyStored,
    ],
    ["transparency of another length", pngOfChunks([grey, chunk("tRNS", Buffer.alloc(1)), data, end]), onlyStored],
    [
      "two transparencies",
      pngOfChunks([grey, chunk("tRNS", Buffer.alloc(2)), chunk("tRNS", Buffer.alloc(2)), data, end]),
      onlyStored,
    ],
    [
      "transparency beside alpha",
      pngOfChunks([
        headerChunk({ width: 1, height: 1 }),
        chunk("tRNS", Buffer.alloc(2)),
        chunk("IDAT", deflateSync(Buffer.alloc(5))),
        end,
      ]),
      onlyStored,
    ],
    [
      "bytes behind the compressed data",
      pngOfChunks([grey, chunk("IDAT", Buffer.concat([dot, Buffer.from("hidden")])), end]),
      onlyStored,
    ],
    ["more data than announced", pngOfChunks([grey, chunk("IDAT", deflateSync(Buffer.alloc(3))), end]), onlyStored],
    [
      "a filter that there is not, where a PDF takes the data as it is",
      pngOfChunks([grey, chunk("IDAT", deflateSync(Buffer.from([5, 0]))), end]),
      onlyStored,
    ],
    ["no end", pngOfChunks([grey, data]), onlyStored],
    ["an end with a body", pngOfChunks([grey, data, chunk("IEND", Buffer.alloc(1))]), onlyStored],
    ["a wrong checksum", changed(-13), onlyStored],
    ["a wrong signature", changed(4), onlyStored],

    ["less data than announced", pngOfChunks([grey, chunk("IDAT", deflateSync(Buffer.alloc(1))), end]), never],
    ["compressed data without its end", pngOfChunks([grey, chunk("IDAT", dot.subarray(0, -1)), end]), never],
    ["no data", pngOfChunks([grey, end]), never],
    ["a palette picture without a palette", pngOfChunks([colours, data, end]), never],
    ["a palette of two thirds of a colour", pngOfChunks([colours, chunk("PLTE", Buffer.alloc(2)), data, end]), never],
    [
      "a filter that there is not, where pixels are needed",
      pngOf({ width: 1, height: 1, data: deflateSync(Buffer.from([5, 0, 0, 0, 0])) }),
      never,
    ],
    ["no height", pngOf({ width: 1, height: 0, data: dot }), never],
    ["an interlacing that there is not", pngOf({ width: 1, height: 1, color: 0, interlace: 2, data: dot }), never],
    ["text before the header", pngOfChunks([text, grey, data, end]), never],
    ["the signature alone", pngOfChunks([]), never],
    ["nothing", Buffer.alloc(0), never],

    ["a baseline JPEG", jpegOf(0xc0, 1, 1), sound],
    ["a progressive JPEG", jpegOf(0xc2, 1, 1), sound],
    ["a JPEG of a coding that PDF does not know", jpegOf(0xc9, 1, 1), onlyStored],
    [
      "a JPEG that ends before its data",
      Buffer.concat([
        jpegOf(0xc0, 1, 1).subarray(0, 21),
        Buffer.from([0xff, 0xd9, 0, 2]),
        jpegOf(0xc0, 1, 1).subarray(21),
      ]),
      onlyStored,
    ],
    [
      "a JPEG of two frames",
      Buffer.concat([jpegOf(0xc0, 1, 1).subarray(0, 21), jpegOf(0xc0, 1, 1).subarray(8)]),
      onlyStored,
    ],
    [
      "a JPEG with a scan before its frame",
      Buffer.concat([
        jpegOf(0xc0, 1, 1).subarray(0, 8),
        Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0]),
        jpegOf(0xc0, 1, 1).subarray(8),
      ]),
      onlyStored,
    ],
    ["a JPEG without width", jpegOf(0xc0, 0, 1), never],
    ["a JPEG without its frame", jpegOf(0xc0, 1, 1).subarray(0, 12), never],
    ["a JPEG without its data", jpegOf(0xc0, 1, 1).subarray(0, 21), never],
  ])("%s", (_name, picture, expected) => {
    expect(verdicts(picture)).toEqual(expected);
  });
});

test("is judged by its header before anything is inflated", () => {
  expect(verdictOf(png(2000, 1000), { limit })).toBe("2000 × 1000");
  expect(verdictOf(png(2001, 1), { limit })).toBe("too-complex");
  expect(verdictOf(png(1, 1001), { limit })).toBe("too-complex");
  expect(verdictOf(jpegOf(0xc0, 2001, 1), { limit })).toBe("too-complex");
  const announced = pngOf({ width: 60_000, height: 60_000, data: deflateSync(Buffer.alloc(10)) });
  expect(verdictOf(announced, { limit })).toBe("too-complex");
  // A stored picture has no other limit than this.
  expect(verdictOf(announced, { accepted: true })).toBe("too-complex");
});

test("that holds more than it announces is refused without being inflated whole", () => {
  const bomb = pngOf({ width: 10, height: 10, data: deflateSync(Buffer.alloc(200 * 1024 * 1024)) });
  const before = process.memoryUsage().rss;
  expect(verdicts(bomb)).toEqual({ new: "unsupported", stored: "unsupported" });
  expect(process.memoryUsage().rss - before).toBeLessThan(160 * 1024 * 1024);
});

test("nothing that was cut or changed passes, and nothing throws", () => {
  const drawn = png(40, 20);
  fc.assert(
    fc.property(fc.nat(drawn.length - 1), fc.integer({ min: 1, max: 255 }), fc.boolean(), (at, mask, cut) => {
      const other = Buffer.from(cut ? drawn.subarray(0, at) : drawn);
      if (!cut) other.writeUInt8((other.at(at) ?? 0) ^ mask, at);
      expect(verdictOf(other, { limit })).toBe("unsupported");
      verdictOf(other, { accepted: true });
    }),
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void verdicts(bytes)));
  const jpeg = Buffer.from([0xff, 0xd8, 0xff]);
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (tail) => void verdicts(Buffer.concat([jpeg, tail]))));
});

test("samples become the colours that they stand for, at every depth", () => {
  const pixels = (
    options: Parameters<typeof headerChunk>[0],
    rows: readonly number[],
    more: readonly Buffer[] = [],
  ) => {
    const file = pngOfChunks([headerChunk(options), ...more, chunk("IDAT", deflateSync(Buffer.from(rows))), end]);
    const read = readPng(file, false);
    return [...pixelsOf(read, unfiltered(read, filteredRows(read, false)))];
  };
  const two = { width: 2, height: 1 };
  expect(pixels({ ...two, bits: 4, color: 0 }, [0, 0x0f], [chunk("tRNS", Buffer.from([0, 15]))])).toEqual([
    0, 0, 0, 255, 255, 255, 255, 0,
  ]);
  expect(pixels({ ...two, bits: 16, color: 0 }, [0, 0x80, 0, 0xff, 0xff])).toEqual([
    128, 128, 128, 255, 255, 255, 255, 255,
  ]);
  expect(
    pixels({ ...two, bits: 8, color: 2 }, [0, 1, 2, 3, 4, 5, 6], [chunk("tRNS", Buffer.from([0, 1, 0, 2, 0, 3]))]),
  ).toEqual([1, 2, 3, 0, 4, 5, 6, 255]);
  expect(
    pixels(
      { ...two, bits: 1, color: 3 },
      [0, 0x40],
      [chunk("PLTE", Buffer.from([1, 2, 3, 4, 5, 6])), chunk("tRNS", Buffer.from([9]))],
    ),
  ).toEqual([1, 2, 3, 9, 4, 5, 6, 255]);
  expect(pixels({ ...two, bits: 8, color: 4 }, [0, 7, 8, 9, 10])).toEqual([7, 7, 7, 8, 9, 9, 9, 10]);
  expect(
    pixels({ ...two, bits: 16, color: 6 }, [0, 255, 255, 0, 0, 128, 0, 255, 255, 0, 0, 255, 255, 0, 0, 0, 0]),
  ).toEqual([255, 0, 128, 255, 0, 255, 0, 0]);
  // Interlaced: each pixel of 2 × 2 comes in a pass of its own, but for the lower two.
  expect(
    pixels({ width: 2, height: 2, bits: 8, color: 4, interlace: 1 }, [0, 1, 255, 0, 2, 255, 0, 3, 255, 4, 255]),
  ).toEqual([1, 1, 1, 255, 2, 2, 2, 255, 3, 3, 3, 255, 4, 4, 4, 255]);
});

test("the task tells what is wrong with a new picture", () => {
  expect(checkPicture({ picture: png(30, 20), limit })).toEqual({ ok: true, value: { width: 30, height: 20 } });
  expect(checkPicture({ picture: png(2001, 1), limit })).toMatchObject({
    ok: false,
    error: { code: "image-too-large" },
  });
  expect(checkPicture({ picture: changed(-13), limit })).toMatchObject({ ok: false, error: { code: "bad-image" } });
  expect(checkPicture({ picture: Buffer.from("GIF89a"), limit })).toMatchObject({
    ok: false,
    error: { code: "bad-image" },
  });
});
