/** Stamping 20 fields and 2 pictures on 5 pages against pdf-lib, which loads and saves the whole file. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import fontkit from "@pdf-lib/fontkit";
import { PDFDocument, type PDFFont, rgb, StandardFonts } from "pdf-lib";
import type { Drawing } from "../../workers/protocol.ts";
import { stamp } from "../../workers/stamp.ts";
import { samplePdf } from "../harness/pdfs.ts";
import { inkPng } from "../harness/pictures.ts";
import { median, timed } from "./median.ts";

type Ratio = { name: string; ratio: number; target: string; detail: string };

const ROUNDS = 31;
const AT = "2026-11-21T10:00:00.000Z";
const fixture = fileURLToPath(new URL("../fixtures/pdf/lecture.pdf", import.meta.url));

/**
 * `ratio` is pdf-lib's time over ours: medians of interleaved rounds, the first five left out. The first row compares
 * equal work: names come in every script, so the font is embedded, and as a subset. The second lets pdf-lib name a
 * built-in font, which has Western European letters only and is not embedded.
 */
export async function benchStamp(): Promise<Ratio[]> {
  const pdf = await fivePages(await readFile(fixture));
  const noto = await readFile(
    fileURLToPath(import.meta.resolve("@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf")),
  );
  const pictures = [inkPng(600, 200, 1), inkPng(600, 200, 2)];
  const large = await samplePdf({ pages: 5, ballast: 20 * 1024 * 1024 });
  const times: { ours: number; subset: number; builtIn: number; large: number; largeSubset: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    // New text every time, so that no cache of the typesetter answers.
    const texts = Array.from({ length: 20 }, (_, index) => `Field value ${round}.${index} of Zo\u00eb`);
    times.push({
      ours: await timed(() => stampOurs(pdf, texts, pictures)),
      subset: await timed(() => stampTheirs(pdf, texts, pictures, (document) => embedSubset(document, noto))),
      builtIn: await timed(() =>
        stampTheirs(pdf, texts, pictures, (document) => document.embedFont(StandardFonts.Helvetica)),
      ),
      large: await timed(() => stampOurs(large, texts, pictures)),
      largeSubset: await timed(() => stampTheirs(large, texts, pictures, (document) => embedSubset(document, noto))),
    });
  }
  const middle = (key: keyof (typeof times)[number]): number => median(times.slice(5).map((round) => round[key]));
  const row = (name: string, theirs: number, target: string, ours = middle("ours")): Ratio => {
    return { name, ratio: theirs / ours, target, detail: `${ours.toFixed(1)} ms, pdf-lib ${theirs.toFixed(1)} ms` };
  };
  return [
    row(
      "stamping 20 fields and 2 pictures on 5 pages, pdf-lib with an embedded font \u00f7 ours",
      middle("subset"),
      "\u2265 5",
    ),
    row("the same, pdf-lib with a built-in Latin font \u00f7 ours", middle("builtIn"), "none"),
    row(
      "the same on 20 MB, pdf-lib with an embedded font \u00f7 ours",
      middle("largeSubset"),
      "\u2265 5",
      middle("large"),
    ),
  ];
}

async function embedSubset(document: PDFDocument, bytes: Uint8Array): Promise<PDFFont> {
  document.registerFontkit(fontkit);
  return document.embedFont(bytes, { subset: true });
}

async function fivePages(source: Uint8Array): Promise<Uint8Array> {
  const out = await PDFDocument.create();
  const pages = await out.copyPages(await PDFDocument.load(source), [0, 1, 2, 3, 4]);
  for (const page of pages) out.addPage(page);
  return out.save();
}

/** Four fields a page, a picture on the last two. */
const place = (index: number): { page: number; x: number; y: number } => {
  return { page: Math.floor(index / 4) + 1, x: 60, y: 500 + (index % 4) * 30 };
};

async function stampOurs(pdf: Uint8Array, texts: string[], pictures: Uint8Array[]): Promise<void> {
  const drawings: Drawing[] = [
    ...texts.map((text, index) => ({ kind: "text" as const, text, size: 11, width: 200, height: 20, ...place(index) })),
    ...pictures.map((image, index) => {
      return { kind: "image" as const, image, page: 4 + index, x: 300, y: 500, width: 150, height: 50 };
    }),
  ];
  const result = await stamp({ pdf, drawings, watermark: null, at: AT });
  if (!result.ok) throw new Error(result.error.message);
}

async function stampTheirs(
  pdf: Uint8Array,
  texts: string[],
  pictures: Uint8Array[],
  embed: (document: PDFDocument) => Promise<PDFFont>,
): Promise<void> {
  const document = await PDFDocument.load(pdf);
  const font = await embed(document);
  const pages = document.getPages();
  for (const [index, text] of texts.entries()) {
    const { page, x, y } = place(index);
    pages[page - 1]?.drawText(text, { x, y: 842 - y - 15, size: 11, font, color: rgb(0, 0, 0) });
  }
  for (const [index, picture] of pictures.entries()) {
    const image = await document.embedPng(picture);
    pages[3 + index]?.drawImage(image, { x: 300, y: 292, width: 150, height: 50 });
  }
  await document.save();
}
