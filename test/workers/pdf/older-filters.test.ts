import { expect, test } from "vitest";
import { ascii85, asciiHex, lzw, runLength } from "../../../workers/pdf/older-filters.ts";
import { qpdf } from "../rendering.ts";
import * as encoded from "../stamp-fixtures.ts";
import { rawPdf } from "./samples.ts";

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
const bytes = (data: string): Uint8Array => Buffer.from(data, "latin1");

test.each([
  ["LZWDecode", encoded.lzw, (data: Uint8Array) => lzw(data, 1e6, true)],
  ["ASCII85Decode", encoded.ascii85, (data: Uint8Array) => ascii85(data, 1e6)],
  ["ASCIIHexDecode", encoded.hex, (data: Uint8Array) => asciiHex(data, 1e6)],
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
    expect(() => decode(bytes("\x81a".repeat(9000) + "zA9".repeat(9000)), 3000)).toThrow(/too large/);
    expect(decode(noise, 1e8).length).toBeLessThan(1e7);
  }
  expect(() => lzw(bytes(encoded.lzw("a".repeat(50_000))), 49_999, true)).toThrow(/too large/);
  expect(lzw(noise, 1e8, true).length).toBeLessThan(1e8);
});
