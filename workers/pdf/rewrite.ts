/** Writes a whole PDF anew from the objects that its catalog reaches (ISO 32000-1 §7.5). */
import { createHash } from "node:crypto";
import { ObjectSource, PdfDict, PdfError, type PdfObject, PdfRef, PdfStream, PdfString } from "./objects.ts";
import { flatTree } from "./page-tree.ts";
import type { PdfPage } from "./pages.ts";
import { ByteWriter, writeObject } from "./serialize.ts";

const MAX_OBJECTS = 2_000_000;
const MAX_DEPTH = 256;

/** Objects in memory, those of another document behind them. */
export class Objects extends ObjectSource {
  readonly #objects: ReadonlyMap<number, PdfObject>;
  readonly #behind: ObjectSource | null;

  constructor(objects: Iterable<readonly [PdfRef, PdfObject]>, behind: ObjectSource | null = null) {
    super();
    this.#objects = new Map([...objects].map(([{ num }, object]) => [num, object]));
    this.#behind = behind;
  }

  override get(ref: PdfRef): PdfObject {
    return this.#objects.get(ref.num) ?? this.#behind?.get(ref) ?? null;
  }

  override makeRoom(): void {
    this.#behind?.makeRoom();
  }
}

/** Beyond every number that can be written in a file. */
const NEW_ROOT = new PdfRef(Number.MAX_SAFE_INTEGER);

/** The document with these pages, in a page tree that says nothing else. `catalog` is where its trailer finds the catalog. */
export function withPages(
  source: ObjectSource & { catalog: PdfDict },
  catalog: PdfObject | undefined,
  pages: readonly PdfPage[],
): ObjectSource & { catalog: PdfDict } {
  if (!(catalog instanceof PdfRef)) throw new PdfError("damaged", "no document catalog");
  const changed = source.catalog.clone().set("Pages", NEW_ROOT);
  const objects = new Objects([...flatTree(pages, NEW_ROOT), [catalog, changed]], source);
  return Object.assign(objects, { catalog: changed });
}

/**
 * A sound file with one cross-reference table, numbered from 1 in the order of first use. References to nothing become
 * null. Each dictionary, be it a stream's, is written as `edited` leaves it. @throws PdfError `too-complex`.
 */
export function rewritePdf(
  source: ObjectSource,
  trailer: PdfDict,
  edited: (dict: PdfDict, ofStream: boolean) => PdfDict = (dict) => dict,
): Uint8Array {
  source.makeRoom();
  const numbers = new Map<number, number>();
  const queue: PdfRef[] = [];
  const renumbered = (object: PdfObject, depth = 0): PdfObject => {
    if (depth > MAX_DEPTH) throw new PdfError("too-complex", "objects nested too deeply");
    if (object instanceof PdfRef) {
      // It may be known, and this be a reference to another generation of it.
      if (source.get(object) === null) return null;
      const known = numbers.get(object.num);
      if (known !== undefined) return new PdfRef(known);
      if (numbers.size === MAX_OBJECTS) throw new PdfError("too-complex", "too many objects");
      numbers.set(object.num, numbers.size + 1);
      queue.push(object);
      return new PdfRef(numbers.size);
    }
    if (Array.isArray(object)) return object.map((item) => renumbered(item, depth + 1));
    if (object instanceof PdfDict) {
      const entries = [...edited(object, false).map];
      return new PdfDict(entries.map(([key, value]) => [key, renumbered(value, depth + 1)] as const));
    }
    if (object instanceof PdfStream) {
      const dict = renumbered(edited(object.dict, true).clone().delete("Length"), depth);
      return dict instanceof PdfDict ? new PdfStream(dict, object.raw) : null;
    }
    return object;
  };
  const kept = new PdfDict();
  for (const key of ["Root", "Info"]) {
    const value = trailer.get(key);
    if (value !== undefined) kept.set(key, renumbered(value));
  }
  const out = new ByteWriter();
  out.text("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n");
  const offsets: number[] = [];
  for (let index = 0; index < queue.length; index++) {
    const ref = queue[index];
    if (!ref) break;
    offsets.push(out.length);
    out.text(`${index + 1} 0 obj\n`);
    writeObject(out, renumbered(source.get(ref)));
    out.text("\nendobj\n");
  }
  const xref = out.length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`);
  out.text(`xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n${rows.join("")}trailer\n`);
  const id = new PdfString(createHash("sha256").update(out.finish()).digest().subarray(0, 16), true);
  writeObject(out, kept.set("Size", offsets.length + 1).set("ID", [id, id]));
  out.text(`\nstartxref\n${xref}\n%%EOF\n`);
  return Buffer.from(out.finish());
}
