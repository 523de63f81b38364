/**
 * The form of a PDF (ISO 32000-1 §12.7), read with pdf-lib. It is given a copy that holds the fields and nothing else, made
 * by our own reader: so files that pdf-lib cannot load have their fields read too, and hostile ones (cycles, wrong types,
 * bombs in their streams) are bounded before it sees them.
 */
import {
  PDFAcroForm,
  PDFAcroTerminal,
  PDFArray,
  PDFContext,
  PDFDict,
  PDFHexString,
  PDFName,
  PDFNumber,
  type PDFObject,
  type PDFRef,
} from "pdf-lib";
import { PdfDict, PdfError, PdfName, type PdfObject, PdfString, textOf } from "../pdf/objects.ts";
import type { PdfFile, PdfPage } from "../pdf/reader.ts";
import { type Bounds, boundsOf, toDisplay } from "../whiteout.ts";

/** A widget that is seen on a page. */
export type Widget = { page: PdfPage; dict: PdfDict; bounds: Bounds };
/** A widget, and the value that it stands for when it is a button. */
export type PlacedWidget = Widget & { on: string | null };
/**
 * `field` is pdf-lib's view of the field, `names` are the parts of its name from the top, `actions` the scripts that format
 * and check what is entered.
 */
export type FormField = {
  field: PDFAcroTerminal;
  names: string[];
  tooltip: string;
  actions: string;
  widgets: PlacedWidget[];
};

const HIDDEN = 2;
const NO_VIEW = 32;
/** Of annotations that are looked at, in a file. */
const MAX_ANNOTATIONS = 20_000;
const MAX_WIDGETS = 5_000;
/** Widgets of one field whose scripts are read. */
const MAX_SCRIPTS = 4;
/** Widgets of a page: more have no order that anybody gave them. */
const MAX_SORTED = 2_000;
const MAX_PARENTS = 32;
const MAX_OPTIONS = 500;
const MAX_STRING = 8_192;
/** Far outside of every page. */
const FAR = 1e6;

const isHidden = (file: PdfFile, dict: PdfDict): boolean =>
  ((file.number(dict.get("F")) ?? 0) & (HIDDEN | NO_VIEW)) !== 0;

/** The widgets that are seen, page by page in tab order. @throws PdfError */
export function widgetsOf(file: PdfFile): Widget[] {
  const widgets: Widget[] = [];
  const seen = new Set<PdfDict>();
  let left = MAX_ANNOTATIONS;
  for (const page of file.pages()) {
    const own: Widget[] = [];
    for (const item of file.array(page.dict.get("Annots"))?.slice(0, left) ?? []) {
      left--;
      const dict = file.dict(item);
      if (!dict || seen.has(dict) || file.name(dict.get("Subtype")) !== "Widget" || isHidden(file, dict)) continue;
      seen.add(dict);
      const sides = file.array(dict.get("Rect"))?.map((side) => file.number(side) ?? Number.NaN);
      if (sides?.length !== 4 || !sides.every((side) => Math.abs(side) <= FAR)) continue;
      own.push({ page, dict, bounds: boundsOf(toDisplay(page), sides) });
    }
    widgets.push(...inTabOrder(file.name(page.dict.get("Tabs")), own));
    if (widgets.length >= MAX_WIDGETS) break;
  }
  return widgets.slice(0, MAX_WIDGETS);
}

/** Rows and columns (§12.5.1); the order of the structure is that of the annotations in most files. */
function inTabOrder(tabs: string | null, widgets: Widget[]): Widget[] {
  if ((tabs !== "R" && tabs !== "C") || widgets.length > MAX_SORTED) return widgets;
  const middle = ({ bounds }: Widget): [across: number, down: number] => [
    (bounds.x0 + bounds.x1) / 2,
    (bounds.y0 + bounds.y1) / 2,
  ];
  const [main, other] = tabs === "R" ? ([1, 0] as const) : ([0, 1] as const);
  const sorted = widgets.toSorted((a, b) => middle(a)[main] - middle(b)[main]);
  const ordered: Widget[] = [];
  for (let rest = sorted; rest.length > 0; ) {
    const [first] = rest;
    if (!first) break;
    const reach =
      middle(first)[main] + (main === 1 ? first.bounds.y1 - first.bounds.y0 : first.bounds.x1 - first.bounds.x0) / 2;
    const row = rest.filter((widget) => middle(widget)[main] <= reach);
    ordered.push(...row.sort((a, b) => middle(a)[other] - middle(b)[other]));
    rest = rest.filter((widget) => !row.includes(widget));
  }
  return ordered;
}

