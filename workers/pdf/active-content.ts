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

/** In how many places each kind stands in what the catalog reaches. @throws PdfError */
export function findActiveContent(source: Document): Map<ActiveKind, number> {
  const counts = new Map<ActiveKind, number>();
  const rules = new Rules(source);
  const seen = new Set<number>();
  const waiting: PdfObject[] = [source.catalog];
  const visit = (object: PdfObject): void => {
    if (object instanceof PdfRef) {
      if (seen.has(object.num)) return;
      const found = source.get(object);
      // One with a wrong generation leads to nothing, and must not pass for a visit to the object that has the number.
      if (found === null) return;
      seen.add(object.num);
      waiting.push(found);
    } else if (Array.isArray(object)) for (const item of object) visit(item);
    else if (object instanceof PdfStream) visit(object.dict);
    else if (object instanceof PdfDict) {
      for (const [, kind] of rules.kindsIn(object)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      for (const value of object.map.values()) visit(value);
    }
  };
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) visit(next);
  return counts;
}

/**
 * What is to be written in place of a dictionary when these kinds are taken out; the same one when nothing is in it. What
 * an annotation of such a kind looks like stays: it becomes a stamp, hidden when it has no picture.
 */
export function activeContentRemover(source: Document, removed: ReadonlySet<ActiveKind>): (dict: PdfDict) => PdfDict {
  const rules = new Rules(source);
  return (dict) => rules.without(dict, removed);
}

class Rules {
  readonly #source: Document;
  readonly #names: PdfDict | null;
  /** By list or dictionary: many may refer to the same long one. */
  readonly #known = new Map<PdfObject, ReadonlySet<ActiveKind>>();

  constructor(source: Document) {
    this.#source = source;
    this.#names = source.dict(source.catalog.get("Names"));
  }

  /** The kinds that a dictionary itself brings in, by the key that they stand under; null for the dictionary as a whole. */
  *kindsIn(dict: PdfDict): Generator<[key: string | null, kind: ActiveKind]> {
    for (const key of ACTION_KEYS) for (const kind of this.#actionsIn(dict.get(key))) yield [key, kind];
    for (const kind of this.#triggersIn(dict.get("AA"))) yield ["AA", kind];
    for (const kind of this.#filesIn(dict.get("AF"))) yield ["AF", kind];
    const annotation = dict.has("Rect") ? ANNOTATIONS.get(this.#source.name(dict.get("Subtype")) ?? "") : undefined;
    if (annotation) yield [null, annotation];
    if (dict !== this.#names) return;
    if (dict.has("JavaScript")) yield ["JavaScript", "javascript"];
    if (dict.has("EmbeddedFiles")) yield ["EmbeddedFiles", "embedded-files"];
  }

  without(dict: PdfDict, removed: ReadonlySet<ActiveKind>): PdfDict {
    const gone = [...this.kindsIn(dict)].filter(([, kind]) => removed.has(kind));
    // A portfolio without its files is its cover (§12.3.5).
    const cover = dict === this.#source.catalog && removed.has("embedded-files") && dict.has("Collection");
    if (gone.length === 0 && !cover) return dict;
    const left = gone.some(([key]) => key === null) ? pictureOnly(dict) : dict.clone();
    for (const [key] of gone) if (key !== null) left.delete(key);
    return cover ? left.delete("Collection") : left;
  }

  #remembered(
    value: PdfObject | undefined,
    find: (object: PdfObject) => Iterable<ActiveKind>,
  ): ReadonlySet<ActiveKind> {
    if (value === undefined) return NONE;
    const object = this.#source.resolve(value);
    if (typeof object !== "object" || object === null) return NONE;
    const known = this.#known.get(object) ?? new Set(find(object));
    this.#known.set(object, known);
    return known;
  }

  /** The types of the actions in a value: one action or, behind another, a list of them. */
  #actionsIn(value: PdfObject | undefined): ReadonlySet<ActiveKind> {
    return this.#remembered(value, (object) =>
      Array.isArray(object) ? object.flatMap((item) => this.#actionAlone(item)) : this.#action(object),
    );
  }

  #action(object: PdfObject): ActiveKind[] {
    const action = this.#source.dict(object);
    const kind = ACTIONS.get(this.#source.name(action?.get("S")) ?? "");
    // A rendition action may hold a script besides (§12.6.4.13).
    return kind === "rendition" && action?.has("JS") ? [kind, "javascript"] : kind ? [kind] : [];
  }

  /** A list in a list is no action, and may hold itself. */
  #actionAlone(item: PdfObject): ActiveKind[] {
    const object = this.#source.resolve(item);
    return Array.isArray(object) ? [] : [...this.#actionsIn(object)];
  }

  #triggersIn(value: PdfObject | undefined): ReadonlySet<ActiveKind> {
    return this.#remembered(value, (object) => {
      const actions = object instanceof PdfDict ? [...object.map.values()] : [];
      return actions.flatMap((action) => this.#actionAlone(action));
    });
  }

  #filesIn(value: PdfObject | undefined): ReadonlySet<ActiveKind> {
    return this.#remembered(value, (object) => {
      const isFile = (item: PdfObject): boolean => {
        const file = this.#source.dict(item);
        return file?.has("EF") === true || this.#source.name(file?.get("Type")) === "Filespec";
      };
      return (Array.isArray(object) ? object : [object]).some(isFile) ? ["associated-files"] : [];
    });
  }
}

const NONE: ReadonlySet<ActiveKind> = new Set();
const HIDDEN = 2;

/** Without a picture nothing is to be seen: some readers draw one of their own. */
function pictureOnly(dict: PdfDict): PdfDict {
  const kept = new PdfDict([["Subtype", name("Stamp")]]);
  for (const key of APPEARANCE_KEYS) {
    const value = dict.get(key);
    if (value !== undefined) kept.set(key, value);
  }
  return dict.has("AP") ? kept : kept.set("F", HIDDEN);
}
