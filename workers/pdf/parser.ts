/** Reads objects out of bytes (ISO 32000-1 §7.2, §7.3), with limits on depth, count and size. */
import { dangerOf } from "./active-content-uri.ts";
import { PdfDict, PdfError, PdfName, type PdfObject, PdfRef, PdfStream, PdfString } from "./objects.ts";

/** Shared by everything read from one file, so that many small abuses add up to a refusal. */
export type Budget = {
  /** units of reading that are left (see `COST`); whatever keeps what it reads in memory counts them a second time */
  objects: number;
  /** bytes that may still be scanned for a lost `endstream` */
  scan: number;
  /** bytes that may still be inflated */
  inflate: number;
};

/** For work that no parser does. @throws PdfError `too-complex` when nothing is left */
export function spend(budget: Budget, units: number): void {
  budget.objects -= units;
  if (budget.objects < 0) throw new PdfError("too-complex", "too many objects");
}

/**
 * Units that what is kept of a file may cost: of any file at first, of the one that a task is about (`makeRoom`), and of that
 * one with two of its earlier states. The worst that could be made of it takes less than 900 MB of a thread's 1024.
 */
export const MAX_KEPT = 2_500_000;
export const MAX_KEPT_WHOLE = 7_000_000;
export const MAX_KEPT_TOGETHER = 12_000_000;
/** Behind `stream`, before its end of line. */
const MAX_BLANKS = 16;
/** Units of reading in a file; most of it is not kept. */
export const MAX_WORK = 16_000_000;

const MAX_DEPTH = 256;
const MAX_NUMBER_LENGTH = 64;
const MAX_EXACT_DIGITS = 15;
/** Characters: joined one by one, strings up to the first are kept in one piece. */
const SHORT = 12;
const PIECE = 4096;
/** A unit pays for 64 bytes of memory at most, so that what a file may keep is bounded; measured with Node 24. */
const COST = { number: 1, name: 1, word: 1, string: 4, array: 3, dict: 4 };
/** Several objects may be read out of the same bytes, so that bytes are paid for each time: so many of them are a unit. */
const BYTES_PER_UNIT = 16;

// 1 = white space (Table 1), 2 = delimiter (Table 2), 0 = regular
const CLASS = new Uint8Array(256);
for (const byte of [0, 9, 10, 12, 13, 32]) CLASS[byte] = 1;
for (const byte of Buffer.from("()<>[]{}/%")) CLASS[byte] = 2;

export const isSpace = (byte: number): boolean => CLASS[byte] === 1;
export const isRegular = (byte: number): boolean => CLASS[byte] === 0;
const isDigit = (byte: number): boolean => byte >= 48 && byte <= 57;
const startsNumber = (byte: number): boolean => isDigit(byte) || byte === 0x2b || byte === 0x2d || byte === 0x2e;

/** -1 for what is no hexadecimal digit. */
export function hexValue(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 0x20;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

// -1 for what is no hexadecimal digit.
const HEX = Int8Array.from({ length: 256 }, (_, byte) => hexValue(byte));

/** Pairs of digits and nothing else, as in every /Contents; null when anything else stands there. */
export function plainHex(bytes: Uint8Array, start: number, end: number): Uint8Array | null {
  if ((end - start) % 2 !== 0) return null;
  const out = new Uint8Array((end - start) / 2);
  for (let at = start, index = 0; at < end; at += 2, index++) {
    const value = ((HEX[bytes[at] ?? 0] ?? -1) << 4) | (HEX[bytes[at + 1] ?? 0] ?? -1);
    if (value < 0) return null;
    out[index] = value;
  }
  return out;
}

/** A view costs more memory than the bytes of a short string. */
const upTo = (bytes: Uint8Array, length: number): Uint8Array =>
  length === bytes.length ? bytes : bytes.slice(0, length);

/** One character a byte. A long string put together from single ones keeps a piece of memory for each of them. */
function textBetween(bytes: Uint8Array, start: number, end: number): string {
  let text = "";
  if (end - start <= SHORT) {
    for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at] ?? 0);
    return text;
  }
  for (let at = start; at < end; at += PIECE)
    text += String.fromCharCode(...bytes.subarray(at, Math.min(at + PIECE, end)));
  return text;
}

