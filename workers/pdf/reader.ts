/** Opens a PDF lazily: the cross-reference chain at once, each object when it is asked for. */
import { decodeStream } from "./filters.ts";
import { ObjectSource, type PdfDict, PdfError, type PdfObject, PdfRef, PdfStream } from "./objects.ts";
import { type PdfPage, walkPages } from "./pages.ts";
import { type Budget, MAX_KEPT, MAX_KEPT_TOGETHER, MAX_KEPT_WHOLE, MAX_WORK, Parser, spend } from "./parser.ts";
import { readXref, type Xref, type XrefEntry } from "./xref.ts";

export type { PdfPage } from "./pages.ts";

/**
 * Opens a PDF for reading and for appending revisions. The bytes are kept by reference and must not change.
 * Cost is that of the cross-reference chain, not of the file.
 * @throws PdfError `not-a-pdf`, `damaged`, `too-complex`. An encrypted file opens, with `encrypted` true and its
 * strings and streams undecrypted.
 */
export function openPdf(bytes: Uint8Array): PdfFile {
  if (Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(5, bytes.length)).toString("latin1") !== "%PDF-") {
    throw new PdfError("not-a-pdf", "the file does not start with %PDF-");
  }
  return new PdfFile(bytes);
}

/** As `resolve` bears it. */
const MAX_HOPS = 32;
/** Readers must accept 8 388 607 (Annex C); room for what is appended. */
const MAX_FIRST_FREE = 8_000_000;
/** Annex C; there are two bytes for it in what is appended. */
const MAX_GENERATION = 65_535;

/** `numbers` in the order of the header, `offsets` by number. */
type Packed = { data: Uint8Array; offsets: Map<number, number>; numbers: number[] };
/** An object in use. */
type Entry = Exclude<XrefEntry, { kind: "free" }>;
/** `odd`: the object is not written quite as the cross-reference says. */
type Read = { object: PdfObject; parser: Parser; odd: boolean };

export class PdfFile extends ObjectSource {
  readonly bytes: Uint8Array;
  /** The newest trailer dictionary. */
  readonly trailer: PdfDict;
  /** Byte offset of the newest cross-reference section. */
  readonly startXref: number;
  readonly xrefKind: "table" | "stream";
  readonly encrypted: boolean;
  /** The next free object number. */
  readonly size: number;
  readonly catalog: PdfDict;
  readonly catalogRef: PdfRef;
  readonly #xref: Xref;
  readonly #budget: Budget;
  /** By `keyOf`. */
  readonly #objects = new Map<number, PdfObject>();
  readonly #packed = new Map<number, Packed>();
  readonly #unpacked = new Unpacked((ref) => this.#readUnpacked(ref)?.object ?? null);
  #pages: PdfPage[] | null = null;
  #mayAct = false;
  /** Units for what may be kept, and for what is. */
  #most: number;
  #kept: number;

  constructor(bytes: Uint8Array, most = MAX_KEPT) {
    super();
    this.bytes = bytes;
    this.#budget = { objects: MAX_WORK, scan: 2 * bytes.length + 1024 * 1024, inflate: 256 * 1024 * 1024 };
    this.#xref = readXref(bytes, this.#budget);
    this.#most = most;
    this.#kept = this.#xref.kept;
    this.trailer = this.#xref.trailer;
    this.startXref = this.#xref.startXref;
    this.xrefKind = this.#xref.kind;
    this.size = this.#xref.size;
    this.encrypted = this.trailer.has("Encrypt");
    const root = this.trailer.get("Root");
    const catalog = this.dict(root);
    if (!(root instanceof PdfRef) || !catalog) throw new PdfError("damaged", "no document catalog");
    this.catalogRef = root;
    this.catalog = catalog;
  }

  get length(): number {
    return this.bytes.length;
  }
  get endsLine(): boolean {
    const last = this.bytes.at(-1);
    return last === 10 || last === 13;
  }

  /** @throws PdfError when the object's bytes are not what the cross-reference says. */
  override get(ref: PdfRef): PdfObject {
    const key = keyOf(ref);
    const cached = this.#objects.get(key);
    if (cached !== undefined) return cached;
    const entry = this.#inUse(ref);
    if (!entry) return null;
    const { object, parser } = this.#read(ref.num, entry);
    this.#keep(parser);
    this.#objects.set(key, object);
    return object;
  }

  override makeRoom(): void {
    this.#most = Math.max(this.#most, MAX_KEPT_WHOLE);
  }

  /** Units that it costs to keep what was read so far. */
  get kept(): number {
    return this.#kept;
  }

