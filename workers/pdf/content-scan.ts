/** Counts what content streams leave open, in each way in which readers may read them. */
import { imageEnd, type Search } from "./inline-image.ts";
import { type Budget, isRegular, isSpace } from "./parser.ts";

export type Ending = {
  /** Saves that may never be restored. */
  open: number;
  /** Restores that may be of states never saved. */
  extra: number;
  /** Operators that end the path, text object, marked content and so on that are open; empty for most pages. */
  closing: string;
  /** All of the content with the token ended in which it breaks off; null when it ends behind a token, as it nearly always does. */
  completed: Uint8Array | null;
  /** An inline image whose data breaks off was left out of `completed`: some readers take what follows for its data. */
  pictureLost: boolean;
  /** Ends of marked content that some readers may take for the data of an inline image. */
  unsureEnds: number;
};

/** Saves, restores, marks and sections, each: several times what is accepted, since stamps add their own. */
const MAX_OPEN = 16_000;
/** Also of parentheses in a string that does not end. */
const MAX_BRACKETS = 256;
/** For what cannot be counted. */
export const SPARE = 64;
/** Steps that any page may take on ends of inline images. */
const MIN_SEARCH = 16 * 1024 * 1024;

/** What a stretch of content leaves open. */
type Tally = {
  saves: number;
  restores: number;
  marks: number;
  sections: number;
  /** Ends of marks and sections that were begun before it. */
  marksEnded: number;
  sectionsEnded: number;
  /** Null when it neither begins nor ends one. */
  text: boolean | null;
  path: boolean | null;
};
const nothing = (): Tally => ({
  saves: 0,
  restores: 0,
  marks: 0,
  sections: 0,
  marksEnded: 0,
  sectionsEnded: 0,
  text: null,
  path: null,
});

/** A part of a page's content that begins and ends between two tokens. */
export type Part = { length: number; own: Tally; doubtful: Tally; comment: boolean };

/**
 * `budget` also pays for ends of inline images, and without enough of it content is `too-large`. `too-many` things are open;
 * `unclear` when readers may take parts of the content for something else altogether.
 */
export function scanContent(bytes: Uint8Array, budget: Budget): Ending | "too-large" | "too-many" | "unclear" {
  return scanned(bytes, budget)?.ending() ?? "too-large";
}

/** `part` is null when what stands behind it may change how readers take it; `ending` is for when nothing does. */
export type Scanned = { part: Part | null; ending: () => Ending | "too-many" | "unclear" };

/** Of one of a page's streams. */
export function scanStream(bytes: Uint8Array, budget: Budget): Scanned | "too-large" {
  const scan = scanned(bytes, budget);
  return scan ? { part: scan.part(), ending: () => scan.ending() } : "too-large";
}

function scanned(bytes: Uint8Array, budget: Budget): Scan | null {
  const steps = 2 * bytes.length + MIN_SEARCH;
  const search = { left: steps, budget };
  const scan = new Scan(bytes, search);
  budget.inflate -= steps - search.left;
  return search.left < 0 ? null : scan;
}

/** What parts leave open that stand one behind the other. */
export function endingOfParts(parts: readonly Part[]): Ending | "too-many" {
  const [own, doubtful] = [nothing(), nothing()];
  for (const part of parts) {
    follow(own, part.own);
    add(doubtful, part.doubtful);
  }
  return endingFrom(own, doubtful, { comment: parts.at(-1)?.comment ?? false, ...whole });
}

const whole = { completed: null, pictureLost: false, unsureEnds: 0 };

function follow(tally: Tally, next: Tally): void {
  const restored = Math.min(tally.saves, next.restores);
  tally.saves += next.saves - restored;
  tally.restores += next.restores - restored;
  tally.marks = Math.max(0, tally.marks - next.marksEnded) + next.marks;
  tally.sections = Math.max(0, tally.sections - next.sectionsEnded) + next.sections;
  tally.text = next.text ?? tally.text;
  tally.path = next.path ?? tally.path;
}

function add(tally: Tally, next: Tally): void {
  tally.saves += next.saves;
  tally.restores += next.restores;
  tally.marks += next.marks;
  tally.sections += next.sections;
  tally.text ||= next.text;
  tally.path ||= next.path;
}

function endingFrom(
  own: Tally,
  other: Tally,
  { comment, ...rest }: { comment: boolean } & Omit<Ending, "open" | "extra" | "closing">,
): Ending | "too-many" {
  const marks = own.marks + other.marks;
  const sections = own.sections + other.sections;
  // Every way of counting is provided for. Poppler draws nothing behind a restore too many, so that for each of these
  // restores there is a save in front.
  const open = own.saves + other.saves;
  const extra = own.restores + other.restores + other.saves;
  if (Math.max(open, extra, marks, sections) > MAX_OPEN) return "too-many";
  const path = own.path || other.path ? "n " : "";
  const text = own.text || other.text ? "ET " : "";
  const line = comment && !rest.completed ? "\n" : "";
  const closing = `${line}${path}${text}${"EMC ".repeat(marks)}${"EX ".repeat(sections)}`;
  return { open, extra, closing, ...rest };
}

