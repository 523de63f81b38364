/**
 * Draws over the pages of a PDF by appending one revision (ISO 32000-1 §7.5.6): the output is what belongs behind the
 * input, which stays as it is. All text is typeset in one run; each page then gets its drawings in their order.
 */
import { createHash } from "node:crypto";
import { annotationsInFront } from "./annotations.ts";
import { type Item, itemOf, missingWarning, numbers, vectorsOf, warningOf, watermarkItem } from "./overlay.ts";
import { endingOf, UNKNOWN } from "./pdf/content.ts";
import type { Ending } from "./pdf/content-scan.ts";
import { importPageAsForm } from "./pdf/import.ts";
import { name, PdfDict, PdfError, type PdfObject, PdfRef, pdfDate } from "./pdf/objects.ts";
import { type Picture, readPicture } from "./pdf/picture.ts";
import { openPdf, type PdfFile, type PdfPage } from "./pdf/reader.ts";
import { beginRevision, dropPermissions, type Revision } from "./pdf/revision.ts";
import { formatNumber } from "./pdf/serialize.ts";
import type { Box, DrawCode, Drawing, Result, TaskResult, Tasks, Warning, WorkerFailure } from "./protocol.ts";
import { typeset } from "./typeset.ts";
import { whiteoutRemover } from "./whiteout.ts";

type Input = Tasks["stamp"]["input"];
/** One layer of a page: a typeset sheet, a picture in its box, or operators. */
type Layer = { sheet: number } | { picture: Picture; drawing: Drawing } | { operators: string };
type Sheet = { width: number; height: number; items: Item[] };

const MAX_DRAWINGS = 5_000;
const MAX_TEXT = 2_000_000;
const COMPRESS_ABOVE = 400;
/** Points to a unit of a page: with others the numbers that are written lose what they stand for. */
const MIN_UNIT = 0.001;
const MAX_UNIT = 10_000;
/** Pages are written anew with all that they hold; longer numbers could not be read again. */
const MAX_NUMBER = 1e60;
const PICTURE_LOST = "This page breaks off inside a picture, which programs show in different ways; it was left out.";

/**
 * Appends one revision that draws `drawings` over the pages, in their order, and the watermark over everything.
 * Text defaults: Noto Sans 11 pt, line height 1.25, no padding. A text that is too long for one line is wrapped, then set
 * smaller down to 6 pt, and below that rather than cut, with a warning; `multiline` starts at the top of its box, every
 * other text stands in the middle of its height. Pictures keep their proportions, centred.
 */
export async function stamp(input: Input): Promise<TaskResult<"stamp">> {
  try {
    const file = openPdf(input.pdf);
    file.makeRoom();
    return await stampFile(file, input, () => NOTHING_CHANGED);
  } catch (error) {
    if (error instanceof PdfError) return { ok: false, error: drawFailure(error) };
    throw error;
  }
}

/** A form that is drawn under everything else, with the matrix that brings it to the page's user space. */
export type Appearance = { form: PdfRef; matrix: readonly number[] };
/** What a revision changes besides what it draws; the numbers of pages are 1-based. */
export type Changes = {
  /** Places whose text is taken out. */
  removals: readonly Box[];
  appearances: ReadonlyMap<number, readonly Appearance[]>;
  /** All annotations that these pages keep. */
  annotations: ReadonlyMap<number, PdfObject[]>;
};
const NOTHING_CHANGED: Changes = { removals: [], appearances: new Map(), annotations: new Map() };

/**
 * As `stamp`, with further changes in the same revision.
 * @throws PdfError
 */
