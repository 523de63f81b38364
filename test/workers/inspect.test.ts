import { readFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { degrees, PDFDocument, PDFName, PDFString } from "pdf-lib";
import { describe, expect, it } from "vitest";
import { inspect } from "../../workers/inspect.ts";
import { stamp } from "../../workers/stamp.ts";
import { CLAUSE, contract, lengthChain, packedFile, shown } from "../harness/hostile-pdfs.ts";
import { faultsOf, qpdf, textOf } from "../harness/rendering.ts";

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

describe("streams that are written carelessly", () => {
  const CLEAN = "q 1 0 0 rg 0 0 9 9 re f Q";
  const metadata = (length: number) => `<</Type/Metadata/Length ${length}>>\nstream\n<x>metadata</x>\nendstream`;
  it.each([
    ["blanks behind `stream`", { 5: `<</Length ${CLEAN.length}>>\nstream \t\r\n${CLEAN}\r\nendstream` }],
    ["`endstream` and `endobj` as one word", { 5: `<</Length ${CLEAN.length}>>\nstream\n${CLEAN}\nendstreamendobj` }],
    ["a wrong length where no page is drawn", { 8: metadata(3), 9: metadata(300) }],
  ])("are kept as they are: %s", async (_, change) => {
    const { pdf, warnings } = await accepted(contract(change));
    expect([pdf, warnings]).toEqual([null, []]);
  });

  it("have their true length written where readers differ in where a page's content ends", async () => {
    const { pdf, warnings } = await accepted(contract({ 5: `<</Length 300>>\nstream\n${CLEAN}\nendstream` }));
    expect(warnings.map(({ code }) => code)).toEqual(["repaired"]);
    expect(Buffer.from(pdf ?? []).toString("latin1")).toMatch(/\/Length 2[56]\b/);
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

describe("what readers read differently is written anew", () => {
  const page = (entries: string): Record<number, string> => ({
    3: `<</Type/Page/Parent 2 0 R/Contents 5 0 R${entries}>>`,
  });
  const cover = "[<</Type/Annot/Subtype/Stamp/Rect[0 0 600 700]/F 4/AP<</N 9 0 R>>>>]";
  const picture = { 9: "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Length 10>>stream\n0 0 9 9 re\nendstream" };
  const plain: Record<number, string> = {
    1: "<</Type/Catalog/Pages 2 0 R>>",
    2: "<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 612 792]/Resources<</Font<</F1 7 0 R>>>>>>",
    ...page("/Annots 8 0 R"),
    5: shown(CLAUSE),
    7: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ...picture,
  };
  const text = (pdf: Uint8Array): string => Buffer.from(pdf).toString("latin1");
  const repaired = async (pdf: Uint8Array): Promise<Uint8Array> => {
    const value = await accepted(pdf);
    expect(value.warnings.map(({ code }) => code)).toContain("repaired");
    return value.pdf ?? pdf;
  };

  it("references to another generation of an object in use", async () => {
    for (const change of [
      { ...page("/Annots 8 1 R"), 8: cover, ...picture },
      { 1: "<</Type/Catalog/Pages 2 0 R/OpenAction 8 1 R>>", 8: "<</S/JavaScript/JS(hidden)>>" },
      // The first reference brings the object along, and must not bring the second to life.
      { 1: "<</Type/Catalog/Pages 2 0 R/PieceInfo 8 0 R/OpenAction 8 2 R>>", 8: "<</S/JavaScript/JS(hidden)>>" },
    ]) {
      const made = await repaired(contract(change));
      expect(text(made)).not.toMatch(/\/(Annots|OpenAction) \d/);
    }
  });

  it("headers of another generation than the cross-reference names", async () => {
    const pdf = text(contract()).replace("6 0 obj", "6 1 obj");
    expect(textOf(await repaired(Buffer.from(pdf, "latin1")), 2)).toContain(CLAUSE);
  });

  it("numbers that stand twice: in an object stream, at another place in it, in a table", async () => {
    const objects = { 8: `${cover} []` };
    await repaired(packedFile(plain, { from: 10, objects, header: `8 0 8 ${cover.length} ` }));
    await repaired(packedFile(plain, { from: 10, objects, index: 1 }));
    expect((await accepted(packedFile(plain, { from: 10, objects }))).pdf).toBeNull();
    const twice = text(contract()).replace("xref\n0 8\n", "xref\n6 1\n0000000009 00000 n \n0 8\n");
    await repaired(Buffer.from(twice, "latin1"));
  });

  it("generations that cannot be written", async () => {
    for (const num of [3, 5]) {
      const high = { ...plain };
      for (const [key, body] of Object.entries(plain)) high[Number(key)] = body.replace(`${num} 0 R`, `${num} 70000 R`);
      const made = await repaired(packedFile(high, { from: 10, objects: { 8: "[]" } }, { [num]: 70_000 }));
      expect(textOf(made, 1)).toContain(CLAUSE);
    }
  });

  it("not free numbers, what was deleted, and generations that fit", async () => {
    const reused = packedFile(
      { ...plain, ...page("/Annots 8 0 R/Thumb 6 0 R"), 2: String(plain[2]).replace("7 0 R", "7 65535 R") },
      { from: 10, objects: { 8: "[]" } },
      { 7: 65_535 },
    );
    // A table calls number 8 free with generation 65535, and pages still refer to it.
    const freed = contract({ ...page("/Annots 8 0 R"), 9: "null" });
    const updated = (pdf: Buffer): Buffer => {
      const prev = /startxref\n(\d+)/.exec(text(pdf))?.[1];
      const object = `6 0 obj\n${shown("Another clause")}\nendobj\n`;
      const xref = `xref\n0 1\n0000000000 65535 f \n6 1\n${String(pdf.length).padStart(10, "0")} 00000 n \n`;
      const trailer = `trailer\n<</Size 10/Root 1 0 R/Prev ${prev}>>\nstartxref\n${pdf.length + object.length}\n%%EOF\n`;
      return Buffer.concat([pdf, Buffer.from(object + xref + trailer, "latin1")]);
    };
    for (const pdf of [reused, freed, updated(freed)]) {
      expect(await accepted(pdf)).toMatchObject({ warnings: [], pdf: null });
    }
  });
});

describe("what one page needs does not depend on what was read before", () => {
  it("lengths that refer to streams are wrong lengths, however long the chain", async () => {
    const count = 5000;
    const all = Array.from({ length: count }, (_, index) => `${10 + count - 1 - index} 0 R`).join(" ");
    const pdf = contract({
      3: `<</Type/Page/Parent 2 0 R/Contents[${all}]>>`,
      4: "<</Type/Page/Parent 2 0 R/Contents 10 0 R>>",
      ...lengthChain(10, count),
    });
    const kept = (await accepted(pdf)).pdf ?? pdf;
    const box = { x: 10, y: 10, width: 10, height: 10 };
    const at = "2026-11-21T10:00:00.000Z";
    for (const page of [1, 2]) {
      const drawings = [{ kind: "check" as const, page, ...box }];
      expect(await stamp({ pdf: kept, drawings, watermark: null, at })).toMatchObject({ ok: true });
    }
  });
});

describe("large but honest", () => {
  it("two hundred thousand objects, with a script among them", async () => {
    const count = 200_000;
    const kids = Array.from({ length: count }, (_, index) => `${10 + index} 0 R`).join(" ");
    const objects: Record<number, string> = {
      1: "<</Type/Catalog/Pages 2 0 R/StructTreeRoot 8 0 R/OpenAction 9 0 R>>",
      8: `<</Type/StructTreeRoot/K[${kids}]>>`,
      9: "<</S/JavaScript/JS(1)>>",
    };
    for (let num = 10; num < 10 + count; num++) objects[num] = `<</Type/StructElem/S/P/P 8 0 R/Pg 3 0 R/K ${num}>>`;
    const result = await inspect({ pdf: contract(objects), maxPages: 10, activeContent: "remove" });
    expect(result).toMatchObject({ ok: true, value: { warnings: [{ code: "javascript-removed" }] } });
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
    const files: [Uint8Array, string][] = [
      [packed.subarray(0, packed.indexOf("xref\n")), "too-complex"],
      [content, "too-complex"],
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

  it("objects that share their bytes", async () => {
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

  it("numbers that share their bytes, and tables of free numbers, in bounded time", async () => {
    const many = 200;
    const header = Array.from({ length: many }, (_, index) => `${100 + index} ${index} `).join("");
    const data = deflateSync(Buffer.from(`${header}${"[".repeat(many)}${"1 ".repeat(500_000)}${"]".repeat(many)}`));
    const dict = `<</Type/ObjStm/N ${many}/First ${header.length}/Filter/FlateDecode/Length ${data.length}>>`;
    const objects = Array<string>(300).fill("null");
    objects[0] = "<</Type/Catalog/Pages 2 0 R>>";
    objects[1] = "<</Type/Pages/Kids[3 0 R]/Count 1>>";
    objects[2] = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>";
    const shared = Buffer.concat([Buffer.from(`${dict}stream\n`), data, Buffer.from("\nendstream")]);
    const table = Buffer.alloc(301 * 3);
    const listed = assemble([...objects.slice(0, 3), shared]);
    const base = listed.subarray(0, listed.lastIndexOf("xref\n0"));
    const at = (num: number) => base.indexOf(`${num} 0 obj`);
    for (let num = 1; num <= 4; num++) table.set([1, at(num) >> 8, at(num) & 255], num * 3);
    for (let index = 0; index < many; index++) table.set([2, 0, 4], (100 + index) * 3);
    const sized = `<</Type/XRef/W[1 2 0]/Size 301/Root 1 0 R/Length ${table.length}>>`;
    const overlapping = Buffer.concat([
      base,
      Buffer.from(`5 0 obj\n${sized}stream\n`),
      table,
      Buffer.from(`\nendstream\nendobj\nstartxref\n${base.length}\n%%EOF\n`),
    ]);
    const free = (count: number, sections: number): Buffer => {
      let out = contract();
      let prev = Number(/startxref\n(\d+)/.exec(out.toString("latin1"))?.[1]);
      const add = (section: string, raw = Buffer.alloc(0), end = "") => {
        const start = out.length;
        out = Buffer.concat([out, Buffer.from(section.replace("PREV", String(prev))), raw, Buffer.from(end)]);
        prev = start;
      };
      const raw = deflateSync(Buffer.alloc(count));
      const entries = `/W[1 0 0]/Index[20 ${count}]/Size ${count + 20}/Root 1 0 R/Prev PREV/Filter/FlateDecode`;
      add(`10 0 obj\n<</Type/XRef${entries}/Length ${raw.length}>>stream\n`, raw, "\nendstream\nendobj\n");
      const trailer = `trailer\n<</Size ${count + 20}/Root 1 0 R/Prev PREV>>\n`;
      for (let index = 0; index < sections; index++) add(`xref\n0 1\n0000000000 65535 f \n${trailer}`);
      return Buffer.concat([out, Buffer.from(`startxref\n${prev}\n%%EOF\n`)]);
    };
    for (const pdf of [overlapping, free(7_000_000, 0), free(300_000, 1000)]) {
      const start = process.cpuUsage().user;
      await look(pdf);
      expect(process.cpuUsage().user - start).toBeLessThan(2_500_000);
    }
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