// Types of actions and annotations, and keys under which scripts, files and what acts without a click stand.
const TELLING = new Set(
  (
    "JavaScript JS Launch SubmitForm ResetForm ImportData GoToR GoToE Rendition Movie Sound RichMedia RichMediaExecute " +
    "GoTo3DView 3D Screen FileAttachment EmbeddedFiles EF AF AA NA Thread SetOCGState Hide Trans Projection Ref"
  ).split(" "),
);

export class Parser {
  readonly bytes: Uint8Array;
  readonly end: number;
  pos: number;
  /** The highest object number that was referred to. */
  highest = 0;
  /** Whether a dictionary held a key twice: readers differ in which value they take. */
  ambiguous = false;
  /** Whether something was read that active content and attachments cannot do without (`active-content.ts`). */
  mayAct = false;
  /** Units that were spent, and how many of them this parser may spend at most. */
  spent = 0;
  room = Number.POSITIVE_INFINITY;
  /** Told of every reference. */
  onRef: ((num: number, gen: number) => void) | null = null;
  readonly #budget: Budget;
  /** Bytes that do not make a unit yet. */
  #loose = 0;

  constructor(bytes: Uint8Array, pos: number, budget: Budget, end = bytes.length) {
    this.bytes = bytes;
    this.pos = pos;
    this.end = Math.min(end, bytes.length);
    this.#budget = budget;
  }

  fail(message: string): never {
    throw new PdfError("damaged", `${message} at byte ${this.pos}`);
  }
  /** The byte at the position, -1 at the end. */
  peek(ahead = 0): number {
    const at = this.pos + ahead;
    return at < this.end ? (this.bytes[at] ?? -1) : -1;
  }
  /** @throws PdfError `too-complex` when nothing is left */
  spend(units: number): void {
    this.spent += units;
    if (this.spent > this.room) throw new PdfError("too-complex", "too many objects");
    spend(this.#budget, units);
  }

  #spendBytes(count: number): void {
    const bytes = this.#loose + count;
    this.#loose = bytes % BYTES_PER_UNIT;
    if (bytes >= BYTES_PER_UNIT) this.spend(Math.floor(bytes / BYTES_PER_UNIT));
  }

  /** Skips white space and comments. */
  skip(): void {
    const start = this.pos;
    while (this.pos < this.end) {
      const byte = this.bytes[this.pos] ?? 0;
      if (isSpace(byte)) this.pos++;
      else if (byte === 0x25) {
        while (this.pos < this.end && this.bytes[this.pos] !== 10 && this.bytes[this.pos] !== 13) this.pos++;
      } else break;
    }
    this.#spendBytes(this.pos - start);
  }

  /** True, and moves behind it, when exactly this keyword stands here. */
  keyword(word: string): boolean {
    for (let i = 0; i < word.length; i++) if (this.peek(i) !== word.charCodeAt(i)) return false;
    const next = this.peek(word.length);
    if (next !== -1 && isRegular(next)) return false;
    this.pos += word.length;
    return true;
  }

  /** An unsigned integer, or null with the position unchanged. */
  unsigned(): number | null {
    const start = this.pos;
    let value = 0;
    while (isDigit(this.peek())) {
      value = value * 10 + (this.peek() - 48);
      this.pos++;
      if (this.pos - start > 15) this.fail("number too long");
    }
    if (this.pos === start) return null;
    this.spend(COST.number);
    return value;
  }

