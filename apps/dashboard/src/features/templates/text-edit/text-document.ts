import { type PDFPageProxy, Util } from "pdfjs-dist/legacy/build/pdf.mjs";
import { loadPdf } from "../../../../../shared/pdf/document.ts";
import { type Colors, colorsIn } from "./colors.ts";
import { type FontLook, linesOf, type Run, type TextLine } from "./text-lines.ts";

/** A document opened to read its text and colours. Loaded only when text is edited. */

export type PageText = { runs: Run[]; lines: TextLine[]; fonts: ReadonlyMap<string, FontLook> };
export type TextDocument = {
  /** @param page 1-based */
  read: (page: number) => Promise<PageText>;
  colorsOf: (page: number, line: TextLine) => Promise<Colors>;
  close: () => void;
};

/** Pixels a point that colours are looked at with: a stroke of small letters is then wider than its soft edges. */
const sharpness = 4;

/** @param bytes taken over: the caller's array cannot be used afterwards */
export async function openTextDocument(bytes: Uint8Array): Promise<TextDocument> {
  const { pdf, close } = await loadPdf(bytes);
  return {
    read: async (page) => readPage(await pdf.getPage(page)),
    colorsOf: async (page, line) => colorsOn(await pdf.getPage(page), line),
    close,
  };
}

async function readPage(page: PDFPageProxy): Promise<PageText> {
  const viewport = page.getViewport({ scale: 1 });
  const content = await page.getTextContent();
  // Fonts have their names once the page's operators are there.
  await page.getOperatorList();
  const fonts = new Map(
    Object.entries(content.styles).map(([key, { fontFamily, ascent, descent }]) => [
      key,
      { name: nameOf(page, key), family: fontFamily, ascent, descent },
    ]),
  );
  const runs = content.items.flatMap((item): Run[] => {
    if (!("str" in item)) return [];
    const matrix: number[] = Util.transform(viewport.transform, item.transform);
    return [{ text: item.str, isRtl: item.dir === "rtl", matrix, width: item.width, font: item.fontName }];
  });
  return { runs, fonts, lines: linesOf(runs, fonts, viewport.width) };
}

function nameOf(page: PDFPageProxy, key: string): string {
  const font: unknown = page.commonObjs.has(key) ? page.commonObjs.get(key) : null;
  return font !== null && typeof font === "object" && "name" in font && typeof font.name === "string" ? font.name : "";
}

async function colorsOn(page: PDFPageProxy, { x, baseline, width, ascent, descent }: TextLine): Promise<Colors> {
  const [left, top] = [x - 1, baseline - ascent - 0.5];
  const canvas = document.createElement("canvas");
  canvas.width = Math.min(4000, Math.ceil((width + 2) * sharpness));
  canvas.height = Math.ceil((ascent + descent + 1) * sharpness);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) return { background: "#ffffff", ink: "#000000" };
  const viewport = page.getViewport({ scale: sharpness, offsetX: -left * sharpness, offsetY: -top * sharpness });
  await page.render({ canvas, canvasContext: context, viewport }).promise;
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  return colorsIn(data, canvas.width, canvas.height);
}
