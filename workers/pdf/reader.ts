/** Opens a PDF lazily: the cross-reference chain at once, each object when it is asked for. */
import { decodeStream } from "./filters.ts";
import { ObjectSource, type PdfDict, PdfError, type PdfObject, PdfRef, PdfStream } from "./objects.ts";
import { type PdfPage, walkPages } from "./pages.ts";
import { type Budget, Parser } from "./parser.ts";
import { readXref, type Xref } from "./xref.ts";

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

/** An object's length, and the stream that an object lies in, are found by reading others; more than that is abuse. */
const MAX_LOADING = 16;
/** Readers must accept 8 388 607 (Annex C); room for what is appended. */
const MAX_FIRST_FREE = 8_000_000;

type Packed = { data: Uint8Array; offsets: Map<number, number> };

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
  readonly #objects = new Map<number, PdfObject>();
  readonly #loading = new Set<number>();
  readonly #packed = new Map<number, Packed>();
  #pages: PdfPage[] | null = null;
  #mayAct = false;

  constructor(bytes: Uint8Array) {
    super();
    this.bytes = bytes;
    this.#budget = { objects: 8_000_000, scan: 2 * bytes.length + 1024 * 1024, inflate: 256 * 1024 * 1024 };
    this.#xref = readXref(bytes, this.#budget);
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
    const cached = this.#objects.get(ref.num);
    if (cached !== undefined && ref.gen === 0) return cached;
    const entry = this.#xref.lookup(ref.num);
    if (!entry || entry.kind === "free" || this.#loading.has(ref.num)) return null;
    if (entry.kind === "offset" && entry.gen !== ref.gen) return null;
    if (cached !== undefined) return cached;
    if (this.#loading.size === MAX_LOADING) throw new PdfError("too-complex", "objects need each other too deeply");
    this.#loading.add(ref.num);
    try {
      const object =
        entry.kind === "offset"
          ? this.#readAt(ref.num, entry.offset).object
          : this.#readIn(ref.num, entry.stream).object;
      this.#objects.set(ref.num, object);
      return object;
    } finally {
      this.#loading.delete(ref.num);
    }
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
   * on doing so when something is appended: no reference to a number that is still to be given, no key twice.
   * @throws PdfError `damaged` when one of them cannot be read; `too-complex`
   */
  isSelfContained(): boolean {
    const survey = { highest: this.#xref.highest, ambiguous: this.#xref.ambiguous };
    for (const { parser } of this.#inUse()) {
      survey.highest = Math.max(survey.highest, parser.highest);
      survey.ambiguous ||= parser.ambiguous;
      this.#mayAct ||= parser.mayAct;
    }
    return survey.highest < this.firstFree && this.firstFree < MAX_FIRST_FREE && !survey.ambiguous;
  }

  /** Whether a name stands anywhere without which nothing acts or is attached; known once `isSelfContained` was asked. */
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
    for (const { num, object } of this.#inUse()) yield [new PdfRef(num, this.generation(num)), object];
  }

  *#inUse(): Generator<{ num: number; object: PdfObject; parser: Parser }> {
    const seen = new Set<number>();
    for (const [first, count] of this.#xref.sections.flatMap(({ ranges }) => ranges)) {
      for (let num = first; num < first + count; num++) {
        if (seen.has(num)) continue;
        seen.add(num);
        const entry = this.#xref.lookup(num);
        if (!entry || entry.kind === "free") continue;
        const read = entry.kind === "offset" ? this.#readAt(num, entry.offset) : this.#readIn(num, entry.stream);
        yield { num, ...read };
      }
    }
  }

  #readAt(num: number, offset: number): { object: PdfObject; parser: Parser } {
    if (offset <= 0 || offset >= this.bytes.length)
      throw new PdfError("damaged", `object ${num} lies outside the file`);
    const parser = new Parser(this.bytes, offset, this.#budget);
    const found = parser.indirect((length) => this.number(length));
    if (found.num !== num) throw new PdfError("damaged", `object ${num} is not where the cross-reference says`);
    return { object: found.object, parser };
  }

  #readIn(num: number, container: number): { object: PdfObject; parser: Parser } {
    const packed = this.#packed.get(container) ?? this.#openPacked(container);
    const offset = packed.offsets.get(num);
    if (offset === undefined) throw new PdfError("damaged", `object ${num} is missing in its object stream`);
    const parser = new Parser(packed.data, offset, this.#budget);
    return { object: parser.object(), parser };
  }

  /** Object streams (§7.5.7). */
  #openPacked(container: number): Packed {
    const entry = this.#xref.lookup(container);
    const stream = entry?.kind === "offset" ? this.get(new PdfRef(container, entry.gen)) : null;
    if (!(stream instanceof PdfStream)) throw new PdfError("damaged", `object stream ${container} is missing`);
    const data = this.decode(stream);
    const count = this.number(stream.dict.get("N")) ?? -1;
    const first = this.number(stream.dict.get("First")) ?? -1;
    if (count < 0 || first < 0 || first > data.length || count > data.length) {
      throw new PdfError("damaged", `object stream ${container} has a bad header`);
    }
    const header = new Parser(data, 0, this.#budget, first);
    const offsets = new Map<number, number>();
    const taken = new Set<number>();
    for (let i = 0; i < count; i++) {
      header.skip();
      const num = header.unsigned();
      header.skip();
      const at = header.unsigned();
      if (num === null || at === null) throw new PdfError("damaged", `object stream ${container} has a bad header`);
      if (taken.has(at)) throw new PdfError("damaged", `object stream ${container} holds two objects in one place`);
      taken.add(at);
      offsets.set(num, first + at);
    }
    const packed = { data, offsets };
    this.#packed.set(container, packed);
    return packed;
  }
}