export async function stampFile(
  file: PdfFile,
  input: Input,
  change: (revision: Revision) => Changes,
): Promise<TaskResult<"stamp">> {
  const pages = file.pages();
  const refusal = refuse(input.drawings, pages.length);
  if (refusal) return { ok: false, error: refusal };
  const plan = planned(input, pages);
  if (!plan.ok) return plan;
  const { layers, sheets, warnings } = plan.value;
  const revision = beginRevision(file, file.firstFree);
  const forms = await typesetForms(revision, sheets, input.drawings, warnings);
  const guards = new Map<number, PdfRef>();
  const { removals, appearances, annotations } = change(revision);
  const removeUnder = whiteoutRemover(revision, file, input.drawings, removals);
  const copies = new ResourceCopies(revision, input.pdf);
  const changed = new Set([
    ...layers.keys(),
    ...appearances.keys(),
    ...annotations.keys(),
    ...removals.map((box) => box.page),
  ]);
  const drawn = pages.filter(({ index }) => changed.has(index + 1));
  dropPermissions(revision);
  touchInfo(revision, input.at);
  // Of all pages before anything is read that can be done without: that may take all the room there is.
  const needed = drawn.map((page) => ({ page, ...readFirst(file, page) }));
  for (const { page, faint } of needed) {
    const own = layers.get(page.index + 1) ?? [];
    const under = appearances.get(page.index + 1) ?? [];
    const kept = annotations.get(page.index + 1);
    const dict = kept ? withAnnotations(page.dict, kept) : page.dict;
    const { contents, warnings: left } = removeUnder(page);
    warnings.push(...left);
    if (own.length === 0 && under.length === 0 && !contents) {
      if (kept) revision.set(page.ref, dict);
      continue;
    }
    if (!kept) warnings.push(...annotationsInFront(file, page, input.drawings));
    const known = endingOf(file, page);
    const ending = typeof known === "string" ? UNKNOWN : known;
    if (ending.pictureLost) warnings.push({ code: "picture-left-out", message: PICTURE_LOST, page: page.index + 1 });
    drawOver({
      revision,
      page,
      dict,
      resources: copies.of(page),
      faint,
      ending,
      contents,
      under,
      layers: own,
      forms,
      guards,
    });
  }
  return { ok: true, value: { tail: revision.finish().bytes, pageCount: pages.length, warnings } };
}

function withAnnotations(dict: PdfDict, kept: PdfObject[]): PdfDict {
  return kept.length > 0 ? dict.clone().set("Annots", kept) : dict.clone().delete("Annots");
}

/**
 * Reads of every page what drawing on it needs besides its content, which `requireContent` looks at: what is accepted can
 * be stamped, on whichever page.
 * @throws PdfError
 */
export function requireDrawable(file: PdfFile): void {
  for (const page of file.pages()) {
    if (page.userUnit < MIN_UNIT || page.userUnit > MAX_UNIT) {
      throw new PdfError("damaged", `the unit of page ${page.index + 1} is no length that can be drawn with`);
    }
    if (holdsLongNumber(page.dict) || holdsLongNumber(page.resources)) {
      throw new PdfError("damaged", `page ${page.index + 1} holds a number that cannot be written`);
    }
    readFirst(file, page);
  }
}

/** Without this nothing can be drawn on a page. `faint`: it may leave a state in which drawings would be transparent. */
function readFirst(file: PdfFile, page: PdfPage): { faint: boolean } {
  file.dict(page.resources?.get("XObject"));
  for (const item of file.array(page.dict.get("Contents")) ?? []) file.resolve(item);
  return { faint: hasTransparency(file, page) };
}

function holdsLongNumber(object: PdfObject): boolean {
  if (typeof object === "number") return Math.abs(object) >= MAX_NUMBER;
  if (Array.isArray(object)) return object.some(holdsLongNumber);
  return object instanceof PdfDict && object.map.values().some(holdsLongNumber);
}

/** What a reader's error means to those who draw. */
function drawFailure(error: PdfError): WorkerFailure<DrawCode> {
  return { code: error.code === "too-complex" ? "too-complex" : "damaged", message: error.message };
}

function refuse(drawings: readonly Drawing[], pageCount: number): WorkerFailure<DrawCode> | null {
  if (drawings.length > MAX_DRAWINGS) return { code: "too-complex", message: `more than ${MAX_DRAWINGS} drawings` };
  let text = 0;
  for (const drawing of drawings) {
    if (!Number.isInteger(drawing.page) || drawing.page < 1 || drawing.page > pageCount) {
      const message = `page ${drawing.page} does not exist: the document has ${pageCount}`;
      return { code: "page-out-of-range", message, detail: { page: drawing.page } };
    }
    text += drawing.kind === "text" || drawing.kind === "script" ? drawing.text.length : 0;
  }
  return text > MAX_TEXT ? { code: "too-complex", message: "too much text" } : null;
}

type Plan = { layers: Map<number, Layer[]>; sheets: Sheet[]; warnings: Warning[] };

