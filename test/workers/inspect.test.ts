import { readFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { degrees, PDFDocument, PDFName, PDFString } from "pdf-lib";
import { describe, expect, it } from "vitest";
import { inspect } from "../../workers/inspect.ts";
import { stamp } from "../../workers/stamp.ts";
import { faultsOf, qpdf, textOf } from "./rendering.ts";
import { contract, lengthChain } from "./seal/hostile.ts";

const lecture = readFileSync(new URL("../fixtures/pdf/lecture.pdf", import.meta.url));
const look = (pdf: Uint8Array, maxPages = 1000) => inspect({ pdf, maxPages });

async function accepted(pdf: Uint8Array) {
  const result = await look(pdf);
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

async function document(change: (pdf: PDFDocument) => void): Promise<Uint8Array> {
  const pdf = await PDFDocument.create();
  pdf.addPage([300, 400]).drawText("Hello");
  change(pdf);
  return pdf.save();
}

/** A file from numbered objects, with a sound cross-reference table. */
function assemble(objects: (string | Buffer)[]): Buffer {
  let out = Buffer.from("%PDF-1.7\n", "latin1");
  const offsets = objects.map((object, index) => {
    const at = out.length;
    const body = typeof object === "string" ? Buffer.from(object, "latin1") : object;
    out = Buffer.concat([out, Buffer.from(`${index + 1} 0 obj\n`), body, Buffer.from("\nendobj\n")]);
    return `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  const xref = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  const trailer = `trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${out.length}\n%%EOF\n`;
  return Buffer.concat([out, Buffer.from(xref + trailer, "latin1")]);
}

describe("accepted as they are", () => {
  it("a real document, with its boxes as displayed", async () => {
    const value = await accepted(lecture);
    expect(value).toMatchObject({ pageCount: 8, hasFormFields: false, warnings: [], pdf: null });
    expect(value.pages[0]).toEqual({ page: 1, width: 595.276, height: 841.89, rotation: 0 });
    expect(value.pages[2]).toEqual({ page: 3, width: 841.89, height: 595.276, rotation: 90 });
  });

  it("crop boxes cut to the media box, odd rotations brought to a right angle", async () => {
    const pdf = await document((made) => {
      const page = made.getPage(0);
      page.setCropBox(100, 50, 900, 300);
      page.setRotation(degrees(-90));
    });
    expect((await accepted(pdf)).pages).toEqual([{ page: 1, width: 300, height: 200, rotation: 270 }]);
  });

  it("forms and signed documents, with a warning", async () => {
    const form = await document((made) => {
      made.getForm().createTextField("name").addToPage(made.getPage(0));
    });
    expect(await accepted(form)).toMatchObject({ hasFormFields: true, warnings: [{ code: "form-fields", count: 1 }] });
    const signedWith = (value: Record<string, number[]>) =>
      document((made) => {
        const about = made.context.register(made.context.obj({ Type: "Sig", Filter: "Adobe.PPKLite", ...value }));
        const field = made.context.register(made.context.obj({ FT: "Sig", T: PDFString.of("s"), V: about }));
        made.catalog.set(PDFName.of("AcroForm"), made.context.obj({ Fields: [field], SigFlags: 3 }));
      });
    const codes = async (pdf: Uint8Array) => (await accepted(pdf)).warnings.map(({ code }) => code);
    expect(await codes(await signedWith({ ByteRange: [0, 10, 20, 30] }))).toEqual(["already-signed", "form-fields"]);
    // Not a signature yet: it names no bytes.
    expect(await codes(await signedWith({}))).toEqual(["form-fields"]);
    const prepared = contract({
      1: "<</Type/Catalog/Pages 2 0 R/AcroForm<</SigFlags 3/Fields[<</FT/Sig/T(here)>>]>>>>",
    });
    expect(await codes(prepared)).toEqual(["form-fields"]);
    const usageRights = contract({
      1: "<</Type/Catalog/Pages 2 0 R/Perms<</UR3<</Type/Sig/ByteRange[0 10 20 30]/Contents<00>>>>>>>",
    });
    expect(await codes(usageRights)).toEqual(["already-signed"]);
  });
});

describe("repaired", () => {
  const cases: [string, () => Uint8Array][] = [
    ["the end is missing", () => lecture.subarray(0, lecture.length - 3000)],
    ["something stands before the header", () => Buffer.concat([Buffer.from("MIME junk\r\n"), lecture])],
    [
      "every offset is wrong",
      () =>
        Buffer.from(
          Buffer.from(qpdf(lecture, "--object-streams=disable")).toString("latin1").replace("\n", "\n%%%%%%%\n"),
          "latin1",
        ),
    ],
  ];
  it.each(cases)("when %s", async (_, make) => {
    const { pdf, pageCount, warnings } = await accepted(make());
    expect(pageCount).toBe(8);
    expect(warnings.map(({ code }) => code)).toEqual(["repaired"]);
    if (!pdf) throw new Error("not rewritten");
    expect(faultsOf(pdf)).toBe("");
    expect(textOf(pdf, 1)).toBe(textOf(lecture, 1));
    const drawings = [{ kind: "dot" as const, page: 8, x: 10, y: 10, width: 10, height: 10 }];
    expect((await stamp({ pdf, drawings, watermark: null, at: "2026-01-01T00:00:00.000Z" })).ok).toBe(true);
  });
});

describe("decrypted", () => {
  it.each([
    ["RC4 40 bit", ["40"]],
    ["RC4 128 bit", ["128"]],
    ["AES-128", ["128", "--use-aes=y"]],
    ["AES-128, metadata in clear", ["128", "--cleartext-metadata", "--use-aes=y"]],
    ["AES-256, revision 5", ["256", "--force-R5"]],
    ["AES-256, revision 6", ["256"]],
  ])("%s without a password", async (_, options) => {
    const { pdf, warnings, pageCount } = await accepted(qpdf(lecture, "--encrypt", "", "owner", ...options, "--"));
    expect([pageCount, warnings.map(({ code }) => code)]).toEqual([8, ["decrypted"]]);
    if (!pdf) throw new Error("not rewritten");
    expect(faultsOf(pdf)).toBe("");
    for (const page of [1, 5]) expect(textOf(pdf, page)).toBe(textOf(lecture, page));
  });

  it.each(["128", "256"])("not with a password (%s bit)", async (bits) => {
    expect(await look(qpdf(lecture, "--encrypt", "secret", "owner", bits, "--"))).toMatchObject({
      ok: false,
      error: { code: "encrypted" },
    });
  });
});

describe("refused", () => {
  it("what is no PDF", async () => {
    for (const text of ["", "hello", "PK\u0003\u0004 zip", "<html>"]) {
      expect(await look(Buffer.from(text))).toMatchObject({ ok: false, error: { code: "not-a-pdf" } });
    }
  });

  it("XFA, no pages, too many pages, half a file", async () => {
    const xfa = await document((made) => {
      made.catalog.set(PDFName.of("AcroForm"), made.context.obj({ Fields: [], XFA: PDFString.of("<xdp/>") }));
    });
    expect(await look(xfa)).toMatchObject({ error: { code: "xfa" } });
    const none = assemble(["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[]/Count 0>>"]);
    expect(await look(none)).toMatchObject({ error: { code: "no-pages" } });
    const kids = Array.from({ length: 10_000 }, (_, index) => `${index + 3} 0 R`).join(" ");
    const pages = Array<string>(10_000).fill("<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>");
    const many = assemble(["<</Type/Catalog/Pages 2 0 R>>", `<</Type/Pages/Kids[${kids}]/Count 10000>>`, ...pages]);
    expect(await look(many)).toMatchObject({ error: { code: "too-many-pages", detail: { maxPages: 1000 } } });
    expect(await look(many, 10_000)).toMatchObject({ ok: true, value: { pageCount: 10_000 } });
    expect(await look(lecture.subarray(0, lecture.length >> 1))).toMatchObject({ error: { code: "damaged" } });
  });

  it("bombs, quickly and with flat memory", async () => {
    const zeros = deflateSync(Buffer.alloc(200 * 1024 * 1024), { level: 9 });
    const stream = (dict: string): Buffer => {
      return Buffer.concat([
        Buffer.from(`<<${dict}/Filter/FlateDecode/Length ${zeros.length}>>stream\n`),
        zeros,
        Buffer.from("\nendstream"),
      ]);
    };
    const packed = assemble(["<</Type/Catalog/Pages 9 0 R>>", stream("/Type/ObjStm/N 1/First 10")]);
    const content = assemble([
      "<</Type/Catalog/Pages 2 0 R>>",
      "<</Type/Pages/Kids[3 0 R]/Count 1>>",
      "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>",
      stream(""),
    ]);
    const many = "%PDF-1.4\n";
    const n = 200_000;
    const files: [Uint8Array, string | null][] = [
      [packed.subarray(0, packed.indexOf("xref\n")), "too-complex"],
      [content, null],
      [Buffer.from(many + "1 0 obj(".repeat(n)), "too-complex"],
      [Buffer.from(`${many}1 0 obj${"[".repeat(n)}`), "too-complex"],
      [Buffer.from(many + "1 0 obj<</Length 5>>stream\n".repeat(n)), "too-complex"],
      [Buffer.from(many + "trailer(".repeat(n)), "too-complex"],
      [assemble(["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[2 0 R]/Count 1>>"]), "damaged"],
    ];
    for (const [pdf, code] of files) {
      const before = process.memoryUsage().arrayBuffers;
      const start = performance.now();
      const result = await look(pdf);
      expect(performance.now() - start).toBeLessThan(20_000);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(400 * 1024 * 1024);
      expect(result.ok ? null : result.error.code).toBe(code);
    }
  });

  it("objects that need each other without end, and objects that share their bytes", async () => {
    expect(
      await look(contract({ 3: "<</Type/Page/Parent 2 0 R/Contents 10 0 R>>", ...lengthChain(10, 5000) })),
    ).toMatchObject({
      error: { code: "too-complex" },
    });
    const numbers = Array.from({ length: 300 }, (_, index) => 100 + index);
    const header = numbers.map((num) => `${num} 0 `).join("");
    const data = deflateSync(
      Buffer.concat([Buffer.from(`${header}(`), Buffer.alloc(4_000_000, 0x61), Buffer.from(")")]),
    );
    const dict = `<</Type/ObjStm/N 300/First ${header.length}/Filter/FlateDecode/Length ${data.length}>>`;
    const packed = Buffer.concat([Buffer.from(`${dict}stream\n`), data, Buffer.from("\nendstream")]);
    expect(
      await look(assemble(["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[]/Count 0>>", packed])),
    ).toMatchObject({
      error: { code: "no-pages" },
    });
    // Without a cross-reference every packed object is read: the bytes are paid for each time.
    const cut = assemble(["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[]/Count 0>>", packed]);
    expect(await look(cut.subarray(0, cut.lastIndexOf("xref")))).toMatchObject({ error: { code: "too-complex" } });
  });

  it("never throws, whatever the bytes", async () => {
    const small = qpdf(lecture, "--pages", ".", "1", "--", "--object-streams=disable");
    const variants = [
      Buffer.from(small),
      Buffer.from(qpdf(small, "--object-streams=generate")),
      Buffer.from(qpdf(small, "--encrypt", "", "o", "256", "--")),
    ];
    const edit = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 6 }),
      cut: fc.nat(40),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.nat(2),
        fc.array(edit, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        async (which, edits, late) => {
          let pdf = variants[which] ?? lecture;
          for (const { at, bytes, cut } of edits) {
            // The structure stands at the end: half of the runs strike only there.
            const begin = late ? Math.max(0, pdf.length - 3000) : 0;
            const place = begin + Math.floor(at * (pdf.length - begin));
            pdf = Buffer.concat([pdf.subarray(0, place), bytes, pdf.subarray(place + cut)]);
          }
          const start = performance.now();
          const result = await look(pdf);
          expect(performance.now() - start).toBeLessThan(15_000);
          if (!result.ok) expect(result.error.message).toMatch(/\.$/);
        },
      ),
      { numRuns: 300 },
    );
  });
});
