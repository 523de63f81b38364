import {
  GlobalWorkerOptions,
  getDocument,
  type PDFDocumentProxy,
  type PDFPageProxy,
  TextLayer,
  version,
} from "pdfjs-dist/legacy/build/pdf.mjs";
import workerUrl from "pdfjs-dist/legacy/build/pdf.worker.min.mjs?url";

export type PageSize = { page: number; width: number; height: number };

/** The heavy part of the PDF view: loaded only when there is a document to show. */

GlobalWorkerOptions.workerSrc = workerUrl;
const files = `/assets/pdfjs-${version}`;

/** Safari refuses canvases with more pixels than this. */
const maxPixels = 16_000_000;

/** `further`: sizes in points of the pages beyond those that were known before. */
export type OpenPdf = { further: PageSize[]; draw: DrawPage; close(): void };
type DrawPage = (options: {
  /** 1-based. */
  page: number;
  /** CSS pixels a point. */
  scale: number;
  canvas: HTMLCanvasElement;
  text: HTMLElement;
  signal: AbortSignal;
}) => Promise<void>;

/**
 * Opens a document for drawing.
 * @param bytes taken over: the caller's array cannot be used afterwards
 * @param known how many pages the caller knows the sizes of
 */
export async function openPdf(bytes: Uint8Array, known: number): Promise<OpenPdf> {
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
  const pdf = await task.promise;
  return {
    further: await sizesFrom(pdf, known + 1),
    draw: (options) => drawPage(pdf, options),
    close: () => void task.destroy(),
  };
}

async function sizesFrom(pdf: PDFDocumentProxy, first: number): Promise<PageSize[]> {
  const sizes: PageSize[] = [];
  for (let page = first; page <= pdf.numPages; page += 1) {
    const { width, height } = (await pdf.getPage(page)).getViewport({ scale: 1 });
    sizes.push({ page, width, height });
  }
  return sizes;
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
    await layText(page, viewport, text, signal);
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
