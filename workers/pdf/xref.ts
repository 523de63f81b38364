/** Cross-reference tables, streams and hybrids (ISO 32000-1 §7.5.4, §7.5.8), looked up in place instead of unpacked. */
import { decodeStream } from "./filters.ts";
import { ObjectSource, PdfDict, PdfError, type PdfObject, PdfStream } from "./objects.ts";
import { type Budget, isSpace, MAX_KEPT, Parser, spend } from "./parser.ts";

export type XrefEntry =
  | { kind: "free" }
  | { kind: "offset"; offset: number; gen: number }
  /** `index` among the stream's objects. */
  | { kind: "packed"; stream: number; index: number };

/** One revision's entries. */
type Section = {
  lookup: (num: number) => XrefEntry | null;
  /** One above the highest object number. */
  size: number;
  /** Every range of object numbers that it speaks of, as [first, count]. */
  ranges: [number, number][];
  /** Whether it says two things about a number, of which readers take the one or the other. */
  isTwofold: (num: number) => boolean;
};

export type Xref = {
  /** The newest trailer (for a stream: its dictionary). */
  trailer: PdfDict;
  startXref: number;
  kind: "table" | "stream";
  size: number;
  /** The highest object number that a trailer refers to. */
  highest: number;
  /** Whether a trailer holds a key twice or a section lists a number twice. */
  ambiguous: boolean;
  lookup: (num: number) => XrefEntry | null;
  /** Newest first, each with where it stands. */
  sections: (Section & { at: number })[];
  /** Units that the sections cost, which are kept in memory. */
  kept: number;
};

/** The largest object number that readers must accept is 8 388 607 (Annex C); a little room above it. */
export const MAX_OBJECTS = 10_000_000;
const MAX_SECTIONS = 4096;
/** Units for a range of numbers in memory. */
const RANGE_COST = 6;
/** So many sections can be asked about a number in the time of a unit. */
const SECTIONS_PER_UNIT = 4;
const ENTRY = 20;

/** Resolves nothing: a cross-reference stream's own dictionary must be direct (§7.5.8.2). */
class NoObjects extends ObjectSource {
  override get(): PdfObject {
    return null;
  }
}
const NOTHING = new NoObjects();

/** Follows `startxref` and the chain of /Prev. @throws PdfError */
export function readXref(bytes: Uint8Array, budget: Budget): Xref {
  const startXref = findStartXref(bytes);
  const sections: (Section & { at: number })[] = [];
  const seen = new Set<number>();
  let newest: { trailer: PdfDict; kind: "table" | "stream" } | null = null;
  let highest = 0;
  let ambiguous = false;
  let kept = 0;
  for (let at: number | null = startXref; at !== null; ) {
    if (seen.has(at)) throw new PdfError("damaged", "cross-reference sections form a loop");
    if (seen.size === MAX_SECTIONS) throw new PdfError("too-complex", "too many revisions");
    seen.add(at);
    const part = readSection(bytes, at, budget, MAX_KEPT - kept);
    kept += part.spent;
    newest ??= part;
    highest = Math.max(highest, part.highest);
    ambiguous ||= part.ambiguous;
    sections.push({ ...part.section, at });
    const prev = part.trailer.get("Prev");
    at = typeof prev === "number" && prev > 0 ? offset(bytes, prev) : null;
  }
  if (!newest) throw new PdfError("damaged", "no cross-reference section");
  const declared = newest.trailer.get("Size");
  const size = sections.reduce(
    (most, section) => Math.max(most, section.size),
    typeof declared === "number" ? declared : 1,
  );
  if (!Number.isInteger(size) || size < 1 || size > MAX_OBJECTS)
    throw new PdfError("too-complex", "object numbers too high");
  const lookup = (num: number): XrefEntry | null => {
    let entry: XrefEntry | null = null;
    let asked = 0;
    while (!entry && asked < sections.length) entry = sections[asked++]?.lookup(num) ?? null;
    spend(budget, Math.floor(asked / SECTIONS_PER_UNIT));
    return entry;
  };
  return { trailer: newest.trailer, kind: newest.kind, startXref, size, highest, ambiguous, lookup, sections, kept };
}

function offset(bytes: Uint8Array, value: number): number {
  if (!Number.isInteger(value) || value < 0 || value >= bytes.length) {
    throw new PdfError("damaged", "cross-reference offset outside the file");
  }
  return value;
}