/** Sorts the drawings into layers. Neighbouring texts of a page share a sheet; a picture or vector between ends it. */
function planned(input: Input, pages: readonly PdfPage[]): Result<Plan, DrawCode> {
  const layers = new Map<number, Layer[]>();
  const sheets: Sheet[] = [];
  const pictures = new Map<Uint8Array, Picture>();
  const missing = new Map<number, number>();
  for (const [id, drawing] of input.drawings.entries()) {
    const size = displayedSize(pages[drawing.page - 1]);
    const own = layers.get(drawing.page) ?? [];
    layers.set(drawing.page, own);
    const last = own.at(-1);
    const prepared = itemOf(drawing, id);
    const operators = vectorsOf(drawing, size.height);
    if (drawing.kind === "image") {
      const picture = pictures.get(drawing.image) ?? pictureOf(drawing.image, input.newPictures !== true);
      if ("code" in picture) return { ok: false, error: { ...picture, detail: { page: drawing.page } } };
      pictures.set(drawing.image, picture);
      own.push({ picture, drawing });
    } else if (operators !== null) {
      if (last && "operators" in last) last.operators += `\n${operators}`;
      else own.push({ operators });
    } else if (prepared) {
      if (prepared.missing > 0) missing.set(drawing.page, (missing.get(drawing.page) ?? 0) + prepared.missing);
      if (last && "sheet" in last) sheets[last.sheet]?.items.push(prepared.item);
      else own.push({ sheet: sheets.push({ ...size, items: [prepared.item] }) - 1 });
    } else if (drawing.kind === "script") {
      return { ok: false, error: { code: "missing-font", message: `no handwriting face is called "${drawing.font}"` } };
    }
  }
  if (input.watermark) addWatermark(input.watermark, pages, layers, sheets);
  const warnings = [...missing].map(([page, count]) => missingWarning(page, count));
  return { ok: true, value: { layers, sheets, warnings } };
}

/** Pages of one size share one watermark. */
function addWatermark(
  watermark: NonNullable<Input["watermark"]>,
  pages: readonly PdfPage[],
  layers: Map<number, Layer[]>,
  sheets: Sheet[],
): void {
  const known = new Map<string, number>();
  for (const page of pages) {
    const { width, height } = displayedSize(page);
    const key = `${width} ${height}`;
    const sheet =
      known.get(key) ?? sheets.push({ width, height, items: [watermarkItem(watermark, width, height)] }) - 1;
    known.set(key, sheet);
    layers.set(page.index + 1, [...(layers.get(page.index + 1) ?? []), { sheet }]);
  }
}

function pictureOf(bytes: Uint8Array, accepted: boolean): Picture | WorkerFailure<DrawCode> {
  try {
    return readPicture(bytes, { accepted });
  } catch (error) {
    if (!(error instanceof PdfError)) throw error;
    return { code: error.code === "too-complex" ? "too-complex" : "bad-image", message: error.message };
  }
}

/** Size in points of the page as displayed. */
export function displayedSize(page: PdfPage | undefined): { width: number; height: number } {
  const [x0, y0, x1, y1] = page?.cropBox ?? [0, 0, 0, 0];
  const unit = page?.userUnit ?? 1;
  const [width, height] = [(x1 - x0) * unit, (y1 - y0) * unit];
  return page && page.rotate % 180 !== 0 ? { width: height, height: width } : { width, height };
}

async function typesetForms(
  revision: Revision,
  sheets: readonly Sheet[],
  drawings: readonly Drawing[],
  warnings: Warning[],
): Promise<PdfRef[]> {
  if (sheets.length === 0) return [];
  const fonts = new Set(sheets.flatMap(({ items }) => items.flatMap((item) => item.fonts)));
  const { pdf, notes } = await typeset({ template: "overlay.typ", data: { pages: sheets }, fonts });
  const seen = new Set<string>();
  for (const note of notes) {
    if (typeof note !== "object" || note === null || !("id" in note) || !("code" in note)) continue;
    const page = drawings[Number(note.id)]?.page;
    const warning = page === undefined ? null : warningOf(String(note.code), page);
    if (warning && !seen.has(`${note.id} ${note.code}`)) warnings.push(warning);
    seen.add(`${note.id} ${note.code}`);
  }
  const source = openPdf(pdf);
  return source.pages().map((page) => importPageAsForm(revision, source, page.index));
}

type Drawn = {
  revision: Revision;
  page: PdfPage;
  /** The page's dictionary as it is to be apart from what is drawn. */
  dict: PdfDict;
  resources: Resources;
  faint: boolean;
  ending: Ending;
  contents: PdfRef | null;
  under: readonly Appearance[];
  layers: readonly Layer[];
  forms: readonly PdfRef[];
  guards: Map<number, PdfRef>;
};

