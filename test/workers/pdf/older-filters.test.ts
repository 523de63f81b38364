import { expect, test } from "vitest";
import { ascii85, asciiHex, lzw, runLength } from "../../../workers/pdf/older-filters.ts";
import { rawPdf } from "../../harness/pdfs.ts";
import { qpdf } from "../../harness/rendering.ts";
import * as encoded from "../stamp-fixtures.ts";

/** Few letters make long words, all bytes make many. */
function text(length: number, letters: number): string {
  let seed = 7;
  let made = "";
  while (made.length < length) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    made += String.fromCharCode(97 + ((seed >> 8) % letters));
  }
  return made;
}

const texts = [1, 2, 3, 4, 5, 100, 255, 256, 600, 9000].flatMap((length) => [text(length, 2), text(length, 150)]);
const sound = () => ({ unclear: false });
const bytes = (data: string): Uint8Array => Buffer.from(data, "latin1");

test.each([
  ["LZWDecode", encoded.lzw, (data: Uint8Array) => lzw(data, 1e6, true, sound()).bytes],
  ["ASCII85Decode", encoded.ascii85, (data: Uint8Array) => ascii85(data, 1e6, sound())],
  ["ASCIIHexDecode", encoded.hex, (data: Uint8Array) => asciiHex(data, 1e6, sound())],
  ["RunLengthDecode", encoded.runLengths, (data: Uint8Array) => runLength(data, 1e6)],
])("%s gives what qpdf gives", (filter, encode, decode) => {
  for (const plain of texts) {
    expect(Buffer.from(decode(bytes(encode(plain)))).toString("latin1")).toBe(plain);
  }
  const all = texts.join("");
  const data = encode(all);
  const pdf = rawPdf({
    1: "<</Type/Catalog/Pages 2 0 R>>",
    2: "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    3: "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>",
    4: `<</Filter/${filter}/Length ${data.length}>>\nstream\n${data}\nendstream`,
  });
  const plain = Buffer.from(qpdf(pdf, "--stream-data=uncompress", "--decode-level=all"));
  expect(plain.includes(Buffer.from(all, "latin1"))).toBe(true);
});

test("never more than was allowed, and an end for whatever is no such data", () => {
  const noise = bytes(text(50_000, 150));
  for (const decode of [ascii85, asciiHex, runLength]) {
    expect(() => decode(bytes("\x81a".repeat(9000) + "zA9".repeat(9000)), 3000, sound())).toThrow(/too large/);
    expect(decode(noise, 1e8, sound()).length).toBeLessThan(1e7);
  }
  expect(() => lzw(bytes(encoded.lzw("a".repeat(50_000))), 49_999, true, sound())).toThrow(/too large/);
  expect(lzw(noise, 1e8, true, sound()).bytes.length).toBeLessThan(1e8);
});

test("what readers may take in another way is told", () => {
  const unclear = (decode: (faults: { unclear: boolean }) => unknown): boolean => {
    const faults = sound();
    decode(faults);
    return faults.unclear;
  };
  const told = {
    hex: ["41 42>", "41zz42>", "4142"].map((data) => unclear((faults) => asciiHex(bytes(data), 99, faults))),
    ascii85: ["5sdq, z~>", "5sdq,77Kd<8", "5s\x81dq,~>", "<~5sdq,~>", 's8W-"~>'].map((data) =>
      unclear((faults) => ascii85(bytes(data), 99, faults)),
    ),
    lzw: [encoded.lzw("abcabc"), "\x80\x7f\xff\xff"].map((data) =>
      unclear((faults) => lzw(bytes(data), 99, true, faults)),
    ),
  };
  expect(told).toEqual({
    hex: [false, true, false],
    ascii85: [false, false, true, true, true],
    lzw: [false, true],
  });
});
