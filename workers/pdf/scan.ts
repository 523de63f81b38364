/** Reads a PDF without its cross-reference: every `num gen obj` that the bytes hold, for damaged and encrypted files. */
import { type Decryptor, decryptorFor } from "./decrypt.ts";
import { decodeStream } from "./filters.ts";
import { isName, ObjectSource, PdfDict, PdfError, type PdfObject, PdfRef, PdfStream } from "./objects.ts";
import { type Budget, isSpace, MAX_KEPT_WHOLE, MAX_WORK, Parser } from "./parser.ts";
import { openPdf } from "./reader.ts";

type Found = { gen: number; object: PdfObject };

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 48 && byte <= 57;

/**
 * The objects of a PDF, the last one of each number, decrypted with the empty password where the file is encrypted.
 * @throws PdfError `not-a-pdf`, `damaged` when no catalog is found, `encrypted` when a password is needed, `too-complex`.
 */
export class ScannedPdf extends ObjectSource {
  readonly trailer: PdfDict;
  readonly catalog: PdfDict;
  readonly wasEncrypted: boolean;
  readonly #objects = new Map<number, Found>();
  readonly #budget: Budget;
  #trailer: PdfDict | null = null;
  /** Units for what may still be kept. */
  #room = MAX_KEPT_WHOLE;

