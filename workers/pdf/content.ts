/**
 * Content streams (ISO 32000-1 §7.8.2) as far as drawing behind them needs: what does the page leave open, so that what
 * is drawn after it would not be seen, or not as it should be?
 */
import { type Ending, endingOfParts, type Part, type Scanned, SPARE, scanContent, scanStream } from "./content-scan.ts";
import { decodeStream } from "./filters.ts";
import { type PdfDict, PdfError, PdfName, type PdfObject, PdfStream } from "./objects.ts";
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
const MAX_FILTERS = 4;
/** Ends of marked content that may be open in what a page draws with; readers pass over those too many. */
const SPARE_MARKS = "EMC ".repeat(MAX_OPEN);
const BEGINNINGS_OF_MARKS = ["BMC", "BDC"];
const SEPARATOR = Buffer.from("\n");
const FILTERS = new Set(
  "FlateDecode Fl LZWDecode LZW ASCII85Decode A85 ASCIIHexDecode AHx RunLengthDecode RL".split(" "),
);
const isPredictor = (filter: PdfObject | undefined): boolean =>
  filter instanceof PdfName && /^(Fl(ateDecode)?|LZW(Decode)?)$/.test(filter.value);
/** The values of parameters of filters (ISO 32000-1 Table 8), the one that holds without any first. */
const AGREED: Readonly<Record<string, readonly PdfObject[]>> = {
  Predictor: [1, 2, 10, 11, 12, 13, 14, 15],
  EarlyChange: [1, 0],
  Colors: [1, 2, 3, 4],
  BitsPerComponent: [8, 1, 2, 4, 16],
};
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