/** The fields of these widgets, in the order of each one's first widget. @throws PdfError */
export function fieldsOfWidgets(file: PdfFile, widgets: readonly Widget[]): FormField[] {
  const copy = new FormCopy(file);
  const places = new Map<PDFDict, { widget: Widget; index: number }>();
  for (const [index, widget] of widgets.entries()) {
    const dict = copy.add(widget.dict);
    if (dict) places.set(dict, { widget, index });
  }
  const found = copy.fields().flatMap((field): { index: number; own: FormField }[] => {
    const placed = field
      .getWidgets()
      .flatMap((widget) => {
        const place = places.get(widget.dict);
        return place ? [{ ...place, copy: widget.dict }] : [];
      })
      .sort((a, b) => a.index - b.index);
    const [first] = placed;
    if (!first) return [];
    const own = {
      field,
      names: namesOf(field.dict),
      tooltip: textIn(field.dict, "TU") ?? textIn(first.copy, "TU") ?? "",
      // Widgets of a field usually inherit the same scripts.
      actions: [...new Set(placed.slice(0, MAX_SCRIPTS).map(({ widget }) => actionsOf(file, widget.dict)))].join("\n"),
      widgets: placed.map(({ widget }) => ({ ...widget, on: onState(file, widget.dict) })),
    };
    return [{ index: first.index, own }];
  });
  return found.sort((a, b) => a.index - b.index).map(({ own }) => own);
}

/** The name of the state in which a button is on. */
function onState(file: PdfFile, dict: PdfDict): string | null {
  const normal = file.resolve(file.dict(dict.get("AP"))?.get("N"));
  if (!(normal instanceof PdfDict)) return null;
  for (const key of normal.map.keys()) if (key !== "Off") return Buffer.from(key, "latin1").toString("utf8");
  return null;
}

/**
 * Entries of fields and widgets that pdf-lib is shown, each only when it has the type that belongs to it. Names become
 * strings: pdf-lib keeps every name that it ever saw.
 */
const COPIED = {
  T: "string",
  TU: "string",
  FT: "type",
  Ff: "number",
  MaxLen: "number",
  V: "value",
  DV: "value",
  Opt: "options",
} as const;
const TYPES: ReadonlySet<string> = new Set(["Tx", "Btn", "Ch", "Sig"]);
const FT = PDFName.of("FT");

/** The fields and widgets of a file as pdf-lib's objects, each dictionary once. */
class FormCopy {
  readonly #file: PdfFile;
  readonly #context = PDFContext.create();
  readonly #copies = new Map<PdfDict, PDFDict>();
  readonly #refs = new Map<PDFDict, PDFRef>();
  readonly #roots: PDFRef[] = [];

  constructor(file: PdfFile) {
    this.#file = file;
  }