  /**
   * The file as it was when it ended here. Two of its earlier states may be in use at a time: they share what room it leaves.
   * @throws PdfError as `openPdf`
   */
  earlier(end: number): PdfFile {
    return new PdfFile(this.bytes.subarray(0, end), (MAX_KEPT_TOGETHER - this.#kept) / 2);
  }

  /** What does not fit is not kept, so that there is room for less than that all the same. */
  #keep({ spent }: Parser): void {
    if (this.#kept + spent > this.#most) throw new PdfError("too-complex", "too many objects");
    this.#kept += spent;
  }

  #inUse(ref: PdfRef): Entry | null {
    const entry = this.#xref.lookup(ref.num);
    if (!entry || entry.kind === "free") return null;
    return entry.kind === "offset" && entry.gen !== ref.gen ? null : entry;
  }

  /** With which a reference to this object must come; 0 for what is missing. */
  generation(num: number): number {
    const entry = this.#xref.lookup(num);
    return entry?.kind === "offset" ? entry.gen : 0;
  }

  /** Whether the cross-reference says that there is no such object (any more). */
  isFreed(ref: PdfRef): boolean {
    const entry = this.#xref.lookup(ref.num);
    return entry?.kind === "free" || (entry?.kind === "offset" && entry.gen !== ref.gen);
  }

  /** Where the cross-reference section stands that was written next after the one at `startXref`; null without one. */
  sectionBehind(startXref: number): number | null {
    const { sections } = this.#xref;
    return sections[sections.findIndex(({ at }) => at === startXref) - 1]?.at ?? null;
  }

  /** The decoded bytes of a stream; see `decodeStream`. */
  decode(stream: PdfStream, limit?: number): Uint8Array {
    return decodeStream(this, stream, this.#budget, limit);
  }

  /** All pages in order; each visited once. @throws PdfError `too-complex` or `damaged`. */
  pages(): PdfPage[] {
    this.#pages ??= [...walkPages(this)];
    return this.#pages;
  }

  /** One page (0-based) without visiting those behind it; null when there are fewer. */
  page(index: number): PdfPage | null {
    if (this.#pages) return this.#pages[index] ?? null;
    for (const page of walkPages(this)) if (page.index === index) return page;
    return null;
  }

  /**
   * Reads every object in use, without keeping them, and tells whether the file means the same to everybody and will go
   * on doing so when something is appended: no reference to a number that is still to be given or to another generation
   * of an object in use, no key and no number twice, every object where and as the cross-reference says.
   * @throws PdfError `damaged` when one of them cannot be read; `too-complex`
   */
  isSelfContained(): boolean {
    if (this.firstFree >= MAX_FIRST_FREE || this.#xref.ambiguous) return false;
    const generations = this.#generations();
    if (!generations) return false;
    let plain = true;
    const see = (num: number, gen: number): void => {
      const own = generations[num] ?? NOT_IN_USE;
      if (own !== NOT_IN_USE && own !== gen) plain = false;
    };
    for (const value of this.trailer.map.values()) if (value instanceof PdfRef) see(value.num, value.gen);
    let highest = this.#xref.highest;
    for (const [num, entry] of this.#entries()) {
      const { parser, odd } = this.#read(num, entry, see);
      highest = Math.max(highest, parser.highest);
      plain &&= !odd && !parser.ambiguous;
      this.#mayAct ||= parser.mayAct;
    }
    this.makeRoom();
    return plain && highest < this.firstFree;
  }

  /** By number the generation of each object in use; null when one cannot be written or stands in two places. */
  #generations(): Int32Array | null {
    const generations = new Int32Array(this.#top()).fill(NOT_IN_USE);
    for (const [num, entry, twofold] of this.#entries()) {
      const gen = entry.kind === "offset" ? entry.gen : 0;
      if (twofold || gen > MAX_GENERATION) return null;
      generations[num] = gen;
    }
    return generations;
  }

  /** One above the highest number that a section speaks of. */
  #top(): number {
    return this.#xref.sections.reduce((most, { size }) => Math.max(most, size), 0);
  }

  /** As `Parser.mayAct`, of the whole file; known once `isSelfContained` was asked. */
  get mayAct(): boolean {
    return this.#mayAct;
  }

  /**
   * The first number for new objects that nothing in the file speaks of: some producers leave a reference to the number
   * /Size in the trailer, and what is appended must not bring it to life. Only the first revision behind a file that came
   * from outside needs it.
   */
  get firstFree(): number {
    return Math.max(this.size, this.#xref.highest + 1);
  }

  /** Every object in use, read without being kept. @throws PdfError as `isSelfContained` */
  *objects(): Generator<[PdfRef, PdfObject]> {
    for (const [num, entry] of this.#entries()) {
      yield [new PdfRef(num, entry.kind === "offset" ? entry.gen : 0), this.#read(num, entry).object];
    }
  }

  /** What the cross-reference says of every number that is in use. */
  *#entries(): Generator<[num: number, entry: Entry, twofold: boolean]> {
    const seen = new Uint8Array(this.#top());
    for (const section of this.#xref.sections) {
      for (const [first, count] of section.ranges) {
        spend(this.#budget, Math.ceil(count / ENTRIES_PER_UNIT));
        for (let num = first; num < first + count; num++) {
          const entry = seen[num] ? null : section.lookup(num);
          if (!entry) continue;
          seen[num] = 1;
          if (entry.kind !== "free") yield [num, entry, section.isTwofold(num)];
        }
      }
    }
  }

  #read(num: number, entry: Entry, onRef: Parser["onRef"] = null): Read {
    const { parser, gen, odd } = this.#parserFor(num, entry);
    parser.onRef = onRef;
    if (entry.kind === "packed") return { object: parser.object(), parser, odd };
    const object = parser.body((dict) => this.#lengthOf(dict, !dict.has("First")));
    return { object, parser, odd: gen !== entry.gen };
  }

  /** At the object itself, behind its header. */
  #parserFor(num: number, entry: Entry): { parser: Parser; gen: number; odd: boolean } {
    if (entry.kind === "packed") {
      const packed = this.#packed.get(entry.stream) ?? this.#openPacked(entry.stream);
      const offset = packed.offsets.get(num);
      if (offset === undefined) throw new PdfError("damaged", `object ${num} is missing in its object stream`);
      const odd = packed.numbers[entry.index] !== num || packed.offsets.size < packed.numbers.length;
      return { parser: this.#parser(packed.data, offset), gen: 0, odd };
    }
    if (entry.offset <= 0 || entry.offset >= this.bytes.length)
      throw new PdfError("damaged", `object ${num} lies outside the file`);
    const parser = this.#parser(this.bytes, entry.offset);
    const header = parser.header();
    if (header.num !== num) throw new PdfError("damaged", `object ${num} is not where the cross-reference says`);
    return { parser, gen: header.gen, odd: false };
  }

  #parser(bytes: Uint8Array, offset: number, end?: number): Parser {
    const parser = new Parser(bytes, offset, this.#budget, end);
    parser.room = this.#most - this.#kept;
    return parser;
  }

  /**
   * The /Length of the stream with this dictionary. What it refers to is only looked at when it is a number: to read
   * streams for the sake of others would need the deeper a stack the fewer of them were read before.
   */
  #lengthOf(dict: PdfDict, mayBePacked: boolean): number | null {
    let value = dict.get("Length");
    for (let hops = 0; value instanceof PdfRef; hops++) {
      const entry: Entry | null = hops < MAX_HOPS ? this.#inUse(value) : null;
      if (!entry || (entry.kind === "packed" && !mayBePacked)) return null;
      value = this.#parserFor(value.num, entry).parser.numberOrRef();
    }
    return typeof value === "number" ? value : null;
  }

  /** What an object stream needs must not lie in one (§7.5.7): so no chain of them can be made. */
  #readUnpacked(ref: PdfRef): Read | null {
    const entry = this.#inUse(ref);
    if (entry?.kind !== "offset") return null;
    const { parser } = this.#parserFor(ref.num, entry);
    return { object: parser.body((dict) => this.#lengthOf(dict, false)), parser, odd: false };
  }

  /** Object streams (§7.5.7). */
  #openPacked(container: number): Packed {
    const stream = this.#readUnpacked(new PdfRef(container, this.generation(container)))?.object;
    if (!(stream instanceof PdfStream)) throw new PdfError("damaged", `object stream ${container} is missing`);
    const data = decodeStream(this.#unpacked, stream, this.#budget);
    const count = this.#unpacked.number(stream.dict.get("N")) ?? -1;
    const first = this.#unpacked.number(stream.dict.get("First")) ?? -1;
    if (count < 0 || first < 0 || first > data.length || count > data.length) {
      throw new PdfError("damaged", `object stream ${container} has a bad header`);
    }
    const header = this.#parser(data, 0, first);
    const offsets = new Map<number, number>();
    const numbers: number[] = [];
    const taken = new Set<number>();
    for (let i = 0; i < count; i++) {
      header.skip();
      const num = header.unsigned();
      header.skip();
      const at = header.unsigned();
      if (num === null || at === null) throw new PdfError("damaged", `object stream ${container} has a bad header`);
      if (taken.has(at)) throw new PdfError("damaged", `object stream ${container} holds two objects in one place`);
      taken.add(at);
      numbers.push(num);
      offsets.set(num, first + at);
    }
    this.#keep(header);
    const packed = { data, offsets, numbers };
    this.#packed.set(container, packed);
    return packed;
  }
}

const NOT_IN_USE = -1;
/** That can be looked at in the time of a unit. */
const ENTRIES_PER_UNIT = 4;

/** Objects of later generations behind all others. */
const keyOf = ({ num, gen }: PdfRef): number => gen * 2 ** 34 + num;

/** A file's objects without those that lie in object streams. */
class Unpacked extends ObjectSource {
  readonly #read: (ref: PdfRef) => PdfObject;
  constructor(read: (ref: PdfRef) => PdfObject) {
    super();
    this.#read = read;
  }
  override get(ref: PdfRef): PdfObject {
    return this.#read(ref);
  }
}
