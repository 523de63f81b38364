/**
 * What a template is drawn on once its fields have taken the place of a form or of tags: a revision in which the form is
 * flattened and the tags are gone. What was there before stays in the earlier revision.
 */

import { dict, name, PdfDict, PdfError, type PdfObject, PdfRef, PdfStream } from "../pdf/objects.ts";
import { openPdf, type PdfFile, type PdfPage } from "../pdf/reader.ts";
import type { Revision } from "../pdf/revision.ts";
import { formatNumber } from "../pdf/serialize.ts";
import { type Matrix, multiply } from "../pdf/text-places.ts";
import type { Box, Drawing, TakenField, TaskResult, Tasks } from "../protocol.ts";
import { type Appearance, type Changes, stampFile } from "../stamp.ts";
import { boundsOf } from "../whiteout.ts";
import { boxOn, covered } from "./fields.ts";
import type { FormProposal } from "./form-fields.ts";
import { findFields, isSigned, type TagProposal } from "./propose.ts";

/** Of a widget or tag that lies under a field which takes its place. */
const HALF = 0.5;
const PRINT = 4;
const PUSH_BUTTON = 1 << 16;
const MAX_PARENTS = 32;
/** Widgets that become content of the pages. */
const MAX_DRAWN = 20_000;
/** Bytes of appearances that are written anew. */
const MAX_WRITTEN = 64 * 1024 * 1024;
const NOTHING = { tail: null, formTaken: false, warnings: [] };

/** The same input gives the same bytes. */
export async function takeProposals({
  pdf,
  fields,
  at,
}: Tasks["takeProposals"]["input"]): Promise<TaskResult<"takeProposals">> {
  try {
    const file = openPdf(pdf);
    file.makeRoom();
    if (fields.length === 0 || isSigned(file)) return { ok: true, value: NOTHING };
    const { form, tags } = findFields(file, false);
    const replaced = new Set(form.flatMap((proposal) => widgetsUnder(proposal, fields)));
    const tagsTaken = tags.some((tag) => isTagTaken(tag, fields));
    if (replaced.size === 0 && !tagsTaken) return { ok: true, value: NOTHING };
    const removals = tagsTaken ? tags.flatMap(({ placed }) => exactBox(placed.page, placed.bounds)) : [];
    const formTaken = replaced.size > 0;
    const drawings = formTaken ? valuesWithoutAppearance(file, form, replaced) : [];
    const stamped = await stampFile(file, { pdf, drawings, watermark: null, at }, (revision) => ({
      ...(formTaken ? flattened(file, revision, replaced) : { appearances: new Map(), annotations: new Map() }),
      removals,
    }));
    if (!stamped.ok) return stamped;
    const { tail, warnings } = stamped.value;
    return { ok: true, value: { tail, formTaken, warnings } };
  } catch (error) {
    if (!(error instanceof PdfError)) throw error;
    const code = error.code === "too-complex" ? "too-complex" : "damaged";
    return { ok: false, error: { code, message: error.message } };
  }
}

/** The widgets whose place the fields take: by the proposal's id all of its own, else those that lie under one of them. */
function widgetsUnder({ field, widgets }: FormProposal, fields: readonly TakenField[]): PdfDict[] {
  const byId = fields.some(({ id }) => id === field.id);
  return widgets.flatMap(({ page, bounds, dict: widget }) => {
    const box = boxOn(page, bounds);
    return byId || (box && liesUnder(box, fields)) ? [widget] : [];
  });
}

function isTagTaken({ field, placed }: TagProposal, fields: readonly TakenField[]): boolean {
  const box = boxOn(placed.page, placed.bounds);
  return fields.some(({ id }) => id === field?.id) || (box !== null && liesUnder(box, fields));
}

const liesUnder = (box: Box, fields: readonly TakenField[]): boolean =>
  fields.some(({ boxes }) => boxes.some((own) => covered(box, own) >= HALF));

/** Unrounded: letters are taken out when they lie in it as a whole. */
function exactBox(page: PdfPage, { x0, y0, x1, y1 }: { x0: number; y0: number; x1: number; y1: number }): Box[] {
  return [{ page: page.index + 1, x: x0, y: y0, width: x1 - x0, height: y1 - y0 }];
}

