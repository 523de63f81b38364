/** Makes proposals of form fields: type, options, values and places as the PDF has them. */
import {
  AcroFieldFlags,
  AcroTextFlags,
  PDFAcroCheckBox,
  PDFAcroChoice,
  PDFAcroRadioButton,
  PDFAcroSignature,
  type PDFAcroTerminal,
  PDFAcroText,
  PDFArray,
  PDFHexString,
  PDFName,
  PDFNumber,
  PDFString,
} from "pdf-lib";
import type { Box, ProposedField } from "../protocol.ts";
import { boxOn, DEFAULT_ROLE, type Ids, lineOfText } from "./fields.ts";
import type { FormField, PlacedWidget } from "./form.ts";
import { certainType } from "./labels.ts";
import { dateFormat } from "./tags.ts";

/** A proposal, what the form field holds as text, and the widgets whose place it takes. */
export type FormProposal = { field: ProposedField; value: string; widgets: PlacedWidget[] };

const MAX_OPTIONS = 100;
const MAX_DEFAULT = 4000;

/** The fields that a form field stands for: one for a group of buttons, else one for each of its widgets. */
export function proposalsOfField(form: FormField, ids: Ids): FormProposal[] {
  const { field, widgets } = form;
  if (field instanceof PDFAcroRadioButton) return [radio(form, ids)].filter((found) => found !== null);
  if (field instanceof PDFAcroCheckBox) return checkboxes(form, ids);
  // A signature that somebody made already stays.
  if (field instanceof PDFAcroSignature && field.V() !== undefined) return [];
  if (!(field instanceof PDFAcroText || field instanceof PDFAcroChoice || field instanceof PDFAcroSignature)) return [];
  const value = heldValue(field).slice(0, MAX_DEFAULT);
  return widgets.flatMap((widget) => {
    const box = boxOn(widget.page, widget.bounds);
    const own = box && single(form, ids, box);
    return own ? [{ field: own, value, widgets: [widget] }] : [];
  });
}

const heldValue = (field: PDFAcroText | PDFAcroChoice | PDFAcroSignature): string =>
  field instanceof PDFAcroText
    ? stringIn(field.V())
    : field instanceof PDFAcroChoice
      ? (field.getValues()[0]?.decodeText() ?? "")
      : "";

function single(form: FormField, ids: Ids, box: Box): ProposedField | null {
  const { field } = form;
  if (field instanceof PDFAcroText) return text(form, field, ids, box);
  if (field instanceof PDFAcroChoice) return dropdown(form, field, ids, box);
  const initials = certainType(wordsOf(lastName(form))) === "initials";
  return { ...common(form, ids, "signature", box), type: initials ? "initials" : "signature" };
}

function common(form: FormField, ids: Ids, fallback: string, box: Box): Omit<ProposedField, "type"> {
  const { field, tooltip } = form;
  const name = lastName(form);
  const label = lineOfText(tooltip, 200) ?? lineOfText(wordsOf(name), 200);
  const longer = lineOfText(tooltip, 500);
  const flagged = field.hasFlag(AcroFieldFlags.Required);
  const signs = field instanceof PDFAcroSignature;
  return {
    id: ids.take(name, fallback),
    role: DEFAULT_ROLE,
    ...box,
    ...(label === undefined ? {} : { label }),
    ...(longer === undefined || longer === label ? {} : { tooltip: longer }),
    ...(flagged || signs ? {} : { required: false }),
  };
}

