/**
 * Content streams (ISO 32000-1 §7.8.2) as far as drawing behind them needs: what does the page leave open, so that what
 * is drawn after it would not be seen, or not as it should be?
 */
import { decoded, isPredicted } from "./content-data.ts";
import { type Ending, endingOfParts, type Part, type Scanned, SPARE, scanContent, scanStream } from "./content-scan.ts";
import { type Drawn, marksAsFarAsRead, marksOfDrawn, nothingDrawn } from "./drawn-marks.ts";
import { PdfError, type PdfObject, PdfStream } from "./objects.ts";
import type { Budget } from "./parser.ts";
import type { PdfFile, PdfPage } from "./reader.ts";

/** `too-large` to be read; `too-many` things are open; `unclear` how readers take it. */
export type UnknownEnding = "too-large" | "too-many" | "unclear";

/** Bytes of one page and of all pages of a file, decoded; a stream that several pages share counts once in a file. */
type Bounds = { page: number; total: number };
const WHEN_DRAWN_ON: Bounds = { page: 64 * 1024 * 1024, total: 256 * 1024 * 1024 };
/** Less than when it is drawn on: what stamps add to an accepted document must not take it over the bounds. */
const AT_UPLOAD: Bounds = { page: 48 * 1024 * 1024, total: 192 * 1024 * 1024 };
/** Of completed content that is kept in case other pages share it. */
const MAX_KEPT = 64 * 1024 * 1024;
/** Saves, restores, marks and sections, each, of what is accepted. */
const MAX_OPEN = 4000;
/** Ends of marked content that may be open in what a page draws with; readers pass over those too many. */
const SPARE_MARKS = "EMC ".repeat(MAX_OPEN);
const SEPARATOR = Buffer.from("\n");
/** What content counts as that is not known: most is balanced. */
export const UNKNOWN: Ending = {
  open: SPARE,
  extra: SPARE,
  closing: "EMC ".repeat(SPARE),
  completed: null,
  pictureLost: false,
  unsureEnds: 0,
};

type Reading = {
  budget: Budget;
  /** Of one page. */
  largest: number;
  kept: number;
  /** Null for what is only understood together with the streams around it. */
  parts: Map<PdfStream, Part | "unclear" | null>;
  /** By what /Contents refers to: a stream or a list of them. */
  known: Map<PdfObject, Ending | UnknownEnding>;
  drawn: Drawn;
};

/** Streams of one page that were decoded, and what each leaves open when it is the page's only one; null when that is not known. */
type Held = Map<PdfStream, { bytes: Uint8Array; ending: Scanned["ending"] | null }>;
/** The file's own budget is for what cannot be done without; this is read on top of it. */
const readings = new WeakMap<PdfFile, Reading>();

/**
 * Reads all of the page's streams as one; content that pages share is read once. Never fails because of what is in the
 * content: documents that were accepted must stay stampable.
 */
export function endingOf(file: PdfFile, page: PdfPage): Ending | UnknownEnding {
  const reading = readingOf(file, WHEN_DRAWN_ON);
  const ending = ownEnding(file, page, reading);
  if (typeof ending === "string" || !isLayered(file)) return ending;
  const spare = marksAsFarAsRead(file, page.resources, reading.drawn) === "none" ? "" : SPARE_MARKS;
  // As many as an accepted page has, and those that stamps on it added.
  const unsure = "EMC ".repeat(Math.min(ending.unsureEnds, 2 * MAX_OPEN));
  return { ...ending, closing: `${ending.closing}${unsure}${spare}` };
}

const isLayered = (file: PdfFile): boolean => file.dict(file.catalog.get("OCProperties")) !== null;

/** The bounds count when the file is read for the first time. */
function readingOf(file: PdfFile, { page, total }: Bounds): Reading {
  const reading = readings.get(file) ?? {
    budget: { objects: 0, scan: 0, inflate: total },
    largest: page,
    kept: 0,
    parts: new Map(),
    known: new Map(),
    drawn: nothingDrawn(page, total),
  };
  readings.set(file, reading);
  return reading;
}

