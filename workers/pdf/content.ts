/**
 * Content streams (ISO 32000-1 §7.8.2) as far as drawing behind them needs: what does the page leave open, so that what
 * is drawn after it would not be seen, or not as it should be?
 */
import { isText, plainLength } from "./content-stream.ts";
import { decodeStream } from "./filters.ts";
import { PdfDict, PdfError, PdfName, type PdfObject, PdfStream } from "./objects.ts";
import { type Budget, isRegular, isSpace, Parser } from "./parser.ts";
import type { PdfFile, PdfPage } from "./reader.ts";

export type Ending = {
  /** Saves never restored. */
  open: number;
  /** Restores of states never saved. */
  extra: number;
  /** Operators that end the path, text object, marked content and so on that are open; empty for most pages. */
  closing: string;
  /** All of the content with the token ended in which it breaks off; null when it ends behind a token, as it nearly always does. */
  completed: Uint8Array | null;
  /** An inline image whose data breaks off was left out of `completed`: some readers take what follows for its data. */
  pictureLost: boolean;
};

/** `too-large` to be read; `too-many` operators would be needed to end what is open. */
export type UnknownEnding = "too-large" | "too-many";

/** Bytes of one page, decoded. */
const MAX_CONTENT = 16 * 1024 * 1024;
/** Bytes of all pages of a file, decoded; content that several pages share counts once. */
const MAX_TOTAL = 256 * 1024 * 1024;
const MAX_AT_UPLOAD = 64 * 1024 * 1024;
/** Of completed content that is kept in case other pages share it. */
const MAX_KEPT = 64 * 1024 * 1024;
/** Saves, restores, marks and sections, each. */
const MAX_OPEN = 4000;
/** Also of parentheses in a string that does not end. */
const MAX_BRACKETS = 256;
const SEPARATOR = Buffer.from("\n");
const FILTERS = new Set(
  "FlateDecode Fl LZWDecode LZW ASCII85Decode A85 ASCIIHexDecode AHx RunLengthDecode RL".split(" "),
);

type Reading = {
  budget: Budget;
  kept: number;
  /** By what /Contents refers to: a stream or a list of them. */
  known: Map<PdfObject, Ending | UnknownEnding>;
};
/** The file's own budget is for what cannot be done without; this is read on top of it. */
const readings = new WeakMap<PdfFile, Reading>();

/**
 * Reads all of the page's streams as one; content that pages share is read once. What readers cannot decode either counts
 * as empty. Never fails because of what is in the content: documents that were accepted must stay stampable.
 * @param total bytes that are read of all of the file's pages together; the first call decides
 */
export function endingOf(file: PdfFile, page: PdfPage, total = MAX_TOTAL): Ending | UnknownEnding {
  const reading = readings.get(file) ?? {
    budget: { objects: 0, scan: 0, inflate: total },
    kept: 0,
    known: new Map(),
  };
  readings.set(file, reading);
  const contents = contentsOf(file, page);
  const known = reading.known.get(contents);
  if (known !== undefined) return known;
  const ending = read(file, contents, reading.budget);
  const size = typeof ending === "string" ? 0 : (ending.completed?.length ?? 0);
  if (reading.kept + size <= MAX_KEPT) {
    reading.kept += size;
    reading.known.set(contents, ending);
  }
  return ending;
}

function read(file: PdfFile, contents: PdfObject, budget: Budget): Ending | UnknownEnding {
  const parts: Uint8Array[] = [];
  let room = MAX_CONTENT;
  for (const stream of streamsOf(file, contents)) {
    if (--room < 0 || budget.inflate <= 0) return "too-large";
    try {
      const part = decodeStream(file, stream, budget, room, true);
      room -= part.length;
      // Decoded or not, it is looked at.
      if (part === stream.raw) budget.inflate -= part.length;
      parts.push(part, SEPARATOR);
    } catch (error) {
      if (!(error instanceof PdfError)) throw error;
      if (error.code === "too-complex") return "too-large";
    }
  }
  return new Scan(parts.length === 2 && parts[0] ? parts[0] : Buffer.concat(parts)).ending();
}

/**
 * Looks at the page's content before the document is accepted.
 * @throws PdfError `damaged` for content in a filter that makes none, as those for pictures do: readers differ in what they
 * show; `too-complex` when it leaves thousands of things open.
 */
