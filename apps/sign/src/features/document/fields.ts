import type { SignatureInput, SigningField, SigningView } from "../../../../../server/features/signing/contract.ts";
import type { FieldInput } from "../../../../../server/features/templates/contract.ts";
import {
  checkFieldInput,
  isEmpty,
  takesInput,
  visibleFields,
} from "../../../../../server/features/templates/values.ts";
import { ownMember } from "../../../../../server/kernel/record.ts";

/** What the signer has filled in so far. Pure: no React, no network. */
export type Answers = {
  values: Readonly<Record<string, FieldInput | readonly string[]>>;
  signature: SignatureInput | null;
  initials: SignatureInput | null;
  /** Signature and initials fields that the signer has put theirs into. */
  placed: ReadonlySet<string>;
};

/** How a text goes into its field in the document. */
export type Fit = { text: string; size: number; fits: boolean; room: number | null };
const nothingMeasured: ReadonlyMap<string, Fit> = new Map();

export type Mine = SigningField;
const automatic = new Set(["date_signed", "full_name", "email", "formula"]);

export const isSignature = (field: Mine) => field.type === "signature" || field.type === "initials";
export const isUpload = (field: Mine) => field.type === "attachment" || field.type === "image";
/** Filled in by the service: shown, never asked for. */
export const isAutomatic = (field: Mine) => automatic.has(field.type) || !field.editable;
export const isRequired = (field: Mine) => field.required !== false;

/** Where a field stands in reading order: page, then from top to bottom, then along the line. */

function placeOf(field: Mine): number {
  const box = field.boxes[0];
  // Boxes of one line rarely share their top to the point: a line is 6 points high here.
  return box ? box.page * 1e9 + Math.round(box.y / 6) * 1e4 + box.x : Number.MAX_SAFE_INTEGER;
}

/** What stands in the fields before the signer touches them: prefilled values, else defaults, else uploads of an earlier visit. */
export function initialAnswers(view: SigningView): Answers {
  const values: Record<string, FieldInput | readonly string[]> = {};
  for (const field of view.fields.filter((one) => one.role === view.recipient.role)) {
    if (isUpload(field)) {
      const uploads = view.attachments.filter((attachment) => attachment.field === field.id);
      if (uploads.length > 0) values[field.id] = uploads.map((attachment) => attachment.id);
      continue;
    }
    const given = isInput(field.value) ? field.value : null;
    const fallback = "default" in field && field.default !== undefined ? field.default : null;
    // An empty box is a value: conditions may ask for it.
    const value = given ?? fallback ?? (field.type === "checkbox" ? false : null);
    if (value !== null) values[field.id] = value;
  }
  return { values, signature: null, initials: null, placed: new Set() };
}

function isInput(value: SigningField["value"]): value is FieldInput {
  return value === null || typeof value !== "object";
}

/** The fields that stand on the page now, in reading order: a field whose condition is not met is not there. */
export function shownFields(view: SigningView, answers: Answers): Mine[] {
  const own = view.fields.filter((field) => field.role === view.recipient.role);
  return visibleFields(own, answers.values).sort((a, b) => placeOf(a) - placeOf(b));
}

/** The fields of each page, in the given order. */
export function fieldsByPage(fields: readonly Mine[]): ReadonlyMap<number, readonly Mine[]> {
  const pages = new Map<number, Mine[]>();
  for (const field of fields) {
    const options = field.type === "radio" ? field.options.flatMap((option) => option.box?.page ?? []) : [];
    for (const page of new Set([...field.boxes.map((box) => box.page), ...options])) {
      pages.set(page, [...(pages.get(page) ?? []), field]);
    }
  }
  return pages;
}

/** What stands in the field. */
export function answerTo({ id }: Mine, { values }: Answers): FieldInput | readonly string[] | undefined {
  return ownMember(values, id);
}

export function isList(value: FieldInput | readonly string[] | undefined): value is readonly string[] {
  return Array.isArray(value);
}

/** The text that a field holds as it will be drawn; null for fields that are drawn in another way. */
export function drawnText(field: Mine, view: SigningView, answers: Answers): string | null {
  switch (field.type) {
    case "full_name":
      return view.recipient.name;
    case "email":
      return view.recipient.email;
    case "text_input":
    case "company":
    case "job_title":
    case "phone": {
      const value = answerTo(field, answers);
      return typeof value === "string" && !(field.type === "text_input" && field.cells) ? value : null;
    }
    default:
      return null;
  }
}

/** How much of the text fits, when not all of it does and the signer can shorten it; null otherwise. */
export function overfull(field: Mine, answers: Answers, fits: ReadonlyMap<string, Fit>): Fit | null {
  const fit = fits.get(field.id);
  return fit && !fit.fits && !isAutomatic(field) && fit.text === answerTo(field, answers) ? fit : null;
}

/** Whether the field holds what it asks for. */
export function isFilled(field: Mine, answers: Answers, fits: ReadonlyMap<string, Fit> = nothingMeasured): boolean {
  if (isAutomatic(field)) return true;
  if (field.type === "signature") return answers.signature !== null && answers.placed.has(field.id);
  if (field.type === "initials") return answers.initials !== null && answers.placed.has(field.id);
  const value = answerTo(field, answers);
  if (isList(value)) return value.length > 0;
  if (field.type === "checkbox") return value === true;
  return !isEmpty(value) && mistakeIn(field, answers) === null && overfull(field, answers, fits) === null;
}

/** What is wrong with what stands in the field, in the words that the service would use; null when nothing is. */
export function mistakeIn(field: Mine, answers: Answers): string | null {
  const value = answerTo(field, answers);
  if (isAutomatic(field) || isList(value) || value === undefined || !takesInput(field)) return null;
  return checkFieldInput(field, value, "#")[0]?.detail ?? null;
}

/** What the guide leads through: everything that the signer can fill in, and what of it must be. */
export function asked(fields: readonly Mine[]): Mine[] {
  return fields.filter((field) => !isAutomatic(field));
}

/** The next field to fill in after `current`, starting again from the top. */
export function nextOpen(
  fields: readonly Mine[],
  answers: Answers,
  current: string | null,
  fits: ReadonlyMap<string, Fit> = nothingMeasured,
): Mine | undefined {
  const open = asked(fields).filter(
    (field) => (isRequired(field) && !isFilled(field, answers, fits)) || overfull(field, answers, fits) !== null,
  );
  const order = fields.map((field) => field.id);
  const from = current === null ? -1 : order.indexOf(current);
  return open.find((field) => order.indexOf(field.id) > from) ?? open.find((field) => field.id !== current) ?? open[0];
}

/** The `fields` member of the submission: only what is visible, editable and filled in. */
export function submittedFields(fields: readonly Mine[], answers: Answers): Record<string, FieldInput | string[]> {
  const sent: Record<string, FieldInput | string[]> = {};
  for (const field of asked(fields)) {
    const value = answerTo(field, answers);
    if (isSignature(field) || value === undefined || value === null || value === "") continue;
    sent[field.id] = isList(value) ? [...value] : value;
  }
  return sent;
}
