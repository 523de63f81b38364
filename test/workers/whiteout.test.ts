import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { degrees, PDFDocument, PDFName, StandardFonts } from "pdf-lib";
import { describe, expect, it } from "vitest";
import { itemOf } from "../../workers/overlay.ts";
import { openPdf } from "../../workers/pdf/reader.ts";
import type { Box, Drawing } from "../../workers/protocol.ts";
import { stamp } from "../../workers/stamp.ts";
import { typeset } from "../../workers/typeset.ts";
import { samplePdf } from "../harness/pdfs.ts";
import { solidPng } from "../harness/pictures.ts";
import { faultsOf, render, textOf, type Word, wordsOf } from "../harness/rendering.ts";

const AT = "2026-11-21T10:00:00.000Z";
const lecture = readFileSync(new URL("../fixtures/pdf/lecture.pdf", import.meta.url));

/** Stamps white-outs; the input must stay the beginning of a sound file. */
async function whitened(pdf: Uint8Array, boxes: Box[], others: Drawing[] = []) {
  const drawings: Drawing[] = [...others, ...boxes.map((box) => ({ kind: "whiteout" as const, ...box }))];
  const result = await stamp({ pdf, drawings, watermark: null, at: AT });
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  const out = Buffer.concat([pdf, result.value.tail]);
  expect(faultsOf(out)).toBe("");
  const warnings = result.value.warnings.filter(({ code }) => code === "text-under-whiteout");
  return { pdf: out, warned: warnings.map(({ page, count }) => [page, count]) };
}