/**
 * Adds the layers behind the page's content (`contents` when that is new): between q and Q however many it lacks, and with
 * everything ended that it leaves open. Content that breaks off within a token is written anew with that token ended,
 * because readers differ in whether a token goes on in the next stream.
 */
function drawOver({
  revision,
  page,
  dict,
  resources,
  faint,
  ending,
  contents,
  under,
  layers,
  forms,
  guards,
}: Drawn): void {
  const { open, extra, closing, completed } = ending;
  const { height } = displayedSize(page);
  const body = layers.map((layer) => {
    if ("operators" in layer) return `q ${layer.operators} Q`;
    const ref = "sheet" in layer ? forms[layer.sheet] : embedded(revision, layer.picture);
    if (!ref) return "";
    const key = resources.add("XObject", ref);
    return "sheet" in layer ? `/${key} Do` : `q ${placement(layer.picture, layer.drawing, height)} cm /${key} Do Q`;
  });
  const below = under.map(({ form, matrix }) => {
    return `q ${matrix.map(formatNumber).join(" ")} cm /${resources.add("XObject", form)} Do Q\n`;
  });
  // What Q restores is as it should be, if all readers count q and Q as we do; where that would show, nothing hangs on it.
  const doubtful = ending === UNKNOWN || closing !== "" || completed !== null || extra > 0 || faint;
  const reset = doubtful ? `/${resources.add("ExtGState", opaque(revision))} gs ` : "";
  const restore = `${closing}${"Q ".repeat(1 + open)}`;
  const content = `${restore}\nq ${reset}${below.join("")}${fromDisplay(page)} cm\n${body.join("\n")}\nQ\n`;
  const saves = `${"q ".repeat(1 + extra)}\n`;
  const guard = guards.get(extra) ?? added(revision, saves);
  guards.set(extra, guard);
  const own = added(revision, content);
  const rewritten = contents ?? (completed && completedOnce(revision, completed));
  const old = rewritten ?? dict.get("Contents");
  const streams: PdfObject[] = revision.array(old) ?? (old instanceof PdfRef && revision.stream(old) ? [old] : []);
  const drawn = [guard, ...streams, own];
  const anew = resources.written();
  const changed = dict.clone().set("Contents", drawn);
  revision.set(page.ref, anew === null ? changed : changed.set("Resources", anew));
}

const added = (revision: Revision, content: string): PdfRef =>
  revision.addStream(new PdfDict(), Buffer.from(content, "latin1"), content.length > COMPRESS_ABOVE);

const completions = new WeakMap<Revision, Map<Uint8Array, PdfRef>>();

/** Content that pages share is written anew once. */
function completedOnce(revision: Revision, completed: Uint8Array): PdfRef {
  const known = completions.get(revision) ?? new Map<Uint8Array, PdfRef>();
  completions.set(revision, known);
  const ref = known.get(completed) ?? revision.addStream(new PdfDict(), completed, true);
  known.set(completed, ref);
  return ref;
}

/** What a page draws with, to which drawings add what they need. */
type Resources = {
  /** Where the page is to find them; null when they stay as they are. */
  written: () => PdfObject | null;
  /** @returns the name by which the page's content refers to it */
  add: (kind: "XObject" | "ExtGState", ref: PdfRef) => string;
};

/** A dictionary to be changed, and what stands for it: itself, or the object that it is. */
type Copy = { dict: PdfDict; written: PdfObject };

/**
 * Resources of pages as a revision leaves them. A dictionary that pages share is copied once, into an object that they go
 * on sharing: with a copy in each of them the file would grow by pages times resources, beyond what can be read again.
 */
class ResourceCopies {
  readonly #revision: Revision;
  /** By what they are copies of, and by themselves. */
  readonly #copies = new Map<PdfDict, Copy>();
  readonly #mark: string;

  constructor(revision: Revision, pdf: Uint8Array) {
    this.#revision = revision;
    this.#mark = markOf(pdf);
  }

  of(page: PdfPage): Resources {
    // What a node of the page tree holds is shared by the pages below it.
    const isOwn = page.dict.get("Resources") instanceof PdfDict;
    let copy = page.resources ? null : this.#copied(null, false);
    const add: Resources["add"] = (kind, ref) => {
      copy ??= this.#copied(page.resources, !isOwn);
      return this.#add(copy.dict, kind, ref);
    };
    return { written: () => copy?.written ?? null, add };
  }