  /** The copy of a widget with the fields above it; null for one that belongs to no field. */
  add(widget: PdfDict): PDFDict | null {
    const above: PdfDict[] = [];
    for (let next: PdfDict | null = widget; next; next = this.#file.dict(next.get("Parent"))) {
      // Parents that come round again end the way.
      if (above.length === MAX_PARENTS || above.includes(next)) break;
      above.push(next);
    }
    const type = above.map((dict) => this.#file.name(dict.get("FT")) ?? "").find((name) => TYPES.has(name));
    if (type === undefined) return null;
    let parent: PDFDict | null = null;
    for (const dict of above.reverse()) {
      parent = this.#copied(dict, parent);
      // Some files name the type at the widget only, and pdf-lib asks every field for one.
      if (!parent.has(FT)) parent.set(FT, PDFName.of(type));
    }
    return parent;
  }

  /** Every field that has widgets; those above them are none. */
  fields(): PDFAcroTerminal[] {
    const dict = PDFDict.withContext(this.#context);
    dict.set(PDFName.of("Fields"), this.#list(this.#roots));
    const all = PDFAcroForm.fromDict(dict).getAllFields();
    return all.flatMap(([field]) => (field instanceof PDFAcroTerminal ? [field] : []));
  }

  #copied(dict: PdfDict, parent: PDFDict | null): PDFDict {
    const known = this.#copies.get(dict);
    if (known) return known;
    const copy = PDFDict.withContext(this.#context);
    for (const [key, kind] of Object.entries(COPIED)) {
      const value = this.#value(dict.get(key), kind);
      if (value) copy.set(PDFName.of(key), value);
    }
    const ref = this.#context.register(copy);
    this.#copies.set(dict, copy);
    this.#refs.set(copy, ref);
    const above = parent && this.#refs.get(parent);
    if (!parent || !above) this.#roots.push(ref);
    else {
      copy.set(PDFName.of("Parent"), above);
      const kids = parent.lookupMaybe(PDFName.of("Kids"), PDFArray);
      if (kids) kids.push(ref);
      else parent.set(PDFName.of("Kids"), this.#list([ref]));
    }
    return copy;
  }

  #value(given: PdfObject | undefined, kind: (typeof COPIED)[keyof typeof COPIED]): PDFObject | null {
    const value = this.#file.resolve(given);
    if (value instanceof PdfString) return kind === "type" || kind === "number" ? null : hexString(textOf(value));
    if (value instanceof PdfName && kind === "value") return hexString(value.value);
    if (value instanceof PdfName) return kind === "type" && TYPES.has(value.value) ? PDFName.of(value.value) : null;
    if (typeof value === "number") return kind === "number" && Number.isFinite(value) ? PDFNumber.of(value) : null;
    if (!Array.isArray(value) || (kind !== "options" && kind !== "value")) return null;
    const items = value.slice(0, MAX_OPTIONS).flatMap((item): PDFObject[] => {
      const own = this.#file.resolve(item);
      if (own instanceof PdfString) return [hexString(textOf(own))];
      const [first, second] = Array.isArray(own) ? own.slice(0, 2).map((part) => this.#file.string(part)) : [];
      return first ? [this.#list([hexString(textOf(first)), hexString(textOf(second ?? first))])] : [];
    });
    return this.#list(items);
  }

  #list(items: readonly PDFObject[]): PDFArray {
    const list = PDFArray.withContext(this.#context);
    for (const item of items) list.push(item);
    return list;
  }
}

const hexString = (text: string): PDFHexString => PDFHexString.fromText(text.slice(0, MAX_STRING));

function textIn(dict: PDFDict, key: string): string | null {
  const own = dict.lookup(PDFName.of(key));
  return own instanceof PDFHexString ? own.decodeText() : null;
}

function namesOf(dict: PDFDict): string[] {
  const names: string[] = [];
  for (let next: PDFDict | undefined = dict; next; next = next.lookupMaybe(PDFName.of("Parent"), PDFDict)) {
    const own = textIn(next, "T");
    if (own !== null && own !== "") names.unshift(own);
  }
  return names;
}

/** The scripts of a field that format (/F) and check (/K) what is typed (§12.6.3), as text; they are never run. */
function actionsOf(file: PdfFile, widget: PdfDict): string {
  for (let next: PdfDict | null = widget, hops = 0; next && hops < MAX_PARENTS; hops++) {
    const actions = file.dict(next.get("AA"));
    const texts = ["F", "K"].map((key) => scriptOf(file, file.dict(actions?.get(key))));
    const text = texts.join("\n").trim();
    if (text !== "") return text;
    next = file.dict(next.get("Parent"));
  }
  return "";
}

function scriptOf(file: PdfFile, action: PdfDict | null): string {
  const script = file.resolve(action?.get("JS"));
  if (script instanceof PdfString) return textOf(script).slice(0, MAX_STRING);
  const stream = file.stream(action?.get("JS"));
  if (!stream) return "";
  try {
    return Buffer.from(file.decode(stream, MAX_STRING)).toString("latin1");
  } catch (error) {
    if (error instanceof PdfError) return "";
    throw error;
  }
}