/** The text of a page as mutool, which shares no code with poppler, reads it. */
function mutoolText(pdf: Uint8Array, page: number): string {
  const folder = mkdtempSync(join(tmpdir(), "signet-pdf-"));
  try {
    writeFileSync(join(folder, "in.pdf"), pdf);
    const args = ["draw", "-q", "-F", "txt", join(folder, "in.pdf"), String(page)];
    return execFileSync("mutool", args, { encoding: "utf8", stdio: "pipe" });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const around = (word: Word, page = 1, by = 0.5): Box => ({
  page,
  x: word.x - by,
  y: word.y - by,
  width: word.right - word.x + 2 * by,
  height: word.bottom - word.y + 2 * by,
});

function find(words: Word[], text: string): Word {
  const word = words.find((one) => one.text === text);
  if (!word) throw new Error(`no word "${text}" in ${words.map((one) => one.text).join(" ")}`);
  return word;
}

/** Readers sort words into columns by the gaps between them; what counts is where each stands. */
const sorted = (words: Word[]): Word[] =>
  words.toSorted((a, b) => a.text.localeCompare(b.text) || a.y - b.y || a.x - b.x);

/** Every word of `before` stands where it stood, except those of `gone`, which are no longer there. */
function expectKept(before: Word[], after: Word[], gone: string[]): void {
  const [rest, now] = [sorted(before.filter((word) => !gone.includes(word.text))), sorted(after)];
  expect(now.map((word) => word.text)).toEqual(rest.map((word) => word.text));
  for (const [index, word] of now.entries()) {
    for (const key of ["x", "y", "right", "bottom"] as const) {
      expect(Math.abs(word[key] - (rest[index]?.[key] ?? Number.NaN)), `${word.text} ${key}`).toBeLessThan(0.5);
    }
  }
}

/** The decoded content that a page now has. */
function contentOf(pdf: Uint8Array): string {
  const file = openPdf(pdf);
  const contents = file.array(file.page(0)?.dict.get("Contents")) ?? [];
  return contents
    .map((item) => file.stream(item))
    .map((stream) => (stream ? Buffer.from(file.decode(stream)).toString("latin1") : ""))
    .join("\n");
}

type PageOptions = { rotate?: number; crop?: [number, number, number, number]; font?: string; filter?: string };

/** A page of 400 by 300 with this content, Helvetica as /F1. */
async function pageWith(content: string, { rotate = 0, crop, font = "Helvetica", filter }: PageOptions = {}) {
  const document = await PDFDocument.create();
  const page = document.addPage([400, 300]);
  page.setRotation(degrees(rotate));
  if (crop) page.setCropBox(...crop);
  const { context } = document;
  const dict = context.obj({ Type: "Font", Subtype: "Type1", BaseFont: font, Encoding: "WinAnsiEncoding" });
  const image = await document.embedPng(solidPng(4, 4, [0, 0, 0]));
  await image.embed();
  const form = context.stream("BT /F1 12 Tf 1 0 0 1 5 5 Tm (Formtext) Tj ET", {
    Type: "XObject",
    Subtype: "Form",
    BBox: [0, 0, 100, 30],
    Resources: { Font: { F1: dict } },
  });
  const square = context.obj({
    Type: "Font",
    Subtype: "Type3",
    FontBBox: [0, 0, 10, 10],
    FontMatrix: [0.1, 0, 0, 0.1, 0, 0],
  });
  square.set(PDFName.of("FirstChar"), context.obj(97));
  square.set(PDFName.of("LastChar"), context.obj(97));
  square.set(PDFName.of("Widths"), context.obj([10]));
  square.set(PDFName.of("Encoding"), context.obj({ Type: "Encoding", Differences: [97, "square"] }));
  square.set(
    PDFName.of("CharProcs"),
    context.obj({ square: context.register(context.stream("10 0 d0 0 0 8 8 re f")) }),
  );
  const resources = context.obj({
    Font: { F1: dict, F3: square },
    XObject: { Im: image.ref, Fm: context.register(form) },
    Properties: { Hidden: { ActualText: context.obj("secret") } },
  });
  page.node.set(PDFName.of("Resources"), resources);
  page.node.set(PDFName.of("Contents"), context.register(context.stream(content, filter ? { Filter: filter } : {})));
  return document.save({ useObjectStreams: false });
}

const LINE = "BT /F1 12 Tf 50 200 Td (One secret three) Tj 0 -20 Td (Second line) Tj ET";

describe("text under a white-out", () => {
  it("is gone for two readers, and everything else stays where it was", async () => {
    const before = wordsOf(lecture, 1);
    const word = find(before, "Bedeutung");
    const { pdf, warned } = await whitened(lecture, [around(word)]);
    expect(warned).toEqual([]);
    expect(textOf(lecture, 1)).toContain("seine Bedeutung");
    expect(textOf(pdf, 1)).not.toContain("seine Bedeutung");
    expect(mutoolText(pdf, 1)).not.toContain("seine Bedeutung");
    const index = before.indexOf(word);
    expectKept([...before.slice(0, index), ...before.slice(index + 1)], wordsOf(pdf, 1), []);
    expect(pdf.subarray(0, lecture.length).equals(lecture)).toBe(true);
  });

  it("leaves the ink of the page as it was outside of the boxes", async () => {
    const words = wordsOf(lecture, 2).filter((word) => word.text.length > 5);
    const boxes = words.filter((_, index) => index % 3 === 0).map((word) => around(word, 2));
    const { pdf } = await whitened(lecture, boxes);
    const [was, is] = [render(lecture, 2), render(pdf, 2)];
    const inside = (x: number, y: number) =>
      boxes.some((box) => x > box.x - 2 && x < box.x + box.width + 2 && y > box.y - 2 && y < box.y + box.height + 2);
    let different = 0;
    for (let y = 0; y < was.height; y++) {
      for (let x = 0; x < was.width; x++) if (!inside(x, y) && Math.abs(was.at(x, y) - is.at(x, y)) > 60) different++;
    }
    expect(different).toBe(0);
  });

  it.each([
    ["a string", LINE],
    [
      "an array with kerning",
      "BT /F1 12 Tf 50 200 Td [(One ) -200 (sec) 15 (ret) -300 ( three)] TJ 0 -20 Td (Second line) Tj ET",
    ],
    ["spacing and scale", "BT /F1 12 Tf 2 Tc 5 Tw 80 Tz 50 200 Td (One secret three) Tj ( four) Tj ET"],
    ["a next line by apostrophe", "BT /F1 12 Tf 14 TL 50 220 Td (First) Tj (One secret three) ' (Second line) Tj ET"],
    [
      "a next line by quotation mark",
      "BT /F1 12 Tf 14 TL 50 220 Td (First) Tj 3 1 (One secret three) \" (Second line) ' ET",
    ],
    [
      "a matrix",
      "q 2 0 0 2 10 20 cm BT /F1 1 Tf 6 0 0 6 30 70 Tm (One secret three) Tj ET Q BT /F1 9 Tf 5 9 Td (low) Tj ET",
    ],
    ["a rise and a leading", "BT /F1 12 Tf 50 200 Td 3 Ts (One ) Tj (secret three) Tj 0 -15 TD (a) Tj T* (b) Tj ET"],
    ["a hexadecimal string", "BT /F1 12 Tf 50 200 Td <4f6e652073656372657420746872656520> Tj ET"],
    ["invisible letters", "BT 3 Tr /F1 12 Tf 50 200 Td (One secret three) Tj ET"],
  ])("is cut out of %s", async (_name, content) => {
    const page = await pageWith(content);
    const before = wordsOf(page, 1);
    const { pdf, warned } = await whitened(page, [around(find(before, "secret"))]);
    expect(warned).toEqual([]);
    expectKept(before, wordsOf(pdf, 1), ["secret"]);
    expect(mutoolText(pdf, 1)).not.toContain("secret");
    const letters = (text: string) => text.replace(/\s/g, "").split("").sort().join("");
    expect(letters(`${mutoolText(pdf, 1)}secret`)).toBe(letters(mutoolText(page, 1)));
  });

  it.each([90, 180, 270, 0])("is found on a cropped page rotated by %d", async (rotate) => {
    const page = await pageWith(LINE, { rotate, crop: [30, 40, 300, 250] });
    const { pdf, warned } = await whitened(page, [around(find(wordsOf(page, 1), "secret"))]);
    expect(warned).toEqual([]);
    expectKept(wordsOf(page, 1), wordsOf(pdf, 1), ["secret"]);
  });

  it.each([StandardFonts.Courier, StandardFonts.TimesRomanBold, StandardFonts.HelveticaOblique])(
    "is measured in %s without widths",
    async (font) => {
      const page = await pageWith(LINE, { font });
      const before = wordsOf(page, 1);
      const { pdf, warned } = await whitened(page, [around(find(before, "secret"))]);
      expect(warned).toEqual([]);
      expectKept(before, wordsOf(pdf, 1), ["secret"]);
    },
  );

  it("is found in composite fonts", async () => {
    const item = itemOf(
      { kind: "text", text: "One secret three", page: 1, x: 40, y: 30, width: 300, height: 24 },
      0,
    )?.item;
    const pages = [{ width: 400, height: 300, items: [item] }];
    const { pdf: own } = await typeset({ template: "overlay.typ", data: { pages }, fonts: new Set(item?.fonts) });
    const before = wordsOf(own, 1);
    const { pdf, warned } = await whitened(own, [around(find(before, "secret"))]);
    expect(warned).toEqual([]);
    expectKept(before, wordsOf(pdf, 1), ["secret"]);
    expect(mutoolText(pdf, 1)).not.toContain("secret");
  });

  it("loses the letters that are covered when only part of a word is, and says so only when a letter is cut", async () => {
    const page = await pageWith(LINE);
    const word = find(wordsOf(page, 1), "secret");
    // "sec" takes 1556 of the 2723 thousandths that the word is wide.
    const half = { ...around(word), width: ((word.right - word.x) * 1556) / 2723 + 0.5 };
    const { pdf, warned } = await whitened(page, [half]);
    expect(textOf(pdf, 1)).toContain("One");
    expect(textOf(pdf, 1)).not.toContain("secret");
    expect(wordsOf(pdf, 1).map(({ text }) => text)).toContain("ret");
    expect(warned).toEqual([]);
    const flat = await whitened(page, [{ ...around(word), y: word.y + 6, height: 4 }]);
    expect(textOf(flat.pdf, 1)).toContain("secret");
    expect(flat.warned).toEqual([[1, 1]]);
  });

  it("does not stay behind as the text that stands for a marked sequence", async () => {
    const content = `/Span <</MCID 3 /ActualText (secret)>> BDC ${LINE} EMC`;
    const page = await pageWith(content);
    const plain = await pageWith(LINE);
    const { pdf, warned } = await whitened(page, [around(find(wordsOf(plain, 1), "secret"))]);
    expect(warned).toEqual([]);
    expect(textOf(pdf, 1)).not.toContain("secret");
    expect(contentOf(pdf)).toContain("/MCID 3");
    expect(contentOf(pdf)).not.toContain("ActualText");
  });

  it("touches no other page, and no page without white-outs", async () => {
    const { pdf } = await whitened(lecture, [around(find(wordsOf(lecture, 1), "Bedeutung"))]);
    const [before, after] = [openPdf(lecture), openPdf(pdf)];
    for (let page = 1; page < before.pages().length; page++) {
      expect(after.page(page)?.dict).toEqual(before.page(page)?.dict);
      expect(after.get(after.page(page)?.ref ?? after.catalogRef)).toEqual(
        before.get(before.page(page)?.ref ?? before.catalogRef),
      );
    }
  });

  it("leaves the content as it is where nothing lies under the box", async () => {
    const page = await pageWith(LINE);
    const { pdf, warned } = await whitened(page, [{ page: 1, x: 200, y: 200, width: 50, height: 50 }]);
    expect(warned).toEqual([]);
    const [before, after] = [openPdf(page).page(0), openPdf(pdf).page(0)];
    expect(after?.dict.get("Contents")).toContainEqual(before?.dict.get("Contents"));
  });
});

describe("pictures under a white-out", () => {
  const image = "q 60 0 0 40 50 100 cm /Im Do Q";
  const inline = "q 60 0 0 40 50 100 cm BI /W 2 /H 2 /BPC 8 /CS /G ID \x00EI\x01 EI Q";
  const over = { page: 1, x: 48, y: 158, width: 64, height: 44 };

  it.each([
    ["picture", image],
    ["inline picture", inline],
    ["compressed inline picture", "q 60 0 0 40 50 100 cm BI /W 2 /H 2 /BPC 8 /CS /G /F /AHx ID 00000000> EI Q"],
    ["form", "q 0.6 0 0 1.3 50 100 cm /Fm Do Q"],
  ])("go when it is a %s that is covered whole", async (_name, content) => {
    const page = await pageWith(`${content} ${LINE}`);
    const { pdf, warned } = await whitened(page, [over]);
    expect(warned).toEqual([]);
    expect(contentOf(pdf)).not.toMatch(/\/Im Do|\/Fm Do|\bBI\b/);
    expect(textOf(pdf, 1)).toContain("One secret three");
  });

  it("stay and are warned of when they are covered in part", async () => {
    for (const content of [image, inline]) {
      const page = await pageWith(content);
      const { pdf, warned } = await whitened(page, [
        { ...over, width: 30 },
        { ...over, x: 300, width: 30 },
      ]);
      expect(warned).toEqual([[1, 1]]);
      expect(contentOf(pdf)).toMatch(/\/Im Do|\bBI\b/);
    }
  });

  it("stay where a white-out covers an earlier drawing", async () => {
    const page = await pageWith("");
    const picture: Drawing = {
      kind: "image",
      image: solidPng(2, 2, [0, 0, 0]),
      page: 1,
      x: 30,
      y: 30,
      width: 40,
      height: 40,
    };
    expect((await whitened(page, [over], [picture])).warned).toEqual([]);
    expect((await whitened(page, [{ ...over, x: 40, y: 40 }], [picture])).warned).toEqual([[1, 1]]);
  });
});

describe("what is not understood stays and is warned of", () => {
  const line = { page: 1, x: 40, y: 80, width: 300, height: 30 };
  const elsewhere = { ...line, y: 200 };
  const kept: [string, string][] = [
    ["letters that are drawings", "BT /F3 12 Tf 50 200 Td (aaaa) Tj ET"],
    ["letters of an unknown font", "BT /F9 12 Tf 50 200 Td (secret) Tj ET"],
    ["letters that clip", "q BT 7 Tr /F1 12 Tf 50 200 Td (secret) Tj ET Q"],
    ["text in a form", "q 1 0 0 1 50 195 cm 5 0 0 1 -40 0 cm /Fm Do Q"],
  ];
  it.each(kept)("%s", async (_name, content) => {
    const page = await pageWith(content);
    const under = await whitened(page, [line]);
    expect(under.warned).toEqual([[1, 1]]);
    expect(openPdf(under.pdf).page(0)?.dict.get("Contents")).toContainEqual(
      openPdf(page).page(0)?.dict.get("Contents"),
    );
    expect((await whitened(page, [elsewhere])).warned).toEqual([]);
  });

  it("marked content whose text stands in the resources", async () => {
    const page = await pageWith(`/Span /Hidden BDC ${LINE} EMC`);
    expect((await whitened(page, [line])).warned).toEqual([[1, 1]]);
  });

  it("form fields and notes", async () => {
    const page = await samplePdf({ form: true });
    const over = { page: 1, x: 45, y: 200, width: 300, height: 60 };
    expect((await whitened(page, [over])).warned).toEqual([[1, 1]]);
    expect((await whitened(page, [{ ...over, y: 500 }])).warned).toEqual([]);
  });

  it.each([
    ["an unknown operator", `${LINE} 1 2 frob`],
    ["a restore without a save", `Q ${LINE}`],
    ["a string that does not end", `${LINE} (`],
    ["an inline picture that does not end", `${LINE} BI /W 900 /H 900 /BPC 8 /CS /G ID xx`],
    ["a number that readers take differently", `1--2 0 0 1 0 0 cm ${LINE}`],
    [
      "numbers beyond measure",
      `q ${"9".repeat(39)} 0 0 1 0 0 cm ${"q 99999999999999999999 0 0 1 0 0 cm ".repeat(30)} ${LINE}`,
    ],
  ])("a page with %s", async (_name, content) => {
    const page = await pageWith(content);
    const stamped = await stamp({
      pdf: page,
      drawings: [
        { kind: "whiteout", ...line },
        { kind: "whiteout", ...elsewhere },
      ],
      watermark: null,
      at: AT,
    });
    if (!stamped.ok) throw new Error(stamped.error.message);
    const counts = stamped.value.warnings.map(({ code, count }) => [code, count]);
    expect(counts).toContainEqual(["text-under-whiteout", 2]);
  });

  it("a page whose content is no content", async () => {
    const pdf = await pageWith(Buffer.from(LINE).toString("hex"), { filter: "DCTDecode" });
    const stamped = await stamp({ pdf, drawings: [{ kind: "whiteout", ...line }], watermark: null, at: AT });
    expect(stamped.ok && stamped.value.warnings.map(({ code, count }) => [code, count])).toEqual([
      ["text-under-whiteout", 1],
    ]);
  });

  it("content that would take forever", async () => {
    const deep = await pageWith("q ".repeat(20_000) + LINE);
    const many = await pageWith(`BT /F1 1 Tf 0 0 Td (${"a".repeat(3_000_000)}) Tj ET`);
    for (const pdf of [deep, many]) {
      const boxes = Array.from({ length: 200 }, (_, index) => ({
        page: 1,
        x: 10 + index,
        y: 0,
        width: 300,
        height: 300,
      }));
      const started = performance.now();
      const result = await stamp({
        pdf,
        drawings: boxes.map((box) => ({ kind: "whiteout" as const, ...box })),
        watermark: null,
        at: AT,
      });
      expect(performance.now() - started).toBeLessThan(60_000);
      expect(result.ok && result.value.warnings.map(({ count }) => count)).toEqual([200]);
    }
  });
});