function findStartXref(bytes: Uint8Array): number {
  const from = Math.max(0, bytes.length - 2048);
  const tail = Buffer.from(bytes.buffer, bytes.byteOffset + from, bytes.length - from);
  const found = tail.lastIndexOf("startxref", undefined, "latin1");
  if (found < 0) throw new PdfError("damaged", "no startxref");
  const parser = new Parser(bytes, from + found + 9, { objects: 1000, scan: 0, inflate: 0 });
  parser.skip();
  const value = parser.unsigned();
  if (value === null) throw new PdfError("damaged", "startxref without an offset");
  return offset(bytes, value);
}

type Part = {
  section: Section;
  trailer: PdfDict;
  kind: "table" | "stream";
  highest: number;
  ambiguous: boolean;
  spent: number;
};

function readSection(bytes: Uint8Array, at: number, budget: Budget, room: number): Part {
  const parser = new Parser(bytes, at, budget);
  parser.room = room;
  parser.skip();
  if (!parser.keyword("xref")) return readXrefStream(parser, budget);
  const table = readTable(parser);
  const trailer = parser.object();
  if (!(trailer instanceof PdfDict)) return parser.fail("trailer is not a dictionary");
  const hidden = trailer.get("XRefStm");
  const { highest, spent } = parser;
  const ambiguous = parser.ambiguous || table.overlap;
  if (typeof hidden !== "number") return { section: table, trailer, kind: "table", highest, ambiguous, spent };
  const behind = new Parser(bytes, offset(bytes, hidden), budget);
  behind.room = room - spent;
  const { section: stream, ...part } = readXrefStream(behind, budget);
  // Hybrid (§7.5.8.4): what the table calls free or does not know may be hidden in the stream.
  const lookup = (num: number): XrefEntry | null => {
    const entry = table.lookup(num);
    return entry && entry.kind !== "free" ? entry : (stream.lookup(num) ?? entry);
  };
  const isTwofold = (num: number): boolean => contradict(table.lookup(num), stream.lookup(num));
  const size = Math.max(table.size, stream.size);
  return {
    section: { lookup, size, ranges: [...table.ranges, ...stream.ranges], isTwofold },
    trailer,
    kind: "table",
    highest,
    ambiguous: ambiguous || part.ambiguous,
    spent: spent + part.spent,
  };
}

/** Whether both say where the object is to be found, and not the same. */
function contradict(one: XrefEntry | null, other: XrefEntry | null): boolean {
  if (!one || !other || one.kind === "free" || other.kind === "free") return false;
  if (one.kind === "packed") return other.kind !== "packed" || one.stream !== other.stream || one.index !== other.index;
  return other.kind !== "offset" || one.offset !== other.offset || one.gen !== other.gen;
}

type Range = { first: number; count: number; entry: (index: number) => XrefEntry };

/** Ranges in ascending order and a binary search over them. `overlap`: a number stands in two of them. */
function sectionOf(ranges: Range[]): Section & { overlap: boolean } {
  ranges.sort((a, b) => a.first - b.first);
  let size = 0;
  let overlap = false;
  for (const { first, count } of ranges) {
    overlap ||= first < size;
    size = Math.max(size, first + count);
  }
  const lookup = (num: number): XrefEntry | null => {
    let low = 0;
    let high = ranges.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const range = ranges[middle];
      if (!range) return null;
      if (num < range.first) high = middle - 1;
      else if (num >= range.first + range.count) low = middle + 1;
      else return range.entry(num - range.first);
    }
    return null;
  };
  return {
    lookup,
    size,
    ranges: ranges.map(({ first, count }) => [first, count]),
    isTwofold: () => false,
    overlap,
  };
}

/** The subsections up to and including the keyword `trailer`. */
function readTable(parser: Parser): ReturnType<typeof sectionOf> {
  const ranges: Range[] = [];
  while (true) {
    parser.skip();
    if (parser.keyword("trailer")) return sectionOf(ranges);
    parser.spend(RANGE_COST);
    const first = parser.unsigned();
    parser.skip();
    const count = parser.unsigned();
    if (first === null || count === null) return parser.fail("bad cross-reference subsection");
    if (first + count > MAX_OBJECTS) throw new PdfError("too-complex", "object numbers too high");
    parser.skip();
    if (count === 0) continue;
    const range = fixedRange(parser, first, count) ?? looseRange(parser, first, count);
    ranges.push(range);
  }
}