/** Whether marked content may be open behind what a page draws with; `unknown` when that is too much to be read. */
type Marks = "none" | "open" | "unknown";
/** What the file's pages draw with, as far as it was looked at. */
type Drawn = {
  /** Of its own: what the pages' content needs is not spent on what most of them never draw. */
  budget: Budget;
  streams: Set<PdfStream>;
  /** By what is listed in them. */
  lists: Map<string, Set<PdfDict>>;
  /** Of all of it: what one page draws with, others may. */
  marks: Marks;
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
  // In MuPDF and Ghostscript a layer goes on that began in a form, a pattern, a glyph or a mask.
  if (typeof ending === "string" || !isLayered(file)) return ending;
  const spare = marksAsFarAsRead(file, page, reading) === "none" ? "" : SPARE_MARKS;
  return { ...ending, closing: `${ending.closing}${"EMC ".repeat(ending.unsureEnds)}${spare}` };
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
    drawn: {
      budget: { objects: 0, scan: 0, inflate: total },
      streams: new Set(),
      lists: new Map(),
      marks: "none",
    },
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
  const scan = bytes === "unclear" || isPredicted(file, stream) ? null : scanStream(bytes, budget);
  if (scan === "too-large") return scan;
  if (bytes !== "unclear") held.set(stream, { bytes, ending: scan?.ending ?? null });
  const part = bytes === "unclear" ? bytes : (scan?.part ?? null);
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

function decoded(file: PdfFile, stream: PdfStream, budget: Budget, room: number): Uint8Array | "too-large" | "unclear" {
  if (!isPlainlyStored(file, stream.dict)) return "unclear";
  if (room < 0 || budget.inflate <= 0) return "too-large";
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
  if (list.length > MAX_FILTERS || !list.every((item) => item instanceof PdfName && FILTERS.has(item.value)))
    return false;
  const sameShape = Array.isArray(file.resolve(dict.get("DecodeParms"))) === Array.isArray(filter);
  return parmsOf(file, dict).every(
    (parm, index) =>
      !parm || !changesDecoding(file, parm) || (sameShape && isPredictor(list[index]) && isAgreedOn(file, parm)),
  );
}

function parmsOf(file: PdfFile, dict: PdfDict): (PdfDict | null)[] {
  const parms = file.resolve(dict.get("DecodeParms"));
  return (Array.isArray(parms) ? parms : [parms]).map((item) => file.dict(item));
}

/** Is anything else decoded with these than without them? */
const changesDecoding = (file: PdfFile, parm: PdfDict): boolean =>
  ["Predictor", "EarlyChange"].some((key) => (file.resolve(parm.get(key)) ?? 1) !== 1);

/** Do readers decode the same with these, as far as is known? */
function isAgreedOn(file: PdfFile, parm: PdfDict): boolean {
  const columns = file.resolve(parm.get("Columns")) ?? 1;
  return (
    Number.isInteger(columns) &&
    Object.entries(AGREED).every(([key, values]) => values.includes(file.resolve(parm.get(key)) ?? values[0] ?? null))
  );
}

/** Written anew when it is drawn on, as it was decoded here: few readers were made with predictors of content in mind. */
const isPredicted = (file: PdfFile, { dict }: PdfStream): boolean =>
  parmsOf(file, dict).some((parm) => parm && changesDecoding(file, parm));

/** Never fails because of what is in the file: what cannot be read is unknown. */
function marksAsFarAsRead(file: PdfFile, page: PdfPage, reading: Reading): Marks {
  try {
    return marksOfDrawn(file, page.resources, reading);
  } catch (error) {
    if (!(error instanceof PdfError)) throw error;
    reading.drawn.marks = "unknown";
    return "unknown";
  }
}

/**
 * Of all that content with these resources may draw, with the resources of that, and of what was looked at for other pages.
 * `SPARE_MARKS` are for what is unknown.
 */
function marksOfDrawn(file: PdfFile, resources: PdfDict | null, { drawn, largest }: Reading): Marks {
  const waiting = [resources];
  while (waiting.length > 0 && drawn.marks !== "open") {
    const { streams, fonts } = drawnWith(file, waiting.pop() ?? null, drawn);
    for (const font of fonts) waiting.push(file.dict(font.get("Resources")));
    for (const stream of streams) {
      if (drawn.streams.has(stream)) continue;
      drawn.streams.add(stream);
      waiting.push(file.dict(stream.dict.get("Resources")));
      const marks = ownMarks(file, stream, drawn.budget, largest);
      if (marks !== "none") drawn.marks = marks;
      if (marks === "open") break;
    }
  }
  return drawn.marks;
}

function ownMarks(file: PdfFile, stream: PdfStream, budget: Budget, largest: number): Marks {
  const bytes = decoded(file, stream, budget, largest);
  // What readers decode in different ways may hold anything.
  if (typeof bytes === "string") return bytes === "unclear" ? "open" : "unknown";
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (!BEGINNINGS_OF_MARKS.some((operator) => buffer.includes(operator, 0, "latin1"))) return "none";
  const ending = scanContent(bytes, budget);
  // Unlike a page's content it is not completed.
  if (typeof ending === "string" || ending.completed || ending.closing.includes("EMC")) return "open";
  return ending.unsureEnds > 0 ? "unknown" : "none";
}

/** Forms, patterns, soft masks and glyphs, from lists that were not looked at yet. */
function drawnWith(file: PdfFile, resources: PdfDict | null, { lists }: Drawn) {
  const listed = (owner: PdfDict | null, kind: string): PdfObject[] => {
    const list = file.dict(owner?.get(kind));
    const seen = lists.get(kind) ?? new Set();
    lists.set(kind, seen);
    if (!list || seen.has(list)) return [];
    seen.add(list);
    return [...list.map.values()];
  };
  const states = listed(resources, "ExtGState").flatMap((item) => file.dict(item) ?? []);
  const fontOf = (state: PdfDict): PdfObject => {
    const font = file.resolve(state.get("Font"));
    return Array.isArray(font) ? (font[0] ?? null) : null;
  };
  const fonts = [...listed(resources, "Font"), ...states.map(fontOf)].flatMap((item) => file.dict(item) ?? []);
  const items = [
    ...listed(resources, "XObject").filter((item) => file.name(file.stream(item)?.dict.get("Subtype")) === "Form"),
    ...listed(resources, "Pattern"),
    ...states.map((state) => file.dict(state.get("SMask"))?.get("G")),
    ...fonts.flatMap((font) => listed(font, "CharProcs")),
  ];
  return { streams: items.flatMap((item) => file.stream(item) ?? []), fonts };
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
  if (ending === "unclear" || (layered && marksOfDrawn(file, page.resources, reading) === "open")) {
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
