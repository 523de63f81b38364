import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  dict,
  name,
  PdfDict,
  PdfError,
  type PdfObject,
  PdfRef,
  PdfStream,
  PdfString,
  pdfDate,
  textOf,
  textString,
} from "../../../workers/pdf/objects.ts";
import { Parser } from "../../../workers/pdf/parser.ts";
import { openPdf, type PdfFile } from "../../../workers/pdf/reader.ts";
import { ByteWriter, writeObject } from "../../../workers/pdf/serialize.ts";
import { rawPdf, samplePdf, type Variant, variant } from "../../harness/pdfs.ts";

const budget = () => ({ objects: 1_000_000, scan: 1_000_000, inflate: 1_000_000 });
const serialized = (object: PdfObject): Buffer => {
  const out = new ByteWriter();
  writeObject(out, object);
  return Buffer.from(out.finish());
};
const parsed = (text: string | Uint8Array): PdfObject =>
  new Parser(typeof text === "string" ? Buffer.from(text, "latin1") : text, 0, budget()).object();

const bytes = fc.uint8Array({ maxLength: 40 });
const latin = bytes.map((raw) => Buffer.from(raw).toString("latin1"));
const real = fc.integer({ min: -1e9, max: 1e9 }).map((n) => Number((n / 1000).toFixed(3)));
const { object: anyObject } = fc.letrec<{ object: PdfObject }>((tie) => ({
  object: fc.oneof(
    { maxDepth: 5, depthSize: "small" },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    real,
    latin.map(name),
    fc.tuple(bytes, fc.boolean()).map(([raw, hex]) => new PdfString(raw, hex)),
    fc.tuple(fc.nat(9_999_999), fc.nat(65535)).map(([num, gen]) => new PdfRef(num, gen)),
    fc.array(tie("object"), { maxLength: 6 }),
    fc.array(fc.tuple(latin, tie("object")), { maxLength: 6 }).map((entries) => new PdfDict(entries)),
  ),
}));

