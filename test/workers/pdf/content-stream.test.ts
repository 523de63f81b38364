import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Operation, readOperations, spliced } from "../../../workers/pdf/content-stream.ts";
import { name, PdfDict, PdfError, type PdfObject, PdfString } from "../../../workers/pdf/objects.ts";
import { ByteWriter, writeObject } from "../../../workers/pdf/serialize.ts";

const budget = () => ({ objects: 100_000, scan: 0, inflate: 0 });
const read = (content: Uint8Array | string): Operation[] => readOperations(Buffer.from(content), budget());

const operand: fc.Arbitrary<PdfObject> = fc.oneof(
  fc.integer({ min: -1e6, max: 1e6 }).map((value) => value / 8),
  fc.boolean(),
  fc
    .string({ unit: "binary-ascii", minLength: 1 })
    .filter((text) => !text.includes("\0"))
    .map(name),
  fc.tuple(fc.uint8Array({ maxLength: 20 }), fc.boolean()).map(([bytes, hex]) => new PdfString(bytes, hex)),
  fc.array(
    fc.oneof(
      fc.integer({ min: -999, max: 999 }),
      fc.uint8Array({ maxLength: 9 }).map((bytes) => new PdfString(bytes)),
    ),
  ),
  fc.integer().map((value) => new PdfDict([["MCID", value]])),
);
const operation = fc.record({
  operator: fc.constantFrom("q", "Q", "cm", "BT", "Tj", "TJ", "'", '"', "T*", "BDC", "f*", "d0", "scn"),
  operands: fc.array(operand, { maxLength: 6 }),
});

describe("operations of a content stream", () => {
  it("come back as they were written", () => {
    const property = fc.property(fc.array(operation), (operations) => {
      const out = new ByteWriter();
      for (const { operands, operator } of operations) {
        for (const value of operands) {
          writeObject(out, value);
          out.text(" ");
        }
        out.text(`${operator}\n`);
      }
      const bytes = out.finish();
      const found = read(bytes);
      expect(found.map(({ operator, operands }) => ({ operator, operands }))).toEqual(operations);
      const texts = found.map(({ start, end }) => `${bytes.toString("latin1", start, end)}\n`);
      expect(texts.join("")).toBe(bytes.toString("latin1"));
      const same = found.map(({ start, end }) => ({ start, end, bytes: bytes.subarray(start, end) }));
      expect(Buffer.from(spliced(bytes, same)).equals(bytes)).toBe(true);
    });
    fc.assert(property, { numRuns: 300 });
  });

  it("are refused by PdfError and nothing else, whatever the bytes", () => {
    const piece = fc.constantFrom(
      "BI ",
      "ID ",
      " EI ",
      "(",
      ")",
      "<<",
      ">>",
      "[",
      "]",
      "/A ",
      "1 ",
      "q ",
      "Tj ",
      "%x\n",
      "<4",
      "1 0 R ",
    );
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .array(fc.oneof(piece, fc.string({ maxLength: 3 })), { maxLength: 40 })
        .map((parts) => Buffer.from(parts.join(""))),
    );
    const property = fc.property(bytes, (content) => {
      try {
        for (const { start, end } of read(content))
          expect(start >= 0 && end > start && end <= content.length).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(PdfError);
      }
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  it("hold inline pictures whole, by their length or by the text that follows", () => {
    const plain = read("q BI /W 3 /H 1 /BPC 8 /CS /G ID  EI EI Q");
    expect(plain.map(({ operator }) => operator)).toEqual(["q", "BI", "Q"]);
    const packed = read(
      Buffer.concat([
        Buffer.from("BI /W 3 /H 1 /F /Fl ID "),
        Buffer.from([1, 32, 69, 73, 32, 200, 32]),
        Buffer.from("EI Q"),
      ]),
    );
    expect(packed.map(({ operator, end }) => [operator, end])).toEqual([
      ["BI", 32],
      ["Q", 34],
    ]);
  });

  it("are refused beyond the budget", () => {
    const small = { objects: 100, scan: 0, inflate: 0 };
    expect(() => readOperations(Buffer.from("q ".repeat(101)), small)).toThrow(PdfError);
    expect(() => read(`${"[".repeat(300)}`)).toThrow(PdfError);
  });
});