export function requireContent(file: PdfFile, page: PdfPage): void {
  const contents = contentsOf(file, page);
  if (readings.get(file)?.known.has(contents) !== true) {
    for (const { dict } of streamsOf(file, contents)) {
      const filters = file.array(dict.get("Filter")) ?? [dict.get("Filter") ?? null];
      for (const filter of filters) {
        const name = file.resolve(filter);
        if (name === null || (name instanceof PdfName && FILTERS.has(name.value))) continue;
        throw new PdfError("damaged", `the content of page ${page.index + 1} is not stored as content may be`);
      }
    }
  }
  if (endingOf(file, page, MAX_AT_UPLOAD) === "too-many") {
    throw new PdfError("too-complex", `the content of page ${page.index + 1} leaves too much open`);
  }
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

/** What a stretch of content leaves open. */
type Tally = { saves: number; restores: number; marks: number; sections: number; text: boolean; path: boolean };
const nothing = (): Tally => ({ saves: 0, restores: 0, marks: 0, sections: 0, text: false, path: false });

class Scan {
  readonly #bytes: Uint8Array;
  /** Where no bracket is open. */
  #tally = nothing();
  /** Behind the outermost open bracket: most readers take operators there for part of an operand, some do not. */
  #inside = nothing();
  /** What ends each open bracket, and where the outermost begins. */
  readonly #brackets: string[] = [];
  #outermost = 0;
  /** Behind the `BI` of an inline image whose data has not begun; -1 elsewhere. */
  #image = -1;
  /** Bytes that may still be looked at for the end of inline images, beyond the first that could be it. */
  #search: number;
  /** What ends the token in which the content breaks off. */
  #missing: string | null = null;
  /** From where on nothing can be completed; -1 for nowhere. */
  #cut = -1;
  #pictureLost = false;
  #comment = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#search = bytes.length;
    for (let at = 0; at < bytes.length; ) {
      const byte = bytes[at] ?? 0;
      if (isSpace(byte)) at++;
      else if (!isRegular(byte)) at = this.#delimiter(byte, at);
      else {
        const end = endOfWord(bytes, at);
        at = this.#word(at, end);
      }
      if (this.#brackets.length > MAX_BRACKETS) {
        // Nobody reads so many brackets, nor what is behind them.
        this.#cut = this.#outermost;
        break;
      }
    }
  }

  ending(): Ending | UnknownEnding {
    const [own, inside] = [this.#tally, this.#inside];
    if (this.#image >= 0) this.#missing = "\n/X 0 ID \nEI";
    let completed: Uint8Array | null = null;
    if (this.#cut >= 0) completed = this.#bytes.subarray(0, this.#cut);
    else if (this.#missing !== null || this.#brackets.length > 0) {
      const end = `${this.#missing ?? ""}\n${this.#brackets.toReversed().join(" ")}\n`;
      completed = Buffer.concat([this.#bytes, Buffer.from(end, "latin1")]);
    }
    const marks = own.marks + inside.marks;
    const sections = own.sections + inside.sections;
    // More restores than saves do no harm, so that both ways of reading operators in brackets are provided for.
    const open = own.saves + inside.saves;
    const extra = own.restores + inside.restores;
    if (Math.max(open, extra, marks, sections) > MAX_OPEN) return "too-many";
    const path = own.path || inside.path ? "n " : "";
    const text = own.text || inside.text ? "ET " : "";
    const line = this.#comment && !completed ? "\n" : "";
    const closing = `${line}${path}${text}${"EMC ".repeat(marks)}${"EX ".repeat(sections)}`;
    return { open, extra, closing, completed, pictureLost: this.#pictureLost };
  }

  /** @returns where to go on */
  #delimiter(byte: number, at: number): number {
    const bytes = this.#bytes;
    switch (byte) {
      case 0x28: {
        const { end, open } = endOfString(bytes, at);
        if (open > MAX_BRACKETS) this.#cut = this.#brackets.length > 0 ? this.#outermost : at;
        else if (open > 0) this.#missing = `\n${")".repeat(open)}`;
        return end;
      }
      case 0x25: {
        const end = endOfComment(bytes, at);
        this.#comment = end === bytes.length;
        return end;
      }
      case 0x2f:
        return endOfWord(bytes, at + 1);
      case 0x3c: {
        if (bytes[at + 1] === 0x3c) return this.#open(">>", at) + 2;
        const end = bytes.indexOf(0x3e, at);
        if (end >= 0) return end + 1;
        this.#missing = ">";
        return bytes.length;
      }
      case 0x3e:
        return bytes[at + 1] === 0x3e ? this.#close(">>", at) + 2 : at + 1;
      case 0x5b:
        return this.#open("]", at) + 1;
      case 0x5d:
        return this.#close("]", at) + 1;
      default:
        return at + 1;
    }
  }

  #open(bracket: string, at: number): number {
    if (this.#brackets.length === 0) this.#outermost = at;
    this.#brackets.push(bracket);
    return at;
  }

  #close(bracket: string, at: number): number {
    if (this.#brackets.at(-1) === bracket) {
      this.#brackets.pop();
      if (this.#brackets.length === 0) this.#inside = nothing();
    }
    return at;
  }

  /** @returns where to go on */
  #word(at: number, end: number): number {
    const length = end - at;
    const first = this.#bytes[at] ?? 0;
    // No operator looked for here is longer, or begins with what numbers begin with.
    if (length > 3 || first < 0x42) return end;
    const second = this.#bytes[at + 1] ?? 0;
    const tally = this.#brackets.length === 0 ? this.#tally : this.#inside;
    if (length === 1) countLetter(tally, first);
    else if (length === 2) {
      if (first === 0x42 && second === 0x54) tally.text = true;
      else if (first === 0x45 && second === 0x54) tally.text = false;
      else if (first === 0x42 && second === 0x58) tally.sections++;
      else if (first === 0x45 && second === 0x58) tally.sections = Math.max(0, tally.sections - 1);
      else if (first === 0x72 && second === 0x65) tally.path = true;
      else if (second === 0x2a && "fBb".includes(String.fromCharCode(first))) tally.path = false;
      else if (first === 0x42 && second === 0x49 && this.#brackets.length === 0) this.#image = end;
      else if (first === 0x49 && second === 0x44 && this.#image >= 0) return this.#imageData(end);
    } else if (this.#bytes[at + 2] === 0x43) {
      if (first === 0x45 && second === 0x4d) tally.marks = Math.max(0, tally.marks - 1);
      else if (first === 0x42 && (second === 0x4d || second === 0x44)) tally.marks++;
    }
    return end;
  }

  /** Behind the `EI` of the inline image whose data begins at `from` (§8.9.7): the first that stands alone and before text. */
  #imageData(from: number): number {
    const bytes = this.#bytes;
    const start = from + 1;
    const length = plainLength(entriesBetween(bytes, this.#image, from - 2));
    const begin = this.#image - 2;
    this.#image = -1;
    if (length !== null && start + length <= bytes.length) {
      let at = start + length;
      while (isSpace(bytes[at] ?? 0) && at < bytes.length) at++;
      if (isEnd(bytes, at)) return at + 2;
    }
    let fallback = -1;
    let last = start;
    for (let at = bytes.indexOf(0x45, start); at >= 0; at = bytes.indexOf(0x45, at + 1)) {
      if (fallback >= 0) this.#search -= at - last;
      if (this.#search < 0) break;
      last = at;
      if (!isEnd(bytes, at) || !isSpace(bytes[at - 1] ?? 0)) continue;
      if (isText(bytes, at + 2)) return at + 2;
      if (fallback < 0) fallback = at + 2;
    }
    if (fallback >= 0) return fallback;
    if (length !== null && start + length <= bytes.length) this.#missing = "\nEI";
    else {
      this.#cut = begin;
      this.#pictureLost = true;
    }
    return bytes.length;
  }
}

function countLetter(tally: Tally, letter: number): void {
  switch (letter) {
    case 0x71: // q
      tally.saves++;
      break;
    case 0x51: // Q
      if (tally.saves > 0) tally.saves--;
      else tally.restores++;
      break;
    case 0x6d: // m
    case 0x6c: // l
    case 0x63: // c
    case 0x76: // v
    case 0x79: // y
    case 0x68: // h
    case 0x57: // W
      tally.path = true;
      break;
    case 0x66: // f
    case 0x46: // F
    case 0x42: // B
    case 0x62: // b
    case 0x53: // S
    case 0x73: // s
    case 0x6e: // n
      tally.path = false;
      break;
  }
}

/** An inline image's dictionary as far as it can be read. */
function entriesBetween(bytes: Uint8Array, start: number, end: number): PdfDict {
  const dict = new PdfDict();
  const parser = new Parser(bytes, start, { objects: 1000, scan: 0, inflate: 0 }, end);
  try {
    for (parser.skip(); parser.peek() !== -1; parser.skip()) {
      const key = parser.object();
      if (!(key instanceof PdfName)) break;
      dict.set(key.value, parser.object());
    }
  } catch (error) {
    if (!(error instanceof PdfError)) throw error;
  }
  return dict;
}

const isEnd = (bytes: Uint8Array, at: number): boolean =>
  bytes[at] === 0x45 && bytes[at + 1] === 0x49 && (at + 2 >= bytes.length || isSpace(bytes[at + 2] ?? 0));

function endOfWord(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && isRegular(bytes[at] ?? 0)) at++;
  return at;
}

function endOfComment(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== 10 && bytes[at] !== 13) at++;
  return at;
}

/** Behind the string, and how many of its parentheses are open there: more than none only at the end of `bytes`. */
function endOfString(bytes: Uint8Array, from: number): { end: number; open: number } {
  let open = 0;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x5c) at++;
    else if (byte === 0x28) open++;
    else if (byte === 0x29 && --open === 0) return { end: at + 1, open };
  }
  return { end: bytes.length, open };
}