  #add(resources: PdfDict, kind: string, ref: PdfRef): string {
    const held = resources.get(kind);
    const { dict: own, written } = this.#copied(this.#revision.dict(held), held instanceof PdfRef);
    resources.set(kind, written);
    let key = `Stamp${ref.num}-${this.#mark}`;
    for (let other = own.get(key); other !== undefined && other !== ref; other = own.get(key)) key += "x";
    own.set(key, ref);
    return key;
  }

  #copied(original: PdfDict | null, shared: boolean): Copy {
    const known = original && this.#copies.get(original);
    if (known) return known;
    const dict = new PdfDict(original?.map ?? []);
    const copy = { dict, written: original && shared ? this.#revision.add(dict) : dict };
    if (original) this.#copies.set(original, copy);
    this.#copies.set(dict, copy);
    return copy;
  }
}

/**
 * Makes names that an uploaded page cannot hold, since they depend on all of its bytes: with `/Stamp57 Do` in it, it could draw
 * somebody's signature a second time.
 */
function markOf(pdf: Uint8Array): string {
  return createHash("sha256").update(pdf).digest("hex").slice(0, 32);
}

/** Does the page's content draw with anything but full colour over what is there (ISO 32000-1 §11.6)? */
function hasTransparency(file: PdfFile, page: PdfPage): boolean {
  for (const entry of file.dict(page.resources?.get("ExtGState"))?.map.values() ?? []) {
    const state = file.dict(entry);
    const mode = file.resolve(state?.get("BM"));
    if (mode !== null && !["Normal", "Compatible"].includes(file.name(mode) ?? "")) return true;
    if ((file.number(state?.get("ca")) ?? 1) < 1 || (file.number(state?.get("CA")) ?? 1) < 1) return true;
    if (file.dict(state?.get("SMask"))) return true;
  }
  return false;
}

const opaques = new WeakMap<Revision, PdfRef>();

/** A graphics state that takes back all that makes drawing transparent; the same one for all pages. */
function opaque(revision: Revision): PdfRef {
  const known = opaques.get(revision);
  if (known) return known;
  const state = new PdfDict([
    ["Type", name("ExtGState")],
    ["BM", name("Normal")],
    ["ca", 1],
    ["CA", 1],
    ["SMask", name("None")],
    ["AIS", false],
    ["op", false],
    ["OP", false],
  ]);
  const ref = revision.add(state);
  opaques.set(revision, ref);
  return ref;
}

const embeddings = new WeakMap<Revision, Map<Picture, PdfRef>>();

/** A picture drawn several times is stored once. */
function embedded(revision: Revision, picture: Picture): PdfRef {
  const known = embeddings.get(revision) ?? new Map<Picture, PdfRef>();
  embeddings.set(revision, known);
  const ref = known.get(picture) ?? picture.embed(revision);
  known.set(picture, ref);
  return ref;
}

/** From the displayed page, origin at its lower left corner, in points, to the page's user space. */
function fromDisplay({ cropBox: [x0, y0, x1, y1], rotate, userUnit }: PdfPage): string {
  const s = Math.min(1 / userUnit, 1 / MIN_UNIT ** 2);
  const matrix = {
    0: [s, 0, 0, s, x0, y0],
    90: [0, s, -s, 0, x1, y0],
    180: [-s, 0, 0, -s, x1, y1],
    270: [0, -s, s, 0, x0, y1],
  }[rotate];
  // Four decimals are too few where a unit is many points.
  return userUnit === 1 ? numbers(...matrix) : matrix.map(formatNumber).join(" ");
}

/** The unit square to the largest rectangle of the picture's proportions in the middle of the box. */
function placement(picture: Picture, box: Drawing, pageHeight: number): string {
  const scale = Math.min(box.width / picture.width, box.height / picture.height);
  const [width, height] = [picture.width * scale, picture.height * scale];
  const x = box.x + (box.width - width) / 2;
  const y = pageHeight - box.y - box.height + (box.height - height) / 2;
  const [a, b, c, d, e, f] = picture.turn;
  return numbers(a * width, b * height, c * width, d * height, x + e * width, y + f * height);
}

/** Notes the time of the change in the information dictionary (§14.3.3), where there is one. */
function touchInfo(revision: Revision, at: string): void {
  const ref = revision.base.trailer.get("Info");
  const info = revision.resolve(ref);
  // A stream is none: it may be what a page shows.
  if (ref instanceof PdfRef && info instanceof PdfDict) revision.set(ref, info.clone().set("ModDate", pdfDate(at)));
}