  constructor(bytes: Uint8Array) {
    super();
    this.#budget = { objects: MAX_WORK, scan: 3 * bytes.length + 1024 * 1024, inflate: 256 * 1024 * 1024 };
    this.#scan(bytes);
    this.#scanTrailers(bytes);
    const encrypt = this.dict(this.#trailer?.get("Encrypt"));
    this.wasEncrypted = encrypt !== null;
    const decryptor = encrypt && this.#trailer ? decryptorFor(this, encrypt, this.#trailer) : null;
    if (decryptor) this.#decrypt(decryptor, this.#trailer?.get("Encrypt"));
    this.#unpack();
    this.trailer = this.#trailer ?? this.#trailerFromCatalog();
    const catalog = this.dict(this.trailer.get("Root"));
    if (!catalog) throw new PdfError("damaged", "no document catalog");
    this.catalog = catalog;
  }

  override get(ref: PdfRef): PdfObject {
    return this.#objects.get(ref.num)?.object ?? null;
  }

  /** Every object, in the order in which the file holds them. */
  *objects(): Generator<[PdfRef, PdfObject]> {
    for (const [num, { gen, object }] of this.#objects) yield [new PdfRef(num, gen), object];
  }

  /** Whether a stream's data is sound, as far as it can be told; data beyond the limits is not looked at. */
  isSound(stream: PdfStream): boolean {
    try {
      decodeStream(this, stream, this.#budget);
      return true;
    } catch (error) {
      if (error instanceof PdfError) return error.code !== "damaged";
      throw error;
    }
  }

  #scan(bytes: Uint8Array): void {
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const length = lengthsIn(bytes);
    let at = 0;
    while (true) {
      const found = view.indexOf("obj", at, "latin1");
      if (found < 0) return;
      at = found + 3;
      const start = headerBefore(bytes, found);
      if (start === null) continue;
      const parser = this.#parser(bytes, start);
      try {
        const { num, gen, object } = parser.indirect((dict) => length(dict.get("Length")));
        this.#room -= parser.spent;
        this.#objects.set(num, { gen, object });
        if (object instanceof PdfStream && object.dict.has("Root")) this.#trailer = object.dict;
        at = Math.max(at, parser.pos);
      } catch (error) {
        if (!(error instanceof PdfError) || error.code === "too-complex") throw error;
        // Reading on behind what could not be read: each byte may be read in vain only so often.
        this.#budget.scan -= parser.pos - start;
        if (this.#budget.scan < 0) throw new PdfError("too-complex", "too much of the file is unreadable");
      }
    }
  }

  /** The last trailer that names a catalog wins; those of cross-reference streams were met as objects. */
  #scanTrailers(bytes: Uint8Array): void {
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = view.indexOf("trailer"); at >= 0; at = view.indexOf("trailer", at + 7)) {
      const parser = this.#parser(bytes, at + 7);
      try {
        const object = parser.object();
        if (object instanceof PdfDict && object.get("Root") instanceof PdfRef) this.#trailer = object;
      } catch (error) {
        if (!(error instanceof PdfError) || error.code === "too-complex") throw error;
        this.#budget.scan -= parser.pos - at;
        if (this.#budget.scan < 0) throw new PdfError("too-complex", "too much of the file is unreadable");
      }
    }
  }

  #decrypt(decryptor: Decryptor, encrypt: PdfObject | undefined): void {
    for (const [num, { gen, object }] of this.#objects) {
      if (encrypt instanceof PdfRef && encrypt.num === num) continue;
      if (object instanceof PdfStream && isName(object.dict.get("Type"), "XRef")) continue;
      this.#objects.set(num, { gen, object: decryptor(object, num, gen) });
    }
  }

  /** Object streams (§7.5.7); an object that also stands alone is the newer one. */
  #unpack(): void {
    for (const { object } of [...this.#objects.values()]) {
      if (!(object instanceof PdfStream) || !isName(object.dict.get("Type"), "ObjStm")) continue;
      try {
        this.#unpackOne(object);
      } catch (error) {
        if (!(error instanceof PdfError) || error.code === "too-complex") throw error;
      }
    }
  }

  #unpackOne(stream: PdfStream): void {
    const data = decodeStream(this, stream, this.#budget);
    const count = this.number(stream.dict.get("N")) ?? 0;
    const first = this.number(stream.dict.get("First")) ?? 0;
    if (count > data.length || first > data.length) return;
    const header = new Parser(data, 0, this.#budget, first);
    for (let i = 0; i < count; i++) {
      header.skip();
      const num = header.unsigned();
      header.skip();
      const offset = header.unsigned();
      if (num === null || offset === null) return;
      if (this.#objects.has(num)) continue;
      const parser = this.#parser(data, first + offset);
      this.#objects.set(num, { gen: 0, object: parser.object() });
      this.#room -= parser.spent;
    }
  }

  #parser(bytes: Uint8Array, at: number): Parser {
    const parser = new Parser(bytes, at, this.#budget);
    parser.room = this.#room;
    return parser;
  }

  #trailerFromCatalog(): PdfDict {
    for (const [num, { gen, object }] of this.#objects) {
      if (object instanceof PdfDict && isName(object.get("Type"), "Catalog")) {
        return new PdfDict([["Root", new PdfRef(num, gen)]]);
      }
    }
    throw new PdfError("damaged", "no document catalog");
  }
}

/** Where `num gen ` before `obj` begins; null when `obj` is the end of another word. */
function headerBefore(bytes: Uint8Array, obj: number): number | null {
  let at = obj;
  for (let part = 0; part < 2; part++) {
    const gap = at;
    while (at > 0 && isSpace(bytes[at - 1] ?? 0)) at--;
    const end = at;
    while (at > 0 && isDigit(bytes[at - 1]) && end - at < 10) at--;
    if (at === end || (part === 1 && end === gap)) return null;
  }
  return at;
}

/** Looks up indirect /Length values by the file's own cross-reference where that can be read. */
function lengthsIn(bytes: Uint8Array): (object: PdfObject | undefined) => number | null {
  let file: ReturnType<typeof openPdf> | null = null;
  try {
    file = openPdf(bytes);
  } catch (error) {
    if (!(error instanceof PdfError)) throw error;
  }
  return (object) => {
    if (typeof object === "number") return object;
    try {
      return file?.number(object) ?? null;
    } catch (error) {
      if (error instanceof PdfError) return null;
      throw error;
    }
  };
}
