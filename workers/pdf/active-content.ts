/**
 * What a document does besides showing its pages, and what is attached to it (ISO 32000-1 §7.11.4, §12.6, §12.5.6,
 * §13; ISO 32000-2 §14.13): found wherever readers look for it, and taken out of what is written anew.
 */
import { name, type ObjectSource, PdfDict, type PdfObject, PdfRef, PdfStream } from "./objects.ts";

export const activeKinds = [
  "javascript",
  "launch",
  "submit-form",
  "reset-form",
  "import-data",
  "remote-link",
  "embedded-link",
  "rendition",
  "movie",
  "sound",
  "rich-media",
  "3d",
  "embedded-files",
  "file-attachment",
  "associated-files",
] as const;
export type ActiveKind = (typeof activeKinds)[number];

/** Files that lie in the document until a reader saves or opens them. The other kinds act, be it on a click. */
export const isAttachment = (kind: ActiveKind): boolean =>
  kind === "embedded-files" || kind === "file-attachment" || kind === "associated-files";

/** Action types (§12.6.4) that do more than move around in the document. */
const ACTIONS = new Map<string, ActiveKind>([
  ["JavaScript", "javascript"],
  ["Launch", "launch"],
  ["SubmitForm", "submit-form"],
  ["ResetForm", "reset-form"],
  ["ImportData", "import-data"],
  ["GoToR", "remote-link"],
  ["GoToE", "embedded-link"],
  ["Rendition", "rendition"],
  ["Movie", "movie"],
  ["Sound", "sound"],
  ["RichMediaExecute", "rich-media"],
  ["GoTo3DView", "3d"],
]);
/** Annotation types (§12.5.6) that play or hold something. */
const ANNOTATIONS = new Map<string, ActiveKind>([
  ["Screen", "rendition"],
  ["Movie", "movie"],
  ["Sound", "sound"],
  ["RichMedia", "rich-media"],
  ["3D", "3d"],
  ["FileAttachment", "file-attachment"],
]);
/** Under which an action stands: of annotations, fields and bookmarks, of a catalog, behind another action. */
const ACTION_KEYS = ["A", "PA", "OpenAction", "Next"] as const;
/** What a picture of an annotation needs; everything else is what it does. */
const APPEARANCE_KEYS = ["Type", "Rect", "P", "NM", "M", "F", "AP", "AS", "OC", "StructParent"] as const;

type Document = ObjectSource & { catalog: PdfDict };

/** How often each kind stands in what the catalog reaches. @throws PdfError */
export function findActiveContent(source: Document): Map<ActiveKind, number> {
  const counts = new Map<ActiveKind, number>();
  const rules = new Rules(source);
  const seen = new Set<number>();
  const waiting: PdfObject[] = [source.catalog];
  const visit = (object: PdfObject): void => {
    if (object instanceof PdfRef) {
      if (seen.has(object.num)) return;
      seen.add(object.num);
      waiting.push(source.get(object));
    } else if (Array.isArray(object)) for (const item of object) visit(item);
    else if (object instanceof PdfStream) visit(object.dict);
    else if (object instanceof PdfDict) {
      for (const kind of rules.kindsIn(object)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      for (const value of object.map.values()) visit(value);
    }
  };
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) visit(next);
  return counts;
}

/**
 * What is to be written in place of a dictionary when these kinds are taken out; the same one when nothing is in it. What
 * an annotation of such a kind looks like stays: it becomes a stamp, or goes when it has no picture.
 */
export function activeContentRemover(source: Document, removed: ReadonlySet<ActiveKind>): (dict: PdfDict) => PdfDict {
  const rules = new Rules(source);
  return (dict) => rules.without(dict, removed);
}

class Rules {
  readonly #source: Document;
  readonly #names: PdfDict | null;

  constructor(source: Document) {
    this.#source = source;
    this.#names = source.dict(source.catalog.get("Names"));
  }

