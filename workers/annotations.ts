/** Annotations that a PDF brings along: readers draw them in front of the page, also of what is stamped on it. */
import { decodeStream } from "./pdf/filters.ts";
import { type PdfDict, PdfError, PdfStream } from "./pdf/objects.ts";
import { type Budget, isRegular } from "./pdf/parser.ts";
import type { PdfFile, PdfPage } from "./pdf/reader.ts";
import type { Drawing, Warning } from "./protocol.ts";
import { type Bounds, boundsOf, toDisplay } from "./whiteout.ts";

const HIDDEN = 2;
const NO_VIEW = 32;
/** Far outside of every page; readers reckon with single precision. */
const FAR = 1e9;
/** Of lines of annotations that readers draw on their own, in points. */
const THICK = 8;
/** Line of an appearance, to its smaller side. */
const THICK_SHARE = 0.05;
/** Parts of lines in an appearance: a frame has four, hatching hundreds. */
const MAX_LINES = 16;
/** Readers fill these with /C. */
const FILLED_WITH_C = new Set(["FreeText"]);
const MAX_APPEARANCE = 1024 * 1024;
/** Decoded bytes of all appearances in a file. */
const MAX_APPEARANCES = 64 * 1024 * 1024;
/** Of a page, and of a file. */
const MAX_ANNOTATIONS = 2000;
const MAX_STATES = 8;
/** Numbers and operators are not longer. */
const MAX_WORD = 32;
const MAX_ALL_ANNOTATIONS = 20_000;
/** Of the drawing or of the page. */
const SMALL_SHARE = 0.1;
const LARGE_SHARE = 0.5;

/** A warning with the number of `drawings` on this page that annotations with filled areas cover to a tenth or more. */
export function annotationsInFront(file: PdfFile, page: PdfPage, drawings: readonly Drawing[]): Warning[] {
  if (!page.dict.has("Annots")) return [];
  const own = drawings.filter((drawing) => drawing.page === page.index + 1);
  const covered = new Set<Drawing>();
  try {
    for (const { bounds, paints } of annotationsOf(file, page)) {
      const hit = own.filter((drawing) => !covered.has(drawing) && share(boxOf(drawing), bounds) > SMALL_SHARE);
      if (hit.length > 0 && paints()) for (const drawing of hit) covered.add(drawing);
    }
  } catch (error) {
    // A warning is not worth failing a stamp for.
    if (!(error instanceof PdfError)) throw error;
  }
  if (covered.size === 0) return [];
  const message =
    "A comment, stamp or form field of the PDF lies in front of a field and may hide what is entered in it.";
  return [{ code: "annotation-in-front", message, page: page.index + 1, count: covered.size }];
}

/** A warning for each of `pages` that one annotation with filled areas covers by half or more. */
export function coveredPages(file: PdfFile, pages: readonly PdfPage[]): Warning[] {
  const message =
    "A comment or stamp of the PDF covers much of this page; it may hide the fields that are placed there.";
  return pages.flatMap((page) => {
    if (!page.dict.has("Annots")) return [];
    const whole = boundsOf(toDisplay(page), page.cropBox);
    const found = annotationsOf(file, page).some(
      ({ bounds, paints }) => share(whole, bounds) >= LARGE_SHARE && paints(),
    );
    return found ? [{ code: "annotation-over-page", message, page: page.index + 1 }] : [];
  });
}

/** `bounds` in points from the top left corner of the page as displayed; `paints` looks whether it fills any area. */
type Annotation = { bounds: Bounds; paints: () => boolean };

type Looking = { left: number; budget: Budget; paints: Map<PdfStream, boolean> };
const lookings = new WeakMap<PdfFile, Looking>();

function lookingAt(file: PdfFile): Looking {
  const known = lookings.get(file);
  if (known) return known;
  const budget = { objects: 0, scan: 0, inflate: MAX_APPEARANCES };
  const looking = { left: MAX_ALL_ANNOTATIONS, budget, paints: new Map() };
  lookings.set(file, looking);
  return looking;
}

function annotationsOf(file: PdfFile, page: PdfPage): Annotation[] {
  const found: Annotation[] = [];
  const seen = new Set<PdfDict>();
  const looking = lookingAt(file);
  for (const item of file.array(page.dict.get("Annots"))?.slice(0, Math.min(MAX_ANNOTATIONS, looking.left)) ?? []) {
    looking.left--;
    const annotation = file.dict(item);
    if (!annotation || seen.has(annotation)) continue;
    seen.add(annotation);
    const sides = file.array(annotation.get("Rect"))?.map((side) => clamped(file.number(side) ?? 0));
    const flags = file.number(annotation.get("F")) ?? 0;
    if (sides?.length !== 4 || (flags & (HIDDEN | NO_VIEW)) !== 0) continue;
    found.push({ bounds: boundsOf(toDisplay(page), sides), paints: () => fillsArea(file, annotation) });
  }
  return found;
}

