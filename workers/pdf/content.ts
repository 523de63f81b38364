/**
 * Content streams (ISO 32000-1 §7.8.2) as far as drawing behind them needs: what does the page leave open, so that what
 * is drawn after it would not be seen, or not as it should be?
 */
import { type Ending, SPARE, scanContent } from "./content-scan.ts";
import { decodeStream } from "./filters.ts";
import { type PdfDict, PdfError, PdfName, type PdfObject, PdfStream } from "./objects.ts";
import type { Budget } from "./parser.ts";
import type { PdfFile, PdfPage } from "./reader.ts";

/** `too-large` to be read; `too-many` things are open; `unclear` how readers take it. */
export type UnknownEnding = "too-large" | "too-many" | "unclear";

/** Bytes of one page, decoded. */
const MAX_CONTENT = 64 * 1024 * 1024;
/** Bytes of all pages of a file, decoded; content that several pages share counts once. The same when it is looked at and when it is drawn on. */
const MAX_TOTAL = 256 * 1024 * 1024;
/** Of completed content that is kept in case other pages share it. */
const MAX_KEPT = 64 * 1024 * 1024;
/** Saves, restores, marks and sections, each, of what is accepted. */
const MAX_OPEN = 4000;
const MAX_FILTERS = 4;
const MAX_FORM_DEPTH = 16;
const SEPARATOR = Buffer.from("\n");
const FILTERS = new Set(
  "FlateDecode Fl LZWDecode LZW ASCII85Decode A85 ASCIIHexDecode AHx RunLengthDecode RL".split(" "),
);
/** What content counts as that is not known: most is balanced. */
export const UNKNOWN: Ending = {
  open: SPARE,
  extra: SPARE,
  closing: "EMC ".repeat(SPARE),
  completed: null,
  pictureLost: false,
};

type Reading = {
  budget: Budget;
  kept: number;
  /** By what /Contents refers to: a stream or a list of them. */
  known: Map<PdfObject, Ending | UnknownEnding>;
  /** Forms, and lists of XObjects, and whether marked content may be open at the end of one of them. */
  forms: Map<PdfStream | PdfDict, boolean>;
};
/** The file's own budget is for what cannot be done without; this is read on top of it. */
const readings = new WeakMap<PdfFile, Reading>();

/**
 * Reads all of the page's streams as one; content that pages share is read once. Never fails because of what is in the
 * content: documents that were accepted must stay stampable.
 */
export function endingOf(file: PdfFile, page: PdfPage): Ending | UnknownEnding {
  const reading = readings.get(file) ?? {
    budget: { objects: 0, scan: 0, inflate: MAX_TOTAL },
    kept: 0,
    known: new Map(),
    forms: new Map(),
  };
  readings.set(file, reading);
  const contents = contentsOf(file, page);
  let ending = reading.known.get(contents);
  if (ending === undefined) {
    ending = read(file, contents, reading.budget);
    const size = typeof ending === "string" ? 0 : (ending.completed?.length ?? 0);
    if (reading.kept + size <= MAX_KEPT) {
      reading.kept += size;
      reading.known.set(contents, ending);
    }
  }
  // In MuPDF and Ghostscript a layer that a form begins goes on behind it.
  const layered = typeof ending !== "string" && file.dict(file.catalog.get("OCProperties")) !== null;
  return layered && formsLeaveMarks(file, page.resources, reading) ? "unclear" : ending;
}

function read(file: PdfFile, contents: PdfObject, budget: Budget): Ending | UnknownEnding {
  const parts: Uint8Array[] = [];
  let room = MAX_CONTENT;
  for (const stream of streamsOf(file, contents)) {
    if (--room < 0 || budget.inflate <= 0) return "too-large";
    const part = decoded(file, stream, budget, room);
    if (typeof part === "string") return part;
    room -= part.length;
    parts.push(part, SEPARATOR);
  }
  return scanContent(parts.length === 2 && parts[0] ? parts[0] : Buffer.concat(parts), budget);
}

function decoded(file: PdfFile, stream: PdfStream, budget: Budget, room: number): Uint8Array | "too-large" | "unclear" {
  if (!isPlainlyStored(file, stream.dict)) return "unclear";
  const faults = { unclear: false };
  try {
    const bytes = decodeStream(file, stream, budget, room, faults);
    // Decoded or not, it is looked at.
    if (bytes === stream.raw) budget.inflate -= bytes.length;
    return faults.unclear ? "unclear" : bytes;
  } catch (error) {
    if (error instanceof PdfError) return error.code === "too-complex" ? "too-large" : "unclear";
    throw error;
  }
}