class Scan {
  readonly #bytes: Uint8Array;
  /** What all readers take for operators. */
  readonly #tally = nothing();
  /** What only some do, in brackets or as parts of longer words: nothing takes back what may be open. */
  readonly #doubtful = nothing();
  /** What ends each open bracket, and where the outermost begins. */
  readonly #brackets: string[] = [];
  #outermost = 0;
  /** How many things stand in each open bracket. */
  readonly #items: number[] = [];
  /** Behind the `BI` of an inline image whose data has not begun; -1 elsewhere. */
  #image = -1;
  readonly #search: Search;
  /** What ends the token in which the content breaks off. */
  #missing: string | null = null;
  /** From where on nothing can be completed; -1 for nowhere. */
  #cut = -1;
  #pictureLost = false;
  #comment = false;
  #unclear = false;
  #tooMany = false;
  /** Saves are provided for that may stand in what was taken for a picture. */
  #spared = false;
  /** Ends of marks in what was taken for no picture any more. */
  #unsureEnds = 0;

  constructor(bytes: Uint8Array, search: Search) {
    this.#bytes = bytes;
    this.#search = search;
    for (let at = 0; at < bytes.length && !this.#unclear && !this.#tooMany; ) {
      const byte = bytes[at] ?? 0;
      if (isSpace(byte)) at++;
      else if (!isRegular(byte)) at = this.#delimiter(byte, at);
      else at = this.#word(at, endOfWord(bytes, at));
      if (this.#brackets.length > MAX_BRACKETS) {
        // Nobody reads so many brackets, nor what is behind them.
        this.#cut = this.#outermost;
        break;
      }
    }
  }