  object(depth = 0): PdfObject {
    if (depth > MAX_DEPTH) throw new PdfError("too-complex", "objects nested too deeply");
    this.skip();
    const byte = this.peek();
    if (startsNumber(byte)) return this.#numberOrRef();
    switch (byte) {
      case 0x2f:
        this.spend(COST.name);
        return new PdfName(this.#name());
      case 0x28:
        return this.#literal();
      case 0x5b:
        return this.#array(depth);
      case 0x3c:
        return this.peek(1) === 0x3c ? this.#dict(depth) : this.#hexString();
      default:
        this.spend(COST.word);
        if (this.keyword("true")) return true;
        if (this.keyword("false")) return false;
        if (this.keyword("null")) return null;
        return this.fail(byte === -1 ? "unexpected end" : "unexpected token");
    }
  }

  #numberOrRef(): PdfObject {
    this.spend(COST.number);
    let at = this.pos;
    let value = 0;
    for (; at < this.end && isDigit(this.bytes[at] ?? 0); at++) value = value * 10 + ((this.bytes[at] ?? 0) - 48);
    const digits = at - this.pos;
    if (digits === 0 || digits > MAX_EXACT_DIGITS || (at < this.end && isRegular(this.bytes[at] ?? 0))) {
      return this.#otherNumber();
    }
    const ref = digits <= 10 ? this.#refBehind(value, at) : null;
    if (!ref) this.pos = at;
    return ref ?? value;
  }

