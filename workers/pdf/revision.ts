/** One more revision at the end of a PDF (ISO 32000-1 §7.5.6): what stands before it stays byte for byte. */
import { hash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { name, ObjectSource, PdfDict, PdfError, type PdfObject, PdfRef, PdfStream, PdfString } from "./objects.ts";
import { type PdfPage, walkPages } from "./pages.ts";
import { ByteWriter, writeObject } from "./serialize.ts";

/** What a revision stands on: an opened file, or a finished revision that nobody has joined to its file. */
export type Base = ObjectSource & {
  /** Bytes */
  readonly length: number;
  /** Whether the last byte ends a line. */
  readonly endsLine: boolean;
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
  /** One page (0-based); null when there are fewer. */
  page(index: number): PdfPage | null;
};

/** A revision's bytes; joining them to what they stand on is left to whoever needs one piece. */
export type Tail = {
  /** Belongs at the base's end. */
  bytes: Buffer;
  /** Where each object's `num gen obj` begins, from the start of the file. */
  offsets: ReadonlyMap<number, number>;
  /** Base and tail as one, for the next revision. */
  base: Base;
};

/**
 * Starts a revision on top of `base`, with new objects numbered from `first` on.
 * @throws PdfError `encrypted`: new objects would have to be encrypted too.
 */
export function beginRevision(base: Base, first = base.size): Revision {
  if (base.encrypted) throw new PdfError("encrypted", "cannot append to an encrypted file");
  return new Revision(base, first);
}

export class Revision extends ObjectSource {
  readonly base: Base;
  readonly #changed = new Map<number, { gen: number; object: PdfObject }>();
  #next: number;

  constructor(base: Base, first: number) {
    super();
    this.base = base;
    this.#next = first;
  }

  /** The object as this revision leaves it. */
  override get(ref: PdfRef): PdfObject {
    const changed = this.#changed.get(ref.num);
    return changed ? changed.object : this.base.get(ref);
  }
  get catalog(): PdfDict {
    return this.dict(this.base.catalogRef) ?? this.base.catalog;
  }
  /** A number for an object that is set later; it must be set before `finish`. */
  reserve(): PdfRef {
    return new PdfRef(this.#next++);
  }
  /** Adds a new object. */
  add(object: PdfObject): PdfRef {
    const ref = this.reserve();
    this.set(ref, object);
    return ref;
  }
  /** Replaces an object; `object` must be a changed copy, not the one that the file handed out. */
  set(ref: PdfRef, object: PdfObject): void {
    if (ref.gen > MAX_GENERATION) throw new PdfError("damaged", `object ${ref.num} has too high a generation`);
    this.#changed.set(ref.num, { gen: ref.gen, object });
  }
  /** Adds a stream; `compress` deflates the bytes and sets /Filter. */
  addStream(dict: PdfDict, bytes: Uint8Array, compress = false): PdfRef {
    if (!compress) return this.add(new PdfStream(dict, bytes));
    const filtered = dict.clone().set("Filter", name("FlateDecode")).delete("DecodeParms");
    return this.add(new PdfStream(filtered, deflateSync(bytes)));
  }

  /** What is to be appended; call once. Uses the base's kind of cross-reference section. */
  finish(): Tail {
    const out = new ByteWriter();
    const base = this.base.length;
    if (!this.base.endsLine) out.text("\n");
    const offsets = new Map<number, number>();
    const numbers = [...this.#changed.keys()].sort((a, b) => a - b);
    for (const num of numbers) {
      const changed = this.#changed.get(num);
      if (!changed) continue;
      offsets.set(num, base + out.length);
      out.text(`${num} ${changed.gen} obj\n`);
      writeObject(out, changed.object);
      out.text("\nendobj\n");
    }
    const xrefAt = base + out.length;
    const trailer = this.#trailer(out);
    const gens = (num: number): number => this.#changed.get(num)?.gen ?? 0;
    if (this.base.xrefKind === "table") writeTable(out, numbers, offsets, gens, trailer.set("Size", this.#next));
    else {
      const own = this.#next++;
      offsets.set(own, xrefAt);
      writeXrefStream(out, own, [...numbers, own], offsets, gens, trailer.set("Size", this.#next));
    }
    out.text(`startxref\n${xrefAt}\n%%EOF\n`);
    const bytes = out.finish();
    return { bytes, offsets, base: new Finished(this, trailer, xrefAt, base + bytes.length) };
  }

  /** /Root, /Info and the like as before, /Prev to the base, and a new second half of /ID (§14.4). */
  #trailer(out: ByteWriter): PdfDict {
    const old = this.base.trailer;
    const trailer = new PdfDict();
    for (const [key, value] of old.map) if (!OWN_KEYS.has(key)) trailer.set(key, value);
    trailer.set("Prev", this.base.startXref);
    const id = this.base.array(old.get("ID"));
    const seed = (id ?? []).flatMap((part) => (part instanceof PdfString ? [part.bytes] : []));
    const digest = hash(
      "sha256",
      Buffer.concat([...seed, Buffer.from(`${this.base.length} `), out.finish()]),
      "buffer",
    );
    const fresh = new PdfString(digest.subarray(0, 16), true);
    const permanent = id?.[0] instanceof PdfString ? new PdfString(id[0].bytes, true) : fresh;
    return trailer.set("ID", [permanent, fresh]);
  }
}

/**
 * Takes out the catalog's /Perms (§12.8.4): a certification that allows no changes, or usage rights, would make readers
 * call the file broken once anything is appended. The signatures that it names stay, as does every byte of them.
 */
export function dropPermissions(revision: Revision): void {
  const { catalog } = revision;
  if (catalog.has("Perms")) revision.set(revision.base.catalogRef, catalog.clone().delete("Perms"));
}

/** There are two bytes for it in a cross-reference stream. */
const MAX_GENERATION = 65_535;
const OWN_KEYS = new Set(
  "Size Prev XRefStm ID Type W Index Length Filter DecodeParms F FFilter FDecodeParms DL".split(" "),
);

/** A revision as the next one finds it. */
class Finished extends ObjectSource implements Base {
  readonly #revision: Revision;
  readonly length: number;
  readonly endsLine = true;
  readonly trailer: PdfDict;
  readonly startXref: number;
  readonly encrypted = false;
  readonly size: number;

  constructor(revision: Revision, trailer: PdfDict, startXref: number, length: number) {
    super();
    this.#revision = revision;
    this.trailer = trailer;
    this.startXref = startXref;
    this.length = length;
    this.size = Number(trailer.get("Size"));
  }
  get xrefKind(): "table" | "stream" {
    return this.#revision.base.xrefKind;
  }
  get catalog(): PdfDict {
    return this.#revision.catalog;
  }
  get catalogRef(): PdfRef {
    return this.#revision.base.catalogRef;
  }
  override get(ref: PdfRef): PdfObject {
    return this.#revision.get(ref);
  }
  page(index: number): PdfPage | null {
    for (const page of walkPages(this)) if (page.index === index) return page;
    return null;
  }
}

/** Runs of consecutive numbers as [first, count]; without any an empty one, as a table needs one at least (§7.5.4). */
function runs(numbers: readonly number[]): [number, number][] {
  const result: [number, number][] = [];
  for (const num of numbers) {
    const last = result.at(-1);
    if (last && last[0] + last[1] === num) last[1]++;
    else result.push([num, 1]);
  }
  return result.length > 0 ? result : [[0, 0]];
}

type Offsets = ReadonlyMap<number, number>;
type Generations = (num: number) => number;

function writeTable(out: ByteWriter, numbers: number[], offsets: Offsets, gens: Generations, trailer: PdfDict): void {
  out.text("xref\n");
  for (const [first, count] of runs(numbers)) {
    out.text(`${first} ${count}\n`);
    for (let num = first; num < first + count; num++) {
      const offset = String(offsets.get(num) ?? 0).padStart(10, "0");
      out.text(`${offset} ${String(gens(num)).padStart(5, "0")} n \n`);
    }
  }
  out.text("trailer\n");
  writeObject(out, trailer);
  out.text("\n");
}

function writeXrefStream(
  out: ByteWriter,
  own: number,
  numbers: number[],
  offsets: Offsets,
  gens: Generations,
  trailer: PdfDict,
): void {
  const rows = Buffer.alloc(numbers.length * 8);
  numbers.forEach((num, row) => {
    rows.writeUInt8(1, row * 8);
    rows.writeUIntBE(offsets.get(num) ?? 0, row * 8 + 1, 5);
    rows.writeUInt16BE(gens(num), row * 8 + 6);
  });
  const header = new PdfDict([
    ["Type", name("XRef")],
    ["W", [1, 5, 2]],
    ["Index", runs(numbers).flat()],
    ...trailer.map,
  ]);
  out.text(`${own} 0 obj\n`);
  writeObject(out, new PdfStream(header, rows));
  out.text("\nendobj\n");
}
