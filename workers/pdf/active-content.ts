/**
 * What a document does besides showing its pages, and what is attached to it (ISO 32000-1 §7.11.4, §12.6, §12.5.6,
 * §13; ISO 32000-2 §14.13): found wherever readers look for it, and taken out of what is written anew.
 */
import { dangerOf } from "./active-content-uri.ts";
import { name, type ObjectSource, PdfDict, type PdfObject, PdfRef, PdfStream, PdfString } from "./objects.ts";

export const activeKinds = [
  "javascript",
  "launch",
  "submit-form",
  "reset-form",
  "import-data",
  "remote-link",
  "embedded-link",
  "automatic-link",
  "set-layers",
  "hide",
  "transition",
  "rendition",
  "movie",
  "sound",
  "rich-media",
  "3d",
  "projection",
  "external-content",
  "embedded-files",
  "file-attachment",
  "associated-files",
] as const;
export type ActiveKind = (typeof activeKinds)[number];

/** Files that lie in the document until a reader saves or opens them. The other kinds act, be it on a click. */
export const isAttachment = (kind: ActiveKind): boolean =>
  kind === "embedded-files" || kind === "file-attachment" || kind === "associated-files";

/** Action types (§12.6.4) that do more than move around in the document, besides `URI` and `Thread`. */
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
  ["SetOCGState", "set-layers"],
  ["Hide", "hide"],
  ["Trans", "transition"],
]);
/** Annotation types (§12.5.6) that play or hold something. */
const ANNOTATIONS = new Map<string, ActiveKind>([
  ["Screen", "rendition"],
  ["Movie", "movie"],
  ["Sound", "sound"],
  ["RichMedia", "rich-media"],
  ["3D", "3d"],
  ["Projection", "projection"],
  ["FileAttachment", "file-attachment"],
]);
/** Under which an action stands: of annotations, fields and bookmarks, of a step of a presentation, of a catalog, behind another action. */
const ACTION_KEYS = ["A", "PA", "NA", "OpenAction", "Next"] as const;
/** Triggers that are a click: the mouse button goes down and up. */
const CLICKS: ReadonlySet<string> = new Set(["D", "U"]);
/** Actions and lists that are looked at behind one that nobody clicked: more of them are taken for the worst. */
const MAX_CHAIN = 64;
/** What a picture of an annotation needs; everything else is what it does. */
const APPEARANCE_KEYS = ["Type", "Rect", "P", "NM", "M", "F", "AP", "AS", "OC", "StructParent"] as const;

type Document = ObjectSource & { catalog: PdfDict };

/**
 * Whether it is worth looking through: nearly everybody's links open addresses and many a document opens with an action, so
 * that the names of these tell nothing.
 */
export const mayHoldActiveContent = (file: Document & { mayAct: boolean }): boolean =>
  file.mayAct || new Rules(file).opensAnAddress(file.catalog.get("OpenAction"));

/** In how many places each kind stands in what the catalog reaches. @throws PdfError */
export function findActiveContent(source: Document): Map<ActiveKind, number> {
  const counts = new Map<ActiveKind, number>();
  const rules = new Rules(source);
  const seen = new Set<number>();
  const waiting: PdfObject[] = [source.catalog];
  const look = (dict: PdfDict, ofStream: boolean): void => {
    for (const [, kind] of rules.kindsIn(dict, ofStream)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    for (const value of dict.map.values()) visit(value);
  };
  const visit = (object: PdfObject): void => {
    if (object instanceof PdfRef) {
      if (seen.has(object.num)) return;
      const found = source.get(object);
      // One with a wrong generation leads to nothing, and must not pass for a visit to the object that has the number.
      if (found === null) return;
      seen.add(object.num);
      waiting.push(found);
    } else if (Array.isArray(object)) for (const item of object) visit(item);
    else if (object instanceof PdfStream) look(object.dict, true);
    else if (object instanceof PdfDict) look(object, false);
  };
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) visit(next);
  return counts;
}

/**
 * What is to be written in place of a dictionary when these kinds are taken out; the same one when nothing is in it. What
 * an annotation of such a kind looks like stays: it becomes a stamp, hidden when it has no picture.
 */
export function activeContentRemover(
  source: Document,
  removed: ReadonlySet<ActiveKind>,
): (dict: PdfDict, ofStream: boolean) => PdfDict {
  const rules = new Rules(source);
  return (dict, ofStream) => rules.without(dict, ofStream, removed);
}

/** What was found in a list, dictionary or string: many may refer to the same long one. */
type Known = Map<PdfObject, ReadonlySet<ActiveKind>>;

class Rules {
  readonly #source: Document;
  readonly #names: PdfDict | null;
  /** One each, since the same object may stand in several roles. */
  readonly #known = { actions: new Map(), triggers: new Map(), files: new Map(), uris: new Map() } satisfies Record<
    string,
    Known
  >;

  constructor(source: Document) {
    this.#source = source;
    this.#names = source.dict(source.catalog.get("Names"));
  }