  /** The kinds that a dictionary itself brings in, one for each place. */
  kindsIn(dict: PdfDict): ActiveKind[] {
    const kinds: ActiveKind[] = [];
    for (const key of ACTION_KEYS) kinds.push(...this.#actionsIn(dict.get(key)));
    const triggers = this.#source.dict(dict.get("AA"));
    for (const action of triggers?.map.values() ?? []) kinds.push(...this.#actionsIn(action));
    const annotation = this.#annotation(dict);
    if (annotation) kinds.push(annotation);
    if (this.#holdsFiles(dict.get("AF"))) kinds.push("associated-files");
    if (dict === this.#names) {
      if (dict.has("JavaScript")) kinds.push("javascript");
      if (dict.has("EmbeddedFiles")) kinds.push("embedded-files");
    }
    return kinds;
  }

  without(dict: PdfDict, removed: ReadonlySet<ActiveKind>): PdfDict {
    if (!this.kindsIn(dict).some((kind) => removed.has(kind)) && !this.#listsRemoved(dict, removed)) {
      return dict === this.#source.catalog ? this.#withoutCover(dict, removed) : dict;
    }
    const annotation = this.#annotation(dict);
    const left = annotation && removed.has(annotation) ? pictureOnly(dict) : dict.clone();
    const drop = (key: string, kinds: readonly ActiveKind[]): void => {
      if (kinds.some((kind) => removed.has(kind))) left.delete(key);
    };
    for (const key of ACTION_KEYS) drop(key, this.#actionsIn(dict.get(key)));
    const triggers = this.#source.dict(dict.get("AA"));
    drop(
      "AA",
      [...(triggers?.map.values() ?? [])].flatMap((action) => this.#actionsIn(action)),
    );
    if (this.#holdsFiles(dict.get("AF"))) drop("AF", ["associated-files"]);
    if (dict === this.#names) {
      drop("JavaScript", ["javascript"]);
      drop("EmbeddedFiles", ["embedded-files"]);
    }
    if (dict.has("Annots")) left.set("Annots", this.#annotationsLeft(dict.get("Annots"), removed));
    return dict === this.#source.catalog ? this.#withoutCover(left, removed) : left;
  }

  /** The types of the actions in a value: one action or, behind another, a list of them. */
  #actionsIn(value: PdfObject | undefined): ActiveKind[] {
    const object = this.#source.resolve(value);
    return (Array.isArray(object) ? object : [object]).flatMap((item) => {
      const action = this.#source.dict(item);
      const kind = ACTIONS.get(this.#source.name(action?.get("S")) ?? "");
      // A rendition action may hold a script besides (§12.6.4.13).
      return kind === "rendition" && action?.has("JS") ? [kind, "javascript"] : kind ? [kind] : [];
    });
  }

  #annotation(dict: PdfDict): ActiveKind | null {
    if (!dict.has("Rect")) return null;
    return ANNOTATIONS.get(this.#source.name(dict.get("Subtype")) ?? "") ?? null;
  }

  #holdsFiles(value: PdfObject | undefined): boolean {
    if (value === undefined) return false;
    const object = this.#source.resolve(value);
    return (Array.isArray(object) ? object : [object]).some((item) => {
      const file = this.#source.dict(item);
      return file?.has("EF") === true || this.#source.name(file?.get("Type")) === "Filespec";
    });
  }

  #listsRemoved(dict: PdfDict, removed: ReadonlySet<ActiveKind>): boolean {
    const list = dict.has("Annots") ? this.#source.array(dict.get("Annots")) : null;
    return list?.some((item) => this.#goes(item, removed)) === true;
  }

  /** An annotation of a removed kind that no picture is left of. */
  #goes(item: PdfObject, removed: ReadonlySet<ActiveKind>): boolean {
    const dict = this.#source.dict(item);
    const kind = dict && this.#annotation(dict);
    return kind !== null && removed.has(kind) && !dict?.has("AP");
  }

  #annotationsLeft(annotations: PdfObject | undefined, removed: ReadonlySet<ActiveKind>): PdfObject {
    const list = this.#source.array(annotations);
    return list ? list.filter((item) => !this.#goes(item, removed)) : (annotations ?? null);
  }

  /** A portfolio without its files is its cover (§12.3.5). */
  #withoutCover(catalog: PdfDict, removed: ReadonlySet<ActiveKind>): PdfDict {
    return removed.has("embedded-files") && catalog.has("Collection") ? catalog.clone().delete("Collection") : catalog;
  }
}

function pictureOnly(dict: PdfDict): PdfDict {
  const kept = new PdfDict([["Subtype", name("Stamp")]]);
  for (const key of APPEARANCE_KEYS) {
    const value = dict.get(key);
    if (value !== undefined) kept.set(key, value);
  }
  return kept;
}