  ending(): Ending | "too-many" | "unclear" {
    const [own, other] = [this.#tally, this.#doubtful];
    if (this.#tooMany) return "too-many";
    if (this.#image >= 0 && this.#cut < 0) {
      if (this.#missing !== null || this.#brackets.length > 0) return "unclear";
      this.#missing = "\n/X 0 ID \nEI";
    }
    if (this.#unclear) return "unclear";
    let completed: Uint8Array | null = null;
    if (this.#cut >= 0) completed = this.#bytes.subarray(0, this.#cut);
    else if (this.#missing !== null || this.#brackets.length > 0) {
      const closers = this.#brackets.map((bracket, index) => (this.#isUneven(index) ? `0 ${bracket}` : bracket));
      const end = `${this.#missing ?? ""}\n${closers.toReversed().join(" ")}\n`;
      completed = Buffer.concat([this.#bytes, Buffer.from(end, "latin1")]);
    }
    const [pictureLost, unsureEnds] = [this.#pictureLost, this.#unsureEnds];
    return endingFrom(own, other, { comment: this.#comment, completed, pictureLost, unsureEnds });
  }

  part(): Part | null {
    const broken = this.#missing !== null || this.#brackets.length > 0 || this.#cut >= 0 || this.#image >= 0;
    // An image whose end was only looked for may end in what follows.
    if (broken || this.#unclear || this.#tooMany || this.#spared) return null;
    return { length: this.#bytes.length, own: this.#tally, doubtful: this.#doubtful, comment: this.#comment };
  }

  /** @returns where to go on */
  #delimiter(byte: number, at: number): number {
    const bytes = this.#bytes;
    switch (byte) {
      case 0x28: {
        this.#count();
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
        this.#count();
        return endOfWord(bytes, at + 1);
      case 0x3c: {
        if (bytes[at + 1] === 0x3c) return this.#open(">>", at) + 2;
        this.#count();
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
    this.#count();
    this.#brackets.push(bracket);
    this.#items.push(0);
    return at;
  }

  #close(bracket: string, at: number): number {
    if (this.#brackets.at(-1) !== bracket) return at;
    // Poppler takes the bracket for the value that is missing, and goes on to the next.
    if (this.#isUneven(this.#brackets.length - 1)) this.#unclear = true;
    this.#brackets.pop();
    this.#items.pop();
    return at;
  }

  #count(): void {
    const last = this.#items.length - 1;
    if (last >= 0) this.#items[last] = (this.#items[last] ?? 0) + 1;
  }

  #isUneven(index: number): boolean {
    return this.#brackets[index] === ">>" && (this.#items[index] ?? 0) % 2 === 1;
  }

  /** @returns where to go on */
  #word(at: number, end: number): number {
    const bytes = this.#bytes;
    const [first, second, third] = [bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0];
    const length = end - at;
    if (first < 0x3a && isNumber(bytes, at, end)) {
      if (this.#items.length > 0) this.#count();
      return end;
    }
    if (length > 3 || this.#brackets.length > 0 || this.#image >= 0 || !isPlain(bytes, at, end)) {
      if (this.#image >= 0 && length === 2 && first === 0x49 && second === 0x44) return this.#imageData(at);
      this.#other(at, end);
      return end;
    }
    const tally = this.#tally;
    if (length === 1) countLetter(tally, first);
    else if (length === 2) {
      if (first === 0x42 && second === 0x54) tally.text = true;
      else if (first === 0x45 && second === 0x54) tally.text = false;
      else if (first === 0x42 && second === 0x58) tally.sections++;
      else if (first === 0x45 && second === 0x58) endSection(tally);
      else if (first === 0x72 && second === 0x65) tally.path = true;
      else if (second === 0x2a && "fBb".includes(String.fromCharCode(first))) tally.path = false;
      else if (first === 0x42 && second === 0x49) this.#image = end;
    } else if (third === 0x43) {
      if (first === 0x45 && second === 0x4d) {
        if (this.#spared && tally.marks > 0) this.#unsureEnds++;
        endMark(tally);
      } else if (first === 0x42 && (second === 0x4d || second === 0x44)) tally.marks++;
    }
    return end;
  }

  /** A word where no operator belongs, or that is none: some readers split it, at other places than others. */
  #other(from: number, to: number): void {
    const bytes = this.#bytes;
    if (isConstant(bytes, from, to)) {
      this.#count();
      return;
    }
    // Into entries belong only operands: readers differ in whether one is a key, a value or nothing.
    if (this.#image >= 0 || this.#brackets.at(-1) === ">>") this.#unclear = true;
    const tally = this.#doubtful;
    for (let at = from; at < to; at++) {
      const byte = bytes[at] ?? 0;
      const next = at + 1 < to ? bytes[at + 1] : 0;
      if (byte === 0x71) tally.saves++;
      else if (byte === 0x51) tally.restores++;
      else if (isPathLetter(byte)) tally.path = true;
      else if (byte === 0x42) {
        // What follows an image's beginning is its data for some readers.
        if (next === 0x49) this.#unclear = true;
        else if (next === 0x4d || next === 0x44) tally.marks++;
        else if (next === 0x58) tally.sections++;
        else if (next === 0x54) tally.text = true;
      }
    }
    // MuPDF reads no further than that.
    if (to - from >= 9 && latin1(bytes, from, to).includes("endstream")) this.#unclear = true;
    const most = Math.max(tally.saves, tally.restores, tally.marks, tally.sections);
    if (most > MAX_OPEN) this.#tooMany = true;
  }

  /** Behind the inline image with its `ID` at `at`. */
  #imageData(at: number): number {
    const begin = this.#image;
    this.#image = -1;
    const found = this.#brackets.length > 0 ? "unclear" : imageEnd(this.#bytes, begin, at, this.#search);
    if (found === "unclear") this.#unclear = true;
    else if (found === "cut") this.#missing = "\nEI";
    else if (found === "lost") {
      this.#cut = begin - 2;
      this.#pictureLost = true;
    } else {
      if (!found.certain && !this.#spared) this.#doubtful.saves += SPARE;
      this.#spared ||= !found.certain;
      return found.end;
    }
    return this.#bytes.length;
  }
}

function endMark(tally: Tally): void {
  if (tally.marks > 0) tally.marks--;
  else tally.marksEnded++;
}

function endSection(tally: Tally): void {
  if (tally.sections > 0) tally.sections--;
  else tally.sectionsEnded++;
}

const isPathLetter = (byte: number): boolean =>
  byte === 0x6d || byte === 0x6c || byte === 0x63 || byte === 0x76 || byte === 0x79 || byte === 0x68 || byte === 0x57;

/** `true`, `false` or `null`. */
function isConstant(bytes: Uint8Array, from: number, to: number): boolean {
  const first = bytes[from];
  if (to - from > 5 || to - from < 4 || (first !== 0x74 && first !== 0x66 && first !== 0x6e)) return false;
  return ["true", "false", "null"].includes(latin1(bytes, from, to));
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

/** Digits, signs and points alone. */
function isNumber(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0;
    if (byte > 0x39 || byte < 0x2b || byte === 0x2c || byte === 0x2f) return false;
  }
  return true;
}

/** What operators are made of, without a digit in front. */
function isPlain(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0;
    const letter = (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
    const digit = byte >= 0x30 && byte <= 0x39;
    if (!letter && !(digit && at > from) && byte !== 0x2a && byte !== 0x22 && byte !== 0x27) return false;
  }
  return true;
}

const latin1 = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("latin1");

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