  /** What is not written with digits alone, or with more of them than a number holds. */
  #otherNumber(): number {
    const start = this.pos;
    while (this.pos < this.end && isRegular(this.bytes[this.pos] ?? 0)) {
      this.pos++;
      if (this.pos - start > MAX_NUMBER_LENGTH) this.fail("number too long");
    }
    this.#spendBytes(this.pos - start);
    const text = textBetween(this.bytes, start, this.pos);
    // Producers write "--1", "1-" and "." now and then; readers take the leading number, or zero.
    const value = Number(text);
    if (Number.isFinite(value)) return value;
    const lenient = Number.parseFloat(text.replace(/^[+-]*-/, "-").replace(/^\++/, ""));
    return Number.isFinite(lenient) ? lenient : /^[+\-.]+$/.test(text) ? 0 : this.fail("bad number");
  }

  /** The reference to object `num`, whose digits end at `from`; null, with the position unchanged, when it is a mere number. */
  #refBehind(num: number, from: number): PdfRef | null {
    let at = from;
    if (!isSpace(this.bytes[at] ?? 0xff)) return null;
    while (at < this.end && isSpace(this.bytes[at] ?? 0xff)) at++;
    const genStart = at;
    let gen = 0;
    for (; isDigit(this.bytes[at] ?? 0) && at < this.end; at++) gen = gen * 10 + ((this.bytes[at] ?? 0) - 48);
    if (at === genStart || at - genStart > 5 || !isSpace(this.bytes[at] ?? 0xff)) return null;
    while (at < this.end && isSpace(this.bytes[at] ?? 0xff)) at++;
    if (at >= this.end || this.bytes[at] !== 0x52) return null;
    if (at + 1 < this.end && isRegular(this.bytes[at + 1] ?? 0)) return null;
    this.pos = at + 1;
    if (num > this.highest) this.highest = num;
    this.onRef?.(num, gen);
    return new PdfRef(num, gen);
  }

  #name(): string {
    const start = ++this.pos;
    let plain = true;
    for (; this.pos < this.end && isRegular(this.bytes[this.pos] ?? 0); this.pos++) {
      if (this.bytes[this.pos] === 0x23) plain = false;
    }
    this.#spendBytes(this.pos - start);
    const value = plain ? textBetween(this.bytes, start, this.pos) : this.#escapedName(start);
    if (TELLING.has(value)) this.mayAct = true;
    return value;
  }

  /** From `start` up to the position, #xx undone. */
  #escapedName(start: number): string {
    const out = new Uint8Array(this.pos - start);
    let length = 0;
    for (let at = start; at < this.pos; length++) {
      const byte = this.bytes[at] ?? 0;
      const high = byte === 0x23 && at + 2 < this.pos ? hexValue(this.bytes[at + 1] ?? 0) : -1;
      const low = high >= 0 ? hexValue(this.bytes[at + 2] ?? 0) : -1;
      out[length] = low >= 0 ? high * 16 + low : byte;
      at += low >= 0 ? 3 : 1;
    }
    return textBetween(out, 0, length);
  }

  #literal(): PdfString {
    this.spend(COST.string);
    const start = ++this.pos;
    const end = this.#literalEnd();
    this.#spendBytes(end - start);
    const out = new Uint8Array(end - start);
    let length = 0;
    let depth = 1;
    while (true) {
      let byte = this.peek();
      if (byte === -1) this.fail("string does not end");
      this.pos++;
      if (byte === 0x5c) {
        byte = this.#escape();
        if (byte === -1) continue;
      } else if (byte === 0x28) depth++;
      else if (byte === 0x29) {
        if (--depth === 0) return new PdfString(upTo(out, length));
      } else if (byte === 13) {
        // An end of line inside a string counts as one line feed (§7.3.4.2).
        if (this.peek() === 10) this.pos++;
        byte = 10;
      }
      out[length++] = byte;
    }
  }

  /** Where the parenthesis that closes the string stands. */
  #literalEnd(): number {
    let depth = 1;
    for (let at = this.pos; at < this.end; at++) {
      const byte = this.bytes[at];
      if (byte === 0x5c) at++;
      else if (byte === 0x28) depth++;
      else if (byte === 0x29 && --depth === 0) return at;
    }
    this.pos = this.end;
    return this.fail("string does not end");
  }

  /** The byte that an escape stands for; -1 for a continued line. */
  #escape(): number {
    const byte = this.peek();
    this.pos++;
    if (byte >= 0x30 && byte <= 0x37) {
      let value = byte - 0x30;
      for (let i = 0; i < 2 && this.peek() >= 0x30 && this.peek() <= 0x37; i++) {
        value = value * 8 + this.peek() - 0x30;
        this.pos++;
      }
      return value & 0xff;
    }
    if (byte === 13) {
      if (this.peek() === 10) this.pos++;
      return -1;
    }
    if (byte === 10) return -1;
    if (byte === -1) this.fail("string does not end");
    const control = "nrtbf".indexOf(String.fromCharCode(byte));
    return control >= 0 ? ([10, 13, 9, 8, 12][control] ?? byte) : byte;
  }

  #hexString(): PdfString {
    this.spend(COST.string);
    const start = ++this.pos;
    const close = this.bytes.indexOf(0x3e, start);
    this.pos = close < 0 ? this.end : Math.min(close, this.end);
    if (this.pos === this.end) this.fail("hex string does not end");
    this.#spendBytes(this.pos - start);
    const plain = plainHex(this.bytes, start, this.pos);
    if (plain) {
      this.pos++;
      return new PdfString(plain, true);
    }
    const out = new Uint8Array((this.pos - start + 1) >> 1);
    let digits = 0;
    for (let at = start; at < this.pos; at++) {
      const value = hexValue(this.bytes[at] ?? 0);
      if (value < 0) {
        if (isSpace(this.bytes[at] ?? 0)) continue;
        this.fail("bad hex digit");
      }
      const index = digits >> 1;
      out[index] = digits % 2 === 0 ? value << 4 : (out[index] ?? 0) | value;
      digits++;
    }
    this.pos++;
    return new PdfString(upTo(out, (digits + 1) >> 1), true);
  }

  #array(depth: number): PdfObject[] {
    this.spend(COST.array);
    this.pos++;
    const items: PdfObject[] = [];
    while (true) {
      this.skip();
      if (this.peek() === 0x5d) {
        this.pos++;
        return items;
      }
      items.push(this.object(depth + 1));
    }
  }

  #dict(depth: number): PdfDict {
    this.spend(COST.dict);
    this.pos += 2;
    const result = new PdfDict();
    while (true) {
      this.skip();
      const byte = this.peek();
      if (byte === 0x3e && this.peek(1) === 0x3e) {
        this.pos += 2;
        return result;
      }
      if (byte !== 0x2f) this.fail("dictionary key is not a name");
      const key = this.#name();
      this.skip();
      if (this.peek() === 0x3e && this.peek(1) === 0x3e) continue;
      if (result.has(key)) this.ambiguous = true;
      const value = this.object(depth + 1);
      // Nearly every document has ordinary ones.
      if (key === "URI" && !(value instanceof PdfString && dangerOf(value) === null)) this.mayAct = true;
      result.set(key, value);
    }
  }

  /** `num gen obj` at the position (§7.3.10). */
  header(): { num: number; gen: number } {
    this.skip();
    const num = this.unsigned();
    this.skip();
    const gen = this.unsigned();
    this.skip();
    if (num === null || gen === null || !this.keyword("obj")) this.fail("no object");
    return { num, gen };
  }

  /** What stands behind the header; `length` finds the /Length of the stream with this dictionary. */
  body(length: (dict: PdfDict) => number | null): PdfObject {
    const object = this.object();
    if (!(object instanceof PdfDict)) return object;
    this.skip();
    if (!this.keyword("stream")) return object;
    // Its data may lie in a file.
    if (object.has("F")) this.mayAct = true;
    this.#blanksBeforeLine();
    if (this.peek() === 13) this.pos++;
    if (this.peek() === 10) this.pos++;
    const own = this.#ofLength(length(object));
    return own ? new PdfStream(object, own) : new PdfStream(object, this.#upToEnd(), false);
  }

  /** `num gen obj … endobj` at the position. */
  indirect(length: (dict: PdfDict) => number | null): { num: number; gen: number; object: PdfObject } {
    const { num, gen } = this.header();
    return { num, gen, object: this.body(length) };
  }

  /** The number or the reference at the position; null for anything else, which is not read. */
  numberOrRef(): PdfObject {
    this.skip();
    return startsNumber(this.peek()) ? this.#numberOrRef() : null;
  }

  /** Some programs write them behind `stream`, and readers pass over them. */
  #blanksBeforeLine(): void {
    let blanks = 0;
    while (blanks < MAX_BLANKS && (this.peek(blanks) === 32 || this.peek(blanks) === 9)) blanks++;
    if (this.peek(blanks) === 13 || this.peek(blanks) === 10) this.pos += blanks;
  }

  /** Null when the stream does not end there; the position is then as before. */
  #ofLength(length: number | null): Uint8Array | null {
    const start = this.pos;
    if (length === null || !Number.isInteger(length) || length < 0 || start + length > this.end) return null;
    this.pos = start + length;
    while (isSpace(this.peek())) this.pos++;
    if (this.keyword("endstream") || this.keyword("endstreamendobj")) return this.bytes.subarray(start, start + length);
    this.pos = start;
    return null;
  }

  #upToEnd(): Uint8Array {
    const start = this.pos;
    // The data ends before the next `endstream` and its end of line.
    const view = Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.end);
    const found = view.indexOf("endstream", start, "latin1");
    this.#budget.scan -= (found < 0 ? this.end : found) - start;
    if (this.#budget.scan < 0) throw new PdfError("too-complex", "too many streams of unknown length");
    if (found < 0) this.fail("stream does not end");
    this.pos = found + 9;
    let stop = found;
    if (this.bytes[stop - 1] === 10 && stop > start) stop--;
    if (this.bytes[stop - 1] === 13 && stop > start) stop--;
    return this.bytes.subarray(start, stop);
  }
}