function ownEnding(file: PdfFile, page: PdfPage, reading: Reading): Ending | UnknownEnding {
  const contents = contentsOf(file, page);
  const known = reading.known.get(contents);
  if (known !== undefined) return known;
  const ending = read(file, streamsOf(file, contents), reading);
  const size = typeof ending === "string" ? 0 : (ending.completed?.length ?? 0);
  if (reading.kept + size <= MAX_KEPT) {
    reading.kept += size;
    reading.known.set(contents, ending);
  }
  return ending;
}

function read(file: PdfFile, streams: readonly PdfStream[], reading: Reading): Ending | UnknownEnding {
  const parts: Part[] = [];
  const held: Held = new Map();
  let room = reading.largest;
  for (const stream of streams) {
    const part = partOf(file, stream, reading, --room, held);
    if (typeof part === "string") return part;
    if (!part) return readAsOne(file, streams, reading, held);
    room -= part.length;
    if (room < 0) return "too-large";
    parts.push(part);
  }
  return endingOfParts(parts);
}

/** Most streams are understood on their own, and then read once however many pages share them. */
function partOf(
  file: PdfFile,
  stream: PdfStream,
  { parts, budget }: Reading,
  room: number,
  held: Held,
): Part | UnknownEnding | null {
  const known = parts.get(stream);
  if (known !== undefined) return known;
  const bytes = decoded(file, stream, budget, room);
  if (bytes === "too-large") return bytes;
  if (bytes === "unclear") {
    parts.set(stream, bytes);
    return bytes;
  }
  const scan = isPredicted(file, stream) ? null : scanStream(bytes, budget);
  if (scan === "too-large") return scan;
  held.set(stream, { bytes, ending: scan?.ending ?? null });
  const part = scan?.part ?? null;
  parts.set(stream, part);
  return part;
}

/** The first use of a held stream is not charged again. */
function readAsOne(
  file: PdfFile,
  streams: readonly PdfStream[],
  { budget, largest }: Reading,
  held: Held,
): Ending | UnknownEnding {
  const alone = streams.length === 1 && streams[0] ? held.get(streams[0])?.ending : null;
  if (alone) return alone();
  const parts: Uint8Array[] = [];
  const paid = new Set(held.keys());
  let room = largest;
  for (const stream of streams) {
    room--;
    const bytes = held.get(stream)?.bytes;
    if (bytes && !paid.delete(stream)) budget.inflate -= bytes.length;
    const part = bytes ?? decoded(file, stream, budget, room);
    if (typeof part === "string") return part;
    room -= part.length;
    if (room < 0) return "too-large";
    parts.push(part, SEPARATOR);
  }
  const whole = parts.length === 2 && parts[0] ? parts[0] : Buffer.concat(parts);
  const ending = scanContent(whole, budget);
  if (typeof ending === "string" || !streams.some((stream) => isPredicted(file, stream))) return ending;
  return { ...ending, completed: ending.completed ?? whole };
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
  const reading = readingOf(file, AT_UPLOAD);
  const ending = ownEnding(file, page, reading);
  const layered = isLayered(file);
  // What leaves a layer open may be drawn more often than there are marks to spare.
  if (ending === "unclear" || (layered && marksOfDrawn(file, page.resources, reading.drawn) === "open")) {
    throw new PdfError("damaged", `programs differ in how they read the content of page ${page.index + 1}`);
  }
  // What it leaves open nobody would know.
  if (ending === "too-large" || reading.drawn.budget.inflate <= 0)
    throw new PdfError("too-complex", `page ${page.index + 1} has too much content`);
  const tooMany =
    ending === "too-many" ||
    Math.max(ending.open, ending.extra, layered ? ending.unsureEnds : 0) > MAX_OPEN ||
    ending.closing.length > 5 * MAX_OPEN;
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
