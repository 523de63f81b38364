import {
  GlobalWorkerOptions,
  getDocument,
  type PDFDocumentProxy,
  type PDFPageProxy,
  TextLayer,
  version,
} from "pdfjs-dist/legacy/build/pdf.mjs";
import workerUrl from "pdfjs-dist/legacy/build/pdf.worker.min.mjs?url";
import { linesOfText, type PageLines, rulesOf } from "./page-lines.ts";

export type PageSize = { page: number; width: number; height: number };

/** The heavy part of the PDF view: loaded only when there is a document to show. */

GlobalWorkerOptions.workerSrc = workerUrl;
const files = `/assets/pdfjs-${version}`;

/** Safari refuses canvases with more pixels than this. */
const maxPixels = 16_000_000;

export type OpenPdf = {
  pageCount: number;
  /** Opens the page, which takes a moment: a document is shown before all of its pages were asked. */
  sizeOf(page: number): Promise<PageSize>;
  draw: DrawPage;
  /** What is printed on the page, as lines that others fall into line with. */
  lines(page: number): Promise<PageLines>;
  close(): void;
};
type DrawPage = (options: {
  /** 1-based. */
  page: number;
  /** CSS pixels a point. */
  scale: number;
  canvas: HTMLCanvasElement;
  /** Where the text goes, if it is to be read and selected. */
  text?: HTMLElement;
  signal: AbortSignal;
}) => Promise<void>;

/**
 * Opens a document for drawing.
 * @param bytes taken over: the caller's array cannot be used afterwards
 */
export async function openPdf(bytes: Uint8Array): Promise<OpenPdf> {
  const { pdf, close } = await loadPdf(bytes);
  return {
    pageCount: pdf.numPages,
    async sizeOf(page) {
      const { width, height } = (await pdf.getPage(page)).getViewport({ scale: 1 });
      return { page, width, height };
    },
    draw: (options) => drawPage(pdf, options),
    lines: (page) => linesOf(pdf, page),
    close,
  };
}

/** @param bytes taken over: the caller's array cannot be used afterwards */
export async function loadPdf(bytes: Uint8Array): Promise<{ pdf: PDFDocumentProxy; close: () => void }> {
  const task = getDocument({
    data: bytes,
    cMapUrl: `${files}/cmaps/`,
    standardFontDataUrl: `${files}/standard_fonts/`,
    wasmUrl: `${files}/wasm/`,
    iccUrl: `${files}/iccs/`,
    // A document looks the same on every device: never with whatever faces happen to be installed.
    useSystemFonts: false,
    enableXfa: false,
  });
  return { pdf: await task.promise, close: () => void task.destroy() };
}

async function linesOf(pdf: PDFDocumentProxy, number: number): Promise<PageLines> {
  const page = await pdf.getPage(number);
  const { transform, width, height } = page.getViewport({ scale: 1 });
  const [operators, text] = await Promise.all([page.getOperatorList(), page.getTextContent()]);
  const runs = text.items.flatMap((item) => ("str" in item && item.str.trim() !== "" ? [item] : []));
  return { rules: rulesOf(operators, transform, { width, height }), ...linesOfText(runs, transform) };
}

async function drawPage(pdf: PDFDocumentProxy, options: Parameters<DrawPage>[0]): Promise<void> {
  const { canvas, text, signal } = options;
  const page = await pdf.getPage(options.page);
  if (signal.aborted) return;
  const viewport = page.getViewport({ scale: options.scale });
  const ratio = Math.min(
    Math.max(window.devicePixelRatio || 1, 1),
    Math.sqrt(maxPixels / (viewport.width * viewport.height)),
  );
  canvas.width = Math.floor(viewport.width * ratio);
  canvas.height = Math.floor(viewport.height * ratio);
  const rendering = page.render({ canvas, viewport, transform: [ratio, 0, 0, ratio, 0, 0] });
  signal.addEventListener("abort", () => rendering.cancel(), { once: true });
  try {
    await rendering.promise;
    if (text) await layText(page, viewport, text, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Lays invisible text over the picture, so that it can be selected, searched and read aloud. */
async function layText(
  page: PDFPageProxy,
  viewport: ReturnType<PDFPageProxy["getViewport"]>,
  container: HTMLElement,
  signal: AbortSignal,
): Promise<void> {
  container.replaceChildren();
  container.style.setProperty("--total-scale-factor", String(viewport.scale));
  const layer = new TextLayer({ textContentSource: page.streamTextContent(), container, viewport });
  signal.addEventListener("abort", () => layer.cancel(), { once: true });
  await layer.render();
}