describe("syntax", () => {
  test("every object survives writing and reading", () => {
    fc.assert(
      fc.property(anyObject, (object) => {
        expect(parsed(serialized(object))).toEqual(object);
      }),
      { numRuns: 300 },
    );
  });

  test("hexadecimal strings are read with white space, in either case and with an odd digit; nothing else stands in them", () => {
    const read = (text: string) => {
      const string = parsed(text);
      return string instanceof PdfString ? Buffer.from(string.bytes).toString("hex") : string;
    };
    for (const text of ["<0aFfB0>", "<0a ff\nB 0>", "<0AFFB>", "< 0affb >"]) expect(read(text)).toBe("0affb0");
    expect(read("<>")).toBe("");
    for (const text of ["<0g>", "<g0>", "<0a-0>", "<0a\xe4\xe4>", "<0a", "<"])
      expect(() => parsed(text)).toThrow(PdfError);
  });

  test("no input makes the parser fail otherwise than with a code", () => {
    const bits = [
      "<<",
      ">>",
      "[",
      "]",
      "(",
      ")",
      "/A",
      "<41>",
      " 1 0 R ",
      "-.5",
      "true",
      "%x\n",
      "stream\n",
      "\\",
      "null",
      "#4",
    ];
    const soup = fc.array(fc.oneof(fc.constantFrom(...bits), latin), { maxLength: 60 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(soup, (text) => {
        try {
          parsed(text);
        } catch (error) {
          expect(error).toBeInstanceOf(PdfError);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("what producers write and the standard forbids or hardly mentions", () => {
    expect(parsed("[--5 +3 4. .25 - 1-2]")).toEqual([-5, 3, 4, 0.25, 0, 1]);
    expect(parsed("[1 2 R 3 4 5 0 R/X]")).toEqual([new PdfRef(1, 2), 3, 4, new PdfRef(5), name("X")]);
    expect(parsed("<</A/B/C%x\n<41 4>/D null/E>>")).toEqual(
      dict({ A: name("B"), C: new PdfString(Uint8Array.from([65, 64]), true), D: null }),
    );
    expect(parsed("(a\\\r\nb\\053\\7(c\r\n)\\))")).toEqual(
      new PdfString(Uint8Array.from(Buffer.from("ab+\x07(c\n))", "latin1"))),
    );
    expect(parsed("/A#20B#zz")).toEqual(name("A B#zz"));
  });

  test("text strings and dates", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(textOf(textString(text))).toBe(text);
      }),
    );
    expect(Buffer.from(pdfDate("2026-03-04T05:06:07.089Z").bytes).toString()).toBe("D:20260304050607+00'00'");
  });
});

const variants: Variant[] = ["table", "stream", "linearized", "linearized-stream", "hybrid"];
test.each(variants)("reads every page and object of a %s file", async (kind) => {
  const file = openPdf(await variant(kind, { pages: 40, rotate: 270 }));
  const pages = file.pages();
  expect(pages).toHaveLength(40);
  expect(new Set(pages.map(({ ref }) => ref.num)).size).toBe(40);
  expect(pages[39]).toMatchObject({ index: 39, mediaBox: [0, 0, 595, 842], cropBox: [0, 0, 595, 842], rotate: 270 });
  expect(file.page(39)?.ref).toEqual(pages[39]?.ref);
  expect(file.page(40)).toBeNull();
  for (const page of pages) expect(page.resources?.has("Font")).toBe(true);
  let streams = 0;
  for (let num = 1; num < file.size; num++) {
    const object = file.get(new PdfRef(num));
    if (object instanceof PdfStream && file.name(object.dict.get("Filter")) === "FlateDecode") {
      streams++;
      expect(file.decode(object).length).toBeGreaterThan(0);
    }
  }
  expect(streams).toBeGreaterThanOrEqual(40);
});

test("attributes are inherited, boxes normalised and cut", () => {
  const file = openPdf(
    rawPdf({
      1: "<</Type/Catalog/Pages 2 0 R>>",
      2: "<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2/MediaBox[600 800 0 0]/Rotate -90/Resources<</X 1>>>>",
      3: "<</Type/Page/Parent 2 0 R/CropBox[-50 10 300 400]>>",
      4: "<</Type/Page/Parent 2 0 R/Rotate 450/CropBox[700 700 710 710]/MediaBox 5 0 R/Resources 6 0 R>>",
      5: "[0 0 100 100]",
      6: "<</Y 1>>",
    }),
  );
  const [first, second] = file.pages();
  expect(first).toMatchObject({ mediaBox: [0, 0, 600, 800], cropBox: [0, 10, 300, 400], rotate: 270 });
  expect(first?.resources?.has("X")).toBe(true);
  expect(second).toMatchObject({ mediaBox: [0, 0, 100, 100], cropBox: [0, 0, 100, 100], rotate: 90 });
  expect(second?.resources?.has("Y")).toBe(true);
});

test("a wrong /Length is mended, as in every reader", () => {
  const file = openPdf(rawPdf({ 1: "<</Type/Catalog>>", 2: "<</Length 99999>>\nstream\nhello\nendstream" }));
  expect(Buffer.from(file.stream(new PdfRef(2))?.raw ?? []).toString()).toBe("hello");
});

describe("hostile files end in a code, quickly", () => {
  const catalog = "<</Type/Catalog/Pages 2 0 R>>";
  const pages = (file: PdfFile): unknown => file.pages();
  const bomb = (): Uint8Array => {
    let data: Uint8Array = Buffer.alloc(300 * 1024 * 1024);
    data = deflateSync(data, { level: 1 });
    return data;
  };
  const stream = (entries: string, body: Uint8Array): string =>
    `<<${entries}/Length ${body.length}>>\nstream\n${Buffer.from(body).toString("latin1")}\nendstream`;

  const cases: [string, () => Uint8Array, (file: PdfFile) => unknown, string][] = [
    ["nothing", () => new Uint8Array(), pages, "not-a-pdf"],
    ["something else", () => Buffer.from("PK\x03\x04 not a PDF"), pages, "not-a-pdf"],
    ["only a header", () => Buffer.from("%PDF-1.7\n%%EOF\n"), pages, "damaged"],
    ["startxref out of range", () => Buffer.from("%PDF-1.7\nstartxref\n99999999999\n%%EOF\n"), pages, "damaged"],
    ["startxref too long", () => Buffer.from(`%PDF-1.7\nstartxref\n${"9".repeat(500)}\n%%EOF\n`), pages, "damaged"],
    [
      "a page tree that contains itself",
      () => rawPdf({ 1: catalog, 2: "<</Type/Pages/Kids[3 0 R]>>", 3: "<</Type/Pages/Kids[2 0 R]>>" }),
      pages,
      "damaged",
    ],
    [
      "a page tree thousands deep",
      () => {
        const nodes: Record<number, string> = { 1: catalog };
        for (let n = 2; n < 5000; n++) nodes[n] = `<</Type/Pages/Kids[${n + 1} 0 R]>>`;
        return rawPdf(nodes);
      },
      pages,
      "too-complex",
    ],
    ["arrays nested deeply", () => rawPdf({ 1: catalog, 2: "[".repeat(100_000) }), pages, "too-complex"],
    ["dictionaries nested deeply", () => rawPdf({ 1: catalog, 2: "<</A".repeat(100_000) }), pages, "too-complex"],
    ["a huge integer", () => rawPdf({ 1: catalog, 2: `[${"9".repeat(100_000)}]` }), pages, "damaged"],
    [
      "cross-reference sections in a circle",
      () => {
        const text = Buffer.from(rawPdf({ 1: catalog })).toString("latin1");
        const at = /startxref\n(\d+)/.exec(text)?.[1];
        return Buffer.from(text.replace("/Root", `/Prev ${at}/Root`), "latin1");
      },
      pages,
      "damaged",
    ],
    [
      "a table that claims billions of entries",
      () => Buffer.from("%PDF-1.7\nxref\n0 4000000000\ntrailer\n<<>>\nstartxref\n9\n%%EOF\n"),
      pages,
      "too-complex",
    ],
    [
      "a cross-reference stream that inflates without end",
      () => {
        const body = stream("/Type/XRef/Size 3/W[1 2 1]/Root 1 0 R/Filter/FlateDecode", bomb());
        return Buffer.from(`%PDF-1.7\n1 0 obj\n${body}\nendobj\nstartxref\n9\n%%EOF\n`, "latin1");
      },
      pages,
      "too-complex",
    ],
    [
      "a content stream that inflates without end",
      () => rawPdf({ 1: "<</Type/Catalog>>", 2: stream("/Filter/FlateDecode", bomb()) }),
      (file) => file.decode(file.stream(new PdfRef(2)) ?? new PdfStream(new PdfDict(), new Uint8Array())),
      "too-complex",
    ],
    [
      "an array of millions of dictionaries",
      () => rawPdf({ 1: catalog, 2: `[${"<<>>".repeat(2_500_000)}]` }),
      pages,
      "too-complex",
    ],
    [
      "millions of references",
      () => rawPdf({ 1: catalog, 2: `[${"1 0 R ".repeat(3_000_000)}]` }),
      pages,
      "too-complex",
    ],
    ["millions of numbers", () => rawPdf({ 1: catalog, 2: `[${"1 ".repeat(3_000_000)}]` }), pages, "too-complex"],
    ["millions of short strings", () => rawPdf({ 1: catalog, 2: `[${"()".repeat(700_000)}]` }), pages, "too-complex"],
    [
      "cross-reference tables of loose entries by the million",
      () =>
        Buffer.from(`%PDF-1.7\nxref\n0 1300000\n${"0 0 f\n".repeat(1_300_000)}trailer\n<<>>\nstartxref\n9\n%%EOF\n`),
      pages,
      "too-complex",
    ],
    ["no catalog", () => rawPdf({ 1: "null" }), pages, "damaged"],
    [
      "an object that is not where it should be",
      () => {
        const text = Buffer.from(rawPdf({ 1: catalog, 2: "<</Type/Pages/Kids[]>>" })).toString("latin1");
        return Buffer.from(text.replace("2 0 obj", "7 0 obj"), "latin1");
      },
      pages,
      "damaged",
    ],
  ];

  test.each(cases)("%s", (_, make, use, code) => {
    const file = make();
    const started = performance.now();
    let caught: unknown;
    try {
      use(openPdf(file));
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(PdfError);
    expect(caught).toMatchObject({ code });
    // Generous: a shared machine may be slow, an unbounded parser would take minutes.
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  test("references that lead nowhere or in circles read as null", () => {
    const file = openPdf(
      rawPdf({ 1: "<</Type/Catalog>>", 2: "3 0 R", 3: "2 0 R", 4: "<</Length 4 0 R>>\nstream\nx\nendstream" }),
    );
    expect(file.resolve(new PdfRef(2))).toBeNull();
    expect(file.resolve(new PdfRef(77))).toBeNull();
    expect(file.resolve(new PdfRef(1, 5))).toBeNull();
    expect(file.resolve(new PdfRef(1))).not.toBeNull();
    const later = openPdf(
      Buffer.from(
        Buffer.from(rawPdf({ 1: "<</Type/Catalog>>", 2: "7" }))
          .toString("latin1")
          .replace(/00000 n( ?\r?\n+)(trailer)/, "00001 n$1$2"),
        "latin1",
      ),
    );
    expect([later.get(new PdfRef(2, 1)), later.get(new PdfRef(2))]).toEqual([7, null]);
    expect(file.stream(new PdfRef(4))?.raw).toHaveLength(1);
  });

  test("truncated and scribbled files never throw anything but a code", async () => {
    const samples = await Promise.all(variants.map((kind) => variant(kind, { pages: 2 })));
    const damage = fc.record({
      which: fc.nat(samples.length - 1),
      cut: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
      scribbles: fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(255)), { maxLength: 20 }),
    });
    fc.assert(
      fc.property(damage, ({ which, cut, scribbles }) => {
        const copy = Buffer.from(samples[which] ?? []);
        for (const [at, byte] of scribbles) copy[Math.floor(at * (copy.length - 1))] = byte;
        try {
          const file = openPdf(cut === null ? copy : copy.subarray(0, Math.floor(cut * copy.length)));
          file.pages();
          for (let num = 0; num < Math.min(file.size, 100); num++) file.get(new PdfRef(num));
        } catch (error) {
          expect(error).toBeInstanceOf(PdfError);
        }
      }),
      { numRuns: 400 },
    );
  });
});

test("an encrypted file is recognised", async () => {
  const plain = await samplePdf();
  const text = Buffer.from(plain).toString("latin1");
  const encrypted = Buffer.from(
    text.replace(/trailer\s*<</, (found) => `${found}/Encrypt<</Filter/Standard>>`),
    "latin1",
  );
  expect(openPdf(plain).encrypted).toBe(false);
  expect(openPdf(encrypted).encrypted).toBe(true);
});