function text(form: FormField, field: PDFAcroText, ids: Ids, box: Box): ProposedField {
  const value = stringIn(field.V());
  const readOnly = readOnlyOf(field, value !== "");
  const base = common(form, ids, "text", box);
  const scripts = form.actions;
  if (/\bAFDate_/.test(scripts)) {
    const format = /\bAFDate_\w+\(\s*["']([^"']{1,40})["']/.exec(scripts)?.[1];
    return {
      ...base,
      type: "date",
      ...dateFormat(format?.replaceAll("y", "Y").replaceAll("m", "M").replaceAll("d", "D")),
    };
  }
  const decimals = /\bAF(?:Number|Percent)_\w+\(\s*(\d{1,2})/.exec(scripts)?.[1];
  if (decimals !== undefined) {
    const number = value === "" ? Number.NaN : Number(value);
    const places = Math.min(Number(decimals), 10);
    return {
      ...base,
      type: "number",
      decimals: places,
      ...(Number.isFinite(number) ? { default: number, ...readOnly } : {}),
    };
  }
  const multiline = field.hasFlag(AcroTextFlags.Multiline);
  const length = maxLengthOf(field);
  const named = multiline ? null : (certainType(wordsOf(lastName(form))) ?? certainType(form.tooltip));
  const given = value === "" ? {} : { default: value.slice(0, MAX_DEFAULT), ...readOnly };
  switch (length === null ? named : null) {
    case "date":
      return value === "" ? { ...base, type: "date" } : { ...base, type: "text_input", ...given };
    case "full_name":
    case "email":
      // These are filled in from the recipient: a form that brings its own value, or can go without, means something else.
      return value === "" ? { ...base, type: named ?? "text_input" } : { ...base, type: "text_input", ...given };
    case "signature":
    case "initials":
      if (value === "") return { ...base, type: named ?? "text_input" };
      break;
    case "phone":
    case "company":
    case "job_title":
      return { ...base, type: named ?? "text_input", ...given };
    default:
  }
  const comb = field.hasFlag(AcroTextFlags.Comb) && !multiline && length !== null && length >= 2 && length <= 50;
  return {
    ...base,
    type: "text_input",
    ...(multiline ? { multiline } : {}),
    ...(comb && length !== null ? { cells: length } : {}),
    ...(length === null ? {} : { maxLength: length }),
    ...given,
  };
}

function dropdown(form: FormField, field: PDFAcroChoice, ids: Ids, box: Box): ProposedField {
  const base = common(form, ids, "choice", box);
  const options = new Map<string, string>();
  for (const { value, display } of field.getOptions()) {
    const own = value.decodeText().slice(0, 200);
    const shown = lineOfText(display?.decodeText() ?? own, 200);
    if (own.trim() !== "" && shown !== undefined && !options.has(own)) options.set(own, shown);
    if (options.size === MAX_OPTIONS) break;
  }
  const chosen = field.getValues()[0]?.decodeText() ?? "";
  const hit = [...options].find(([value, label]) => value === chosen || label === chosen)?.[0];
  // What can be typed freely, or names nothing to choose from, is a text.
  if (options.size === 0)
    return { ...base, type: "text_input", ...(chosen === "" ? {} : { default: chosen.slice(0, MAX_DEFAULT) }) };
  return {
    ...base,
    type: "dropdown",
    options: [...options].map(([value, label]) => ({ value, ...(label === value ? {} : { label }) })),
    ...(hit === undefined ? {} : { default: hit, ...readOnlyOf(field, true) }),
  };
}

/** Boxes that bear the same name and different values are a choice of one of them. */
function checkboxes(form: FormField, ids: Ids): FormProposal[] {
  const { field, widgets } = form;
  const states = new Set(widgets.map(({ on }) => on));
  if (widgets.length > 1 && states.size > 1) return [radio(form, ids)].filter((found) => found !== null);
  const value = stringIn(field.V());
  return widgets.flatMap((widget) => {
    const box = boxOn(widget.page, widget.bounds);
    if (!box) return [];
    const ticked = value !== "" && value !== "Off" && (widget.on === null || widget.on === value);
    const own: ProposedField = {
      ...common(form, ids, "checkbox", box),
      type: "checkbox",
      ...(ticked ? { default: true, ...readOnlyOf(field, true) } : {}),
    };
    return [{ field: own, value: "", widgets: [widget] }];
  });
}

/** One field with a box for each option. */
function radio(form: FormField, ids: Ids): FormProposal | null {
  const { field, widgets } = form;
  const exported =
    field instanceof PDFAcroRadioButton || field instanceof PDFAcroCheckBox ? field.getExportValues() : [];
  const state = stringIn(field.V());
  const options: { value: string; box: Box }[] = [];
  const taken = new Set<string>();
  let chosen: string | undefined;
  for (const [index, widget] of widgets.entries()) {
    const box = boxOn(widget.page, widget.bounds);
    if (!box || options.length === MAX_OPTIONS) continue;
    // An export value stands where the names of states are only numbers (§12.7.4.2.4).
    const numbered = widget.on !== null && /^\d+$/.test(widget.on) ? exported?.[Number(widget.on)] : undefined;
    const named = (numbered?.decodeText() ?? widget.on ?? "").trim().slice(0, 190);
    let value = lineOfText(named, 190) ?? String(index + 1);
    for (let count = 2; taken.has(value); count++) value = `${lineOfText(named, 190) ?? index + 1}-${count}`;
    taken.add(value);
    options.push({ value, box });
    if (state !== "" && state !== "Off" && state === widget.on) chosen ??= value;
  }
  const [first] = options;
  if (!first) return null;
  const own: ProposedField = {
    ...common(form, ids, "choice", around(options.map(({ box }) => box).filter(({ page }) => page === first.box.page))),
    type: "radio",
    options,
    ...(chosen === undefined ? {} : { default: chosen, ...readOnlyOf(field, true) }),
  };
  return { field: own, value: "", widgets };
}

function around(boxes: readonly Box[]): Box {
  const [x, y] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  const round = (value: number): number => Math.round(value * 100) / 100;
  return { page: boxes[0]?.page ?? 1, x, y, width: round(right - x), height: round(bottom - y) };
}

/** Without a value nobody could ever fill it in, so then it is left open. */
function readOnlyOf(field: PDFAcroTerminal, hasValue: boolean): { readOnly?: true } {
  return hasValue && field.hasFlag(AcroFieldFlags.ReadOnly) ? { readOnly: true } : {};
}

function maxLengthOf(field: PDFAcroText): number | null {
  const length = field.getInheritableAttribute(PDFName.of("MaxLen"));
  const value = length instanceof PDFNumber ? length.asNumber() : 0;
  return Number.isInteger(value) && value >= 1 && value <= 4000 ? value : null;
}

function stringIn(value: unknown): string {
  if (value instanceof PDFArray) return stringIn(value.size() > 0 ? value.lookup(0) : undefined);
  if (!(value instanceof PDFHexString || value instanceof PDFString)) return "";
  return value
    .decodeText()
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{C}\n]/gu, "");
}

/** What a field calls itself: the last part of its name that is not made up by a program. */
function lastName({ names }: FormField): string {
  const named = names
    .map((name) => name.replace(/\[\d+\]/g, "").replace(/^#\w+$/, ""))
    .filter((name) => name.trim() !== "");
  return named.at(-1) ?? "";
}

/** `applicantName_2` → "applicant Name 2". */
function wordsOf(name: string): string {
  return name
    .replace(/([\p{Ll}])(\p{Lu})/gu, "$1 $2")
    .replace(/[_\-.]+/g, " ")
    .trim();
}