/** The form becomes content of the pages; what a field replaces leaves only its frame. */
function flattened(file: PdfFile, revision: Revision, replaced: ReadonlySet<PdfDict>): Omit<Changes, "removals"> {
  const appearances = new Map<number, Appearance[]>();
  const annotations = new Map<number, PdfObject[]>();
  const forms = createForms(revision);
  const seen = new Set<PdfDict>();
  const form = file.dict(file.catalog.get("AcroForm"));
  const defaults = form?.get("DR");
  for (const page of file.pages()) {
    const list = file.array(page.dict.get("Annots")) ?? [];
    const widgets = list.filter((item) => file.name(file.dict(item)?.get("Subtype")) === "Widget");
    if (widgets.length === 0) continue;
    const gone = new Set(widgets);
    annotations.set(
      page.index + 1,
      list.filter((item) => !gone.has(item)),
    );
    const drawn = widgets.flatMap((item) => {
      const widget = file.dict(item);
      // One that is listed again would be drawn once more in the same place.
      if (!widget || seen.has(widget) || !isShown(file, widget)) return [];
      seen.add(widget);
      if (seen.size > MAX_DRAWN) throw new PdfError("too-complex", "the form has too many fields");
      const stream = replaced.has(widget) ? frameOf(file, widget) : shownAppearance(file, widget);
      return stream ? appearanceIn(file, forms, { widget, stream, defaults }) : [];
    });
    if (drawn.length > 0) appearances.set(page.index + 1, drawn);
  }
  revision.set(file.catalogRef, revision.catalog.clone().delete("AcroForm"));
  return { appearances, annotations };
}

const HIDDEN = 2;
const NO_VIEW = 32;

/** Buttons to press stay when they are meant to be printed: those show a picture. */
function isShown(file: PdfFile, widget: PdfDict): boolean {
  const flags = file.number(widget.get("F")) ?? 0;
  if ((flags & (HIDDEN | NO_VIEW)) !== 0) return false;
  const pushes =
    file.name(inherited(file, widget, "FT")) === "Btn" &&
    ((file.number(inherited(file, widget, "Ff")) ?? 0) & PUSH_BUTTON) !== 0;
  return !pushes || (flags & PRINT) !== 0;
}

function inherited(file: PdfFile, widget: PdfDict, key: string): PdfObject | undefined {
  let next: PdfDict | null = widget;
  for (let hops = 0; next && hops < MAX_PARENTS; hops++) {
    const own = next.get(key);
    if (own !== undefined) return own;
    next = file.dict(next.get("Parent"));
  }
  return undefined;
}

/** A stream of the file as it is, or one that is yet to be written. */
type Shown = { ref: PdfObject | undefined; stream: PdfStream };

function shownAppearance(file: PdfFile, widget: PdfDict): Shown | null {
  const normal = file.dict(widget.get("AP"))?.get("N");
  const value = file.resolve(normal);
  if (value instanceof PdfStream) return { ref: normal, stream: value };
  const state = file.name(widget.get("AS"));
  return value instanceof PdfDict && state !== null ? stateOf(file, value, state) : null;
}

function stateOf(file: PdfFile, states: PdfDict, state: string): Shown | null {
  const ref = states.get(state);
  const stream = file.stream(ref);
  return stream ? { ref, stream } : null;
}

/** What a replaced widget leaves: a button as it looks when it is off, any other the frame and background that it has. */
function frameOf(file: PdfFile, widget: PdfDict): Shown | null {
  const normal = file.resolve(file.dict(widget.get("AP"))?.get("N"));
  if (normal instanceof PdfDict) {
    const off = stateOf(file, normal, "Off");
    if (off) return off;
  }
  const look = file.dict(widget.get("MK"));
  const [fill, stroke] = [colorOf(file, look?.get("BG"), "rg"), colorOf(file, look?.get("BC"), "RG")];
  const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = sidesOf(file, widget);
  const [width, height] = [Math.abs(x1 - x0), Math.abs(y1 - y0)];
  const line = Math.min(Math.max(file.number(file.dict(widget.get("BS"))?.get("W")) ?? 1, 0), 10);
  if ((fill === null && (stroke === null || line === 0)) || width === 0 || height === 0) return null;
  const edges = [line / 2, line / 2, width - line, height - line].map(formatNumber).join(" ");
  const painted = [
    ...(fill === null ? [] : [`${fill} 0 0 ${formatNumber(width)} ${formatNumber(height)} re f`]),
    ...(stroke === null || line === 0 ? [] : [`${stroke} ${formatNumber(line)} w ${edges} re S`]),
  ];
  const box = dict({ BBox: [0, 0, width, height], Resources: new PdfDict() });
  return { ref: undefined, stream: new PdfStream(box, Buffer.from(painted.join("\n"), "latin1")) };
}