const clamped = (side: number): number => Math.min(Math.max(side, -FAR), FAR);

function fillsArea(file: PdfFile, annotation: PdfDict): boolean {
  const normal = file.resolve(file.dict(annotation.get("AP"))?.get("N"));
  if (normal instanceof PdfStream) return looksFilled(file, normal);
  const states = file.dict(normal);
  if (!states) return isFilledByReaders(file, annotation);
  const state = file.name(annotation.get("AS"));
  // Readers differ in which state they take when none is named.
  const shown = state === null ? [...states.map.values()].slice(0, MAX_STATES) : [states.get(state)];
  return shown.some((item) => {
    const stream = file.stream(item);
    return stream !== null && looksFilled(file, stream);
  });
}

/** Without an appearance readers draw some annotations on their own, in the colours that these name. */
function isFilledByReaders(file: PdfFile, annotation: PdfDict): boolean {
  const colored = (dict: PdfDict | null, key: string): boolean => (file.array(dict?.get(key))?.length ?? 0) > 0;
  const width = file.number(file.dict(annotation.get("BS"))?.get("W")) ?? 0;
  const border = file.number(file.array(annotation.get("Border"))?.[2]) ?? 0;
  if (colored(annotation, "IC") || colored(file.dict(annotation.get("MK")), "BG")) return true;
  if (Math.max(width, border) >= THICK) return true;
  return FILLED_WITH_C.has(file.name(annotation.get("Subtype")) ?? "") && colored(annotation, "C");
}

function looksFilled(file: PdfFile, stream: PdfStream): boolean {
  const { paints, budget } = lookingAt(file);
  const known = paints.get(stream) ?? streamFills(file, stream, budget);
  paints.set(stream, known);
  return known;
}

function streamFills(file: PdfFile, stream: PdfStream, budget: Budget): boolean {
  // What is too much to be looked at here is more than a line of text.
  if (budget.inflate <= 0) return true;
  try {
    const bytes = decodeStream(file, stream, budget, MAX_APPEARANCE, { unclear: false });
    if (bytes === stream.raw) budget.inflate -= bytes.length;
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] =
      file.array(stream.dict.get("BBox"))?.map((side) => file.number(side) ?? 0) ?? [];
    return holdsFill(bytes, THICK_SHARE * Math.min(Math.abs(x1 - x0), Math.abs(y1 - y0)));
  } catch (error) {
    if (error instanceof PdfError) return true;
    throw error;
  }
}

const FILLS = new Set(["f", "F", "f*", "B", "B*", "b", "b*", "sh", "Do", "BI"]);
/** Behind these the width of a line is not what it was set to. */
const SCALES = new Set(["cm", "gs"]);
const LINES = new Set(["l", "c", "v", "y", "re", "h"]);

/**
 * A line covers much when it is wider than `thick`, or one of many. Text of strings may count too: a warning too many is
 * better than one too few.
 */
function holdsFill(bytes: Uint8Array, thick: number): boolean {
  let width = 1;
  let [scaled, strokes, lines, before] = [false, false, 0, ""];
  for (let at = 0; at < bytes.length; ) {
    if (!isRegular(bytes[at] ?? 0)) {
      at++;
      continue;
    }
    const start = at;
    while (at < bytes.length && isRegular(bytes[at] ?? 0)) at++;
    if (at - start > MAX_WORD || bytes[start - 1] === 0x2f) continue;
    const word = latin1(bytes, start, at);
    if (FILLS.has(word)) return true;
    if (SCALES.has(word)) scaled = true;
    else if (word === "w") width = Math.max(width, Number.parseFloat(before) || 0);
    else if (word === "S" || word === "s") strokes = true;
    else if (LINES.has(word)) lines++;
    if (strokes && (scaled || width > thick || lines > MAX_LINES)) return true;
    before = word;
  }
  return false;
}

const latin1 = (bytes: Uint8Array, start: number, end: number): string =>
  String.fromCharCode(...bytes.subarray(start, end));

const boxOf = ({ x, y, width, height }: Drawing): Bounds => ({ x0: x, y0: y, x1: x + width, y1: y + height });

/** How much of `area` lies under `cover`, 0 to 1. */
function share(area: Bounds, cover: Bounds): number {
  const across = Math.min(area.x1, cover.x1) - Math.max(area.x0, cover.x0);
  const down = Math.min(area.y1, cover.y1) - Math.max(area.y0, cover.y0);
  const whole = (area.x1 - area.x0) * (area.y1 - area.y0);
  return across > 0 && down > 0 && whole > 0 ? (across * down) / whole : 0;
}