/** Do all readers see the same filters, and filters for what is no picture? */
function isPlainlyStored(file: PdfFile, dict: PdfDict): boolean {
  // What these mean for an inline image some readers take them for here.
  if (dict.has("F") || dict.has("DP")) return false;
  const filter = file.resolve(dict.get("Filter"));
  if (filter === null) return true;
  const list = Array.isArray(filter) ? filter.map((item) => file.resolve(item)) : [filter];
  const parms = file.resolve(dict.get("DecodeParms"));
  const sameShape = parms === null || Array.isArray(parms) === Array.isArray(filter);
  if (list.length > MAX_FILTERS || (!sameShape && predicts(file, parms))) return false;
  return list.every((item) => item instanceof PdfName && FILTERS.has(item.value));
}

function predicts(file: PdfFile, parms: PdfObject): boolean {
  const list = Array.isArray(parms) ? parms : [parms];
  return list.some((item) => (file.number(file.dict(item)?.get("Predictor")) ?? 1) !== 1);
}

/** Whether marked content may be open at the end of a form that these resources, or those of such forms, name. */
function formsLeaveMarks(file: PdfFile, resources: PdfDict | null, reading: Reading, depth = 0): boolean {
  const objects = file.dict(resources?.get("XObject"));
  if (!objects || depth > MAX_FORM_DEPTH) return false;
  const known = reading.forms.get(objects);
  if (known !== undefined) return known;
  // Forms may name themselves.
  reading.forms.set(objects, false);
  let found = false;
  for (const item of objects.map.values()) {
    const form = file.stream(item);
    if (!form || file.name(form.dict.get("Subtype")) !== "Form") continue;
    const leaves = reading.forms.get(form) ?? leavesMarks(file, form, reading.budget);
    reading.forms.set(form, leaves);
    found = formsLeaveMarks(file, file.dict(form.dict.get("Resources")), reading, depth + 1) || leaves || found;
  }
  reading.forms.set(objects, found);
  return found;
}

function leavesMarks(file: PdfFile, form: PdfStream, budget: Budget): boolean {
  const bytes = budget.inflate <= 0 ? "too-large" : decoded(file, form, budget, MAX_CONTENT);
  const ending = typeof bytes === "string" ? bytes : scanContent(bytes, budget);
  return typeof ending === "string" ? ending !== "too-large" : ending.closing.includes("EMC");
}

/**
 * Looks at the page's content before the document is accepted.
 * @throws PdfError `damaged` for content that readers take in different ways: its filters, its data, where pictures in it
 * end; `too-complex` when there is too much of it, or when it leaves thousands of things open.
 */
export function requireContent(file: PdfFile, page: PdfPage): void {
  for (const { dict } of streamsOf(file, contentsOf(file, page))) {
    // Such streams could be made to need each other, and be read or not depending on what was read before.
    if (file.stream(dict.get("Length"))) throw new PdfError("damaged", "the length of a stream is no number");
  }
  const ending = endingOf(file, page);
  if (ending === "unclear") {
    throw new PdfError("damaged", `programs differ in how they read the content of page ${page.index + 1}`);
  }
  // What it leaves open nobody would know.
  if (ending === "too-large") throw new PdfError("too-complex", `page ${page.index + 1} has too much content`);
  const tooMany =
    ending === "too-many" || Math.max(ending.open, ending.extra) > MAX_OPEN || ending.closing.length > 5 * MAX_OPEN;
  if (tooMany) throw new PdfError("too-complex", `the content of page ${page.index + 1} leaves too much open`);
}

/** The same object for all pages that share their content. */
function contentsOf(file: PdfFile, page: PdfPage): PdfObject {
  const contents = file.resolve(page.dict.get("Contents"));
  return Array.isArray(contents) && contents.length === 1 ? file.resolve(contents[0]) : contents;
}

function streamsOf(file: PdfFile, contents: PdfObject): PdfStream[] {
  const items = Array.isArray(contents) ? contents.map((item) => file.resolve(item)) : [contents];
  return items.filter((item) => item instanceof PdfStream);
}