/** Entries of exactly 20 bytes, as the standard has them: read when asked for. */
function fixedRange(parser: Parser, first: number, count: number): Range | null {
  const { bytes, pos } = parser;
  const stop = pos + count * ENTRY;
  const wellFormed = (at: number): boolean =>
    bytes[at + 10] === 32 &&
    bytes[at + 16] === 32 &&
    (bytes[at + 17] === 0x6e || bytes[at + 17] === 0x66) &&
    isSpace(bytes[at + 18] ?? 0xff) &&
    isSpace(bytes[at + 19] ?? 0xff);
  if (stop > parser.end || !wellFormed(pos) || !wellFormed(stop - ENTRY)) return null;
  const next = bytes[stop] ?? 0;
  if (!isSpace(next) && next !== 0x74 && !(next >= 48 && next <= 57)) return null;
  parser.pos = stop;
  const entry = (index: number): XrefEntry => {
    const at = pos + index * ENTRY;
    if (!wellFormed(at)) throw new PdfError("damaged", `bad cross-reference entry at byte ${at}`);
    if (bytes[at + 17] === 0x66) return { kind: "free" };
    return { kind: "offset", offset: decimal(bytes, at, 10), gen: decimal(bytes, at + 11, 5) };
  };
  return { first, count, entry };
}

function decimal(bytes: Uint8Array, at: number, digits: number): number {
  let value = 0;
  for (let i = 0; i < digits; i++) {
    const digit = (bytes[at + i] ?? 0) - 48;
    if (digit < 0 || digit > 9) throw new PdfError("damaged", `bad cross-reference entry at byte ${at}`);
    value = value * 10 + digit;
  }
  return value;
}

/** Entries of other widths, which some producers write. */
function looseRange(parser: Parser, first: number, count: number): Range {
  if (count * 6 > parser.end - parser.pos) return parser.fail("cross-reference table runs over the end");
  const entries: XrefEntry[] = [];
  for (let i = 0; i < count; i++) {
    parser.skip();
    const at = parser.unsigned();
    parser.skip();
    const gen = parser.unsigned();
    parser.skip();
    if (at === null || gen === null) return parser.fail("bad cross-reference entry");
    if (parser.keyword("n")) entries.push({ kind: "offset", offset: at, gen });
    else if (parser.keyword("f")) entries.push({ kind: "free" });
    else return parser.fail("bad cross-reference entry");
  }
  return { first, count, entry: (index) => entries[index] ?? { kind: "free" } };
}

function readXrefStream(parser: Parser, budget: Budget): Part {
  const { object } = parser.indirect((dict) => NOTHING.number(dict.get("Length")));
  if (!(object instanceof PdfStream) || NOTHING.name(object.dict.get("Type")) !== "XRef") {
    return parser.fail("no cross-reference section");
  }
  const trailer = object.dict;
  const widths = integers(trailer.get("W"));
  const index = trailer.has("Index") ? integers(trailer.get("Index")) : [0, ...integers([trailer.get("Size") ?? null])];
  const [w0 = 0, w1 = 0, w2 = 0] = widths;
  const width = w0 + w1 + w2;
  if (widths.length < 3 || widths.some((w) => w > 8) || width === 0 || index.length % 2 !== 0) {
    return parser.fail("bad cross-reference stream");
  }
  let total = 0;
  for (let i = 1; i < index.length; i += 2) total += index[i] ?? 0;
  if (total > MAX_OBJECTS) throw new PdfError("too-complex", "object numbers too high");
  const data = decodeStream(NOTHING, object, budget, 2 * total * (width + 1) + 65536);
  const field = (at: number, bytes: number): number => {
    let value = 0;
    for (let i = 0; i < bytes; i++) value = value * 256 + (data[at + i] ?? 0);
    return value;
  };
  const ranges: Range[] = [];
  for (let i = 0, row = 0; i < index.length; i += 2) {
    const first = index[i] ?? 0;
    const base = row;
    const count = Math.min(index[i + 1] ?? 0, Math.max(0, Math.floor(data.length / width) - base));
    row += count;
    if (first + count > MAX_OBJECTS) throw new PdfError("too-complex", "object numbers too high");
    const entry = (n: number): XrefEntry => {
      const at = (base + n) * width;
      const type = w0 === 0 ? 1 : field(at, w0);
      if (type === 1) return { kind: "offset", offset: field(at + w0, w1), gen: field(at + w0 + w1, w2) };
      if (type !== 2) return { kind: "free" };
      return { kind: "packed", stream: field(at + w0, w1), index: field(at + w0 + w1, w2) };
    };
    if (count === 0) continue;
    parser.spend(RANGE_COST);
    ranges.push({ first, count, entry });
  }
  const section = sectionOf(ranges);
  const { highest, spent } = parser;
  return { section, trailer, kind: "stream", highest, ambiguous: parser.ambiguous || section.overlap, spent };
}

function integers(object: PdfObject | undefined): number[] {
  if (!Array.isArray(object)) throw new PdfError("damaged", "bad cross-reference stream");
  return object.map((item) => {
    if (typeof item === "number" && Number.isInteger(item) && item >= 0) return item;
    throw new PdfError("damaged", "bad cross-reference stream");
  });
}