/** §12.5.6.19: one, three or four components, or none for no colour. */
function colorOf(file: PdfFile, object: PdfObject | undefined, operator: "rg" | "RG"): string | null {
  const parts = file.array(object)?.map((part) => Math.min(Math.max(file.number(part) ?? 0, 0), 1)) ?? [];
  const operators: Record<number, string> = {
    1: operator === "rg" ? "g" : "G",
    3: operator,
    4: operator === "rg" ? "k" : "K",
  };
  const own = operators[parts.length];
  return own === undefined ? null : `${parts.map(formatNumber).join(" ")} ${own}`;
}

const sidesOf = (file: PdfFile, widget: PdfDict): number[] =>
  file.array(widget.get("Rect"))?.map((side) => file.number(side) ?? 0) ?? [];

type Placed = { widget: PdfDict; stream: Shown; defaults: PdfObject | undefined };

/** The algorithm of §12.5.5: the box of the appearance, as its matrix turns it, goes into the widget's rectangle. */
function appearanceIn(file: PdfFile, forms: Forms, { widget, stream: shown, defaults }: Placed): Appearance[] {
  const { stream, ref } = shown;
  const sides = sidesOf(file, widget);
  const box = file.array(stream.dict.get("BBox"))?.map((side) => file.number(side) ?? Number.NaN) ?? [];
  const own = file.array(stream.dict.get("Matrix"))?.map((part) => file.number(part) ?? Number.NaN) ?? [
    1, 0, 0, 1, 0, 0,
  ];
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = own;
  if (sides.length !== 4 || box.length !== 4 || ![...box, ...own].every(Number.isFinite)) return [];
  const from = boundsOf([a, b, c, d, e, f], box);
  const to = boundsOf([1, 0, 0, 1, 0, 0], sides);
  const [width, height] = [from.x1 - from.x0, from.y1 - from.y0];
  if (width <= 0 || height <= 0) return [];
  const scale: Matrix = [(to.x1 - to.x0) / width, 0, 0, (to.y1 - to.y0) / height, 0, 0];
  const matrix = multiply(multiply([1, 0, 0, 1, -from.x0, -from.y0], scale), [1, 0, 0, 1, to.x0, to.y0]);
  return [{ form: forms.of({ widget, stream, ref, defaults }), matrix }];
}

type Forms = {
  of: (about: {
    widget: PdfDict;
    stream: PdfStream;
    ref: PdfObject | undefined;
    defaults: PdfObject | undefined;
  }) => PdfRef;
};

/** Appearances as forms: each stream as it is, or written anew, once, where it lacks what makes it one. */
function createForms(revision: Revision): Forms {
  const written = new Map<PdfStream, Map<string, PdfRef>>();
  let bytes = 0;
  return {
    of({ widget, stream, ref, defaults }) {
      const layer = widget.get("OC");
      const isForm =
        revision.name(stream.dict.get("Subtype")) === "Form" && stream.dict.has("Resources") && layer === undefined;
      if (isForm && isRef(ref)) return ref;
      const inLayer = isRef(layer) ? String(layer.num) : "";
      const before = written.get(stream) ?? new Map<string, PdfRef>();
      written.set(stream, before);
      const known = before.get(inLayer);
      if (known && (layer === undefined || isRef(layer))) return known;
      bytes += stream.raw.length;
      if (bytes > MAX_WRITTEN) throw new PdfError("too-complex", "the form has too large appearances");
      const form = stream.dict.clone().set("Type", name("XObject")).set("Subtype", name("Form"));
      if (!form.has("Resources") && defaults !== undefined) form.set("Resources", defaults);
      if (layer !== undefined) form.set("OC", layer);
      const made = revision.add(new PdfStream(form, stream.raw));
      before.set(inLayer, made);
      return made;
    },
  };
}

const isRef = (object: PdfObject | undefined): object is PdfRef => object instanceof PdfRef;

/** Values that the file leaves to the reader to draw. */
function valuesWithoutAppearance(
  file: PdfFile,
  form: readonly FormProposal[],
  replaced: ReadonlySet<PdfDict>,
): Drawing[] {
  return form.flatMap(({ field, value, widgets }) =>
    widgets.flatMap((widget): Drawing[] => {
      const box = boxOn(widget.page, widget.bounds);
      const shown = shownAppearance(file, widget.dict) !== null;
      if (!box || shown || replaced.has(widget.dict) || file.dict(widget.dict.get("AP"))?.has("N")) return [];
      if (field.default === true) return [{ kind: "check", ...box }];
      if (value === "" || field.type === "radio" || field.type === "checkbox") return [];
      const text = field.options?.find((option) => option.value === value)?.label ?? value;
      const size = Math.min(11, Math.max(6, 0.7 * box.height));
      return [
        { kind: "text", text, multiline: field.multiline === true, cells: field.cells, padding: 2, size, ...box },
      ];
    }),
  );
}