  /** The kinds that a dictionary itself brings in, by the key that they stand under; null for the dictionary as a whole. */
  *kindsIn(dict: PdfDict, ofStream: boolean): Generator<[key: string | null, kind: ActiveKind]> {
    for (const key of ACTION_KEYS) for (const kind of this.#actionsIn(dict.get(key))) yield [key, kind];
    for (const kind of this.#triggersIn(dict.get("AA"))) yield ["AA", kind];
    for (const kind of this.#filesIn(dict.get("AF"))) yield ["AF", kind];
    const type = this.#source.name(dict.get("Subtype")) ?? "";
    const annotation = dict.has("Rect") ? ANNOTATIONS.get(type) : undefined;
    if (annotation) yield [null, annotation];
    // A step of a presentation passes when its time is over.
    if (this.opensAnAddress(dict.get("NA"))) yield ["NA", "automatic-link"];
    if (ofStream) yield* this.#externalIn(dict, type);
    if (dict === this.#source.catalog) yield* this.#openingIn(dict);
    if (dict !== this.#names) return;
    if (dict.has("JavaScript")) yield ["JavaScript", "javascript"];
    if (dict.has("EmbeddedFiles")) yield ["EmbeddedFiles", "embedded-files"];
  }

  without(dict: PdfDict, ofStream: boolean, removed: ReadonlySet<ActiveKind>): PdfDict {
    const gone = [...this.kindsIn(dict, ofStream)].filter(([, kind]) => removed.has(kind));
    // A portfolio without its files is its cover (§12.3.5).
    const cover = dict === this.#source.catalog && removed.has("embedded-files") && dict.has("Collection");
    if (gone.length === 0 && !cover) return dict;
    const left = gone.some(([key]) => key === null) ? pictureOnly(dict) : dict.clone();
    for (const [key] of gone) if (key !== null) left.delete(key);
    return cover ? left.delete("Collection") : left;
  }

  /** Whether an action, or one behind it, opens an address. */
  opensAnAddress(value: PdfObject | undefined): boolean {
    if (value === undefined) return false;
    const seen = new Set<PdfObject>();
    const waiting: PdfObject[] = [value];
    for (let steps = 0; waiting.length > 0; steps++) {
      if (steps + waiting.length > MAX_CHAIN) return true;
      const object = this.#source.resolve(waiting.pop());
      if (seen.has(object)) continue;
      seen.add(object);
      if (Array.isArray(object)) {
        if (object.length > MAX_CHAIN) return true;
        waiting.push(...object);
        continue;
      }
      const action = this.#source.dict(object);
      if (this.#source.name(action?.get("S")) === "URI" && this.#urisIn(action?.get("URI")).size === 0) return true;
      waiting.push(action?.get("Next") ?? null);
    }
    return false;
  }

  /** What a document does when it is opened, and what its relative links are relative to (§12.6.4.7). */
  *#openingIn(catalog: PdfDict): Generator<[key: string, kind: ActiveKind]> {
    if (this.opensAnAddress(catalog.get("OpenAction"))) yield ["OpenAction", "automatic-link"];
    for (const kind of this.#urisIn(this.#source.dict(catalog.get("URI"))?.get("Base"))) yield ["URI", kind];
  }

  /** Pages of other files in place of a form (§8.10.4), and data in other files in place of the stream's own (§7.3.8). */
  *#externalIn(dict: PdfDict, type: string): Generator<[key: string, kind: ActiveKind]> {
    if (type === "Form" && this.#source.dict(dict.get("Ref"))) yield ["Ref", "external-content"];
    const file = this.#source.resolve(dict.get("F"));
    if (file instanceof PdfString || file instanceof PdfDict) yield ["F", "external-content"];
  }

  #remembered(
    known: Known,
    value: PdfObject | undefined,
    find: (object: PdfObject) => Iterable<ActiveKind>,
  ): ReadonlySet<ActiveKind> {
    if (value === undefined) return NONE;
    const object = this.#source.resolve(value);
    if (typeof object !== "object" || object === null) return NONE;
    const kinds = known.get(object) ?? new Set(find(object));
    known.set(object, kinds);
    return kinds;
  }

  /** The types of the actions in a value: one action or, behind another, a list of them. */
  #actionsIn(value: PdfObject | undefined): ReadonlySet<ActiveKind> {
    return this.#remembered(this.#known.actions, value, (object) =>
      Array.isArray(object) ? object.flatMap((item) => this.#actionAlone(item)) : this.#action(object),
    );
  }

  #action(object: PdfObject): Iterable<ActiveKind> {
    const action = this.#source.dict(object);
    const type = this.#source.name(action?.get("S")) ?? "";
    if (type === "URI") return this.#urisIn(action?.get("URI"));
    // A thread of this document is a place in it.
    if (type === "Thread") return this.#source.resolve(action?.get("F")) === null ? [] : ["remote-link"];
    const kind = ACTIONS.get(type);
    // A rendition action may hold a script besides (§12.6.4.13).
    return kind === "rendition" && action?.has("JS") ? [kind, "javascript"] : kind ? [kind] : [];
  }

  /** A list in a list is no action, and may hold itself. */
  #actionAlone(item: PdfObject): ActiveKind[] {
    const object = this.#source.resolve(item);
    return Array.isArray(object) ? [] : [...this.#actionsIn(object)];
  }

  #urisIn(value: PdfObject | undefined): ReadonlySet<ActiveKind> {
    return this.#remembered(this.#known.uris, value, (object) => {
      const kind = object instanceof PdfString ? dangerOf(object) : null;
      return kind ? [kind] : [];
    });
  }

  #triggersIn(value: PdfObject | undefined): ReadonlySet<ActiveKind> {
    return this.#remembered(this.#known.triggers, value, (object) => {
      const actions = object instanceof PdfDict ? [...object.map] : [];
      return actions.flatMap(([trigger, action]) => {
        const kinds = this.#actionAlone(action);
        return !CLICKS.has(trigger) && this.opensAnAddress(action) ? [...kinds, "automatic-link" as const] : kinds;
      });
    });
  }

  #filesIn(value: PdfObject | undefined): ReadonlySet<ActiveKind> {
    return this.#remembered(this.#known.files, value, (object) => {
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
