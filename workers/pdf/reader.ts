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
    this.#loading.add(ref.num);
    try {
      const object = entry.kind === "offset" ? this.#load(ref.num, entry.offset) : this.#unpack(ref.num, entry.stream);
      this.#objects.set(ref.num, object);
      return object;
    } finally {
      this.#loading.delete(ref.num);
    }
  }

  /** The decoded bytes of a stream. @throws PdfError `unsupported` for filters other than FlateDecode. */
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

  #load(num: number, offset: number): PdfObject {
    if (offset <= 0 || offset >= this.bytes.length)
      throw new PdfError("damaged", `object ${num} lies outside the file`);
    const found = new Parser(this.bytes, offset, this.#budget).indirect((length) => this.number(length));
    if (found.num !== num) throw new PdfError("damaged", `object ${num} is not where the cross-reference says`);
    return found.object;
  }

  #unpack(num: number, container: number): PdfObject {
    const packed = this.#packed.get(container) ?? this.#openPacked(container);
    const offset = packed.offsets.get(num);
    if (offset === undefined) throw new PdfError("damaged", `object ${num} is missing in its object stream`);
    return new Parser(packed.data, offset, this.#budget).object();
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
    for (let i = 0; i < count; i++) {
      header.skip();
      const num = header.unsigned();
      header.skip();
      const at = header.unsigned();
      if (num === null || at === null) throw new PdfError("damaged", `object stream ${container} has a bad header`);
      offsets.set(num, first + at);
    }
    const packed = { data, offsets };
    this.#packed.set(container, packed);
    return packed;
  }
}
