/** Finds the tags of a file and makes fields of them. */
import type { PdfPage } from "../pdf/reader.ts";
import type { Box, ProposedField } from "../protocol.ts";
import type { Bounds } from "../whiteout.ts";
import { boxOn, DEFAULT_ROLE, type Ids, lineOfText } from "./fields.ts";
import type { Letter } from "./page-content.ts";
import { flagOf, numberOf, parseTag, type Tag, tagsIn } from "./tag-grammar.ts";
import { boundsOfLetters, type TextLine } from "./text-lines.ts";

/** A tag where it stands: `letters` are all of its own. */
export type PlacedTag = { tag: Tag; page: PdfPage; letters: Letter[]; bounds: Bounds; turn: Letter["turn"] };

/** Points: signatures are not squeezed into the height of a line. */
const SIGNATURE_HEIGHT = 24;

/** The tags of a page in reading order. */
export function tagsOnPage(page: PdfPage, lines: readonly TextLine[]): PlacedTag[] {
  const found: PlacedTag[] = [];
  for (const line of lines) {
    for (const { begin, end, inner } of tagsIn(line.text)) {
      const tag = parseTag(inner);
      if (!tag) continue;
      const letters = [...new Set(line.letters.slice(begin, end).filter((letter) => letter !== null))];
      found.push({ tag, page, letters, bounds: boundsOfLetters(letters), turn: line.turn });
    }
  }
  return found;
}

/** The field that a tag stands for; null when it has no room on its page. */
export function fieldOfTag(placed: PlacedTag, ids: Ids): ProposedField | null {
  const { tag } = placed;
  const { type, attributes } = tag;
  const box = boxOfTag(placed);
  if (!box) return null;
  const required = flagOf(attributes.get("required"));
  const readOnly = flagOf(attributes.get("readOnly"));
  const label = lineOfText(attributes.get("label") ?? tag.name, 200);
  const tooltip = lineOfText(attributes.get("tooltip"), 500);
  const field: ProposedField = {
    id: ids.take(tag.name ?? label ?? `${type}-${tag.role ?? ""}`, type),
    type,
    role: tag.role ?? DEFAULT_ROLE,
    ...box,
    ...(label === undefined ? {} : { label }),
    ...(tooltip === undefined ? {} : { tooltip }),
    ...(required === null ? {} : { required }),
  };
  const given = attributes.get("default");
  switch (type) {
    case "text_input":
      Object.assign(field, textMembers(tag));
      break;
    case "number":
      Object.assign(field, numberMembers(tag));
      break;
    case "date":
      Object.assign(field, dateFormat(attributes.get("format")));
      if (given !== undefined && isDay(given)) field.default = given;
      break;
    case "date_signed":
      Object.assign(field, dateFormat(attributes.get("format")));
      break;
    case "checkbox": {
      const ticked = flagOf(given);
      if (ticked !== null) field.default = ticked;
      break;
    }
    case "radio":
    case "dropdown": {
      field.options = optionsOf(attributes.get("options"));
      if (field.options.length === 0) return null;
      if (given !== undefined && field.options.some(({ value }) => value === given)) field.default = given;
      break;
    }
    case "company":
    case "job_title":
    case "phone":
      if (given !== undefined && given !== "") field.default = given.slice(0, 4000);
      break;
    default:
  }
  if (
    readOnly !== null &&
    !["signature", "initials", "date_signed", "full_name", "email", "image", "attachment"].includes(type)
  )
    field.readOnly = readOnly;
  if (["text_input", "number", "company", "job_title", "phone"].includes(type)) Object.assign(field, styleOf(tag));
  return field;
}

/** As wide and high as the tag, unless it says otherwise; `width` and `height` count from where it begins. */
function boxOfTag({ tag, page, bounds, turn }: PlacedTag): Box | null {
  const [own, other] = [numberOf(tag.attributes.get("width")), numberOf(tag.attributes.get("height"))];
  const [width, height] = turn % 2 === 0 ? [own, other] : [other, own];
  let { x0, y0, x1, y1 } = bounds;
  if (width !== null && width >= 4) x1 = x0 + width;
  // What is higher than its line grows upwards: below stands the next line.
  if (height !== null && height >= 4) y0 = turn === 0 && height > y1 - y0 ? Math.max(0, y1 - height) : y0;
  if (height !== null && height >= 4) y1 = y0 + height;
  if (height === null && turn === 0 && (tag.type === "signature" || tag.type === "initials"))
    y0 = Math.max(0, Math.min(y0, y1 - SIGNATURE_HEIGHT));
  if (tag.type === "checkbox" && width === null && turn === 0) x1 = x0 + (y1 - y0);
  return boxOn(page, { x0, y0, x1, y1 });
}

function textMembers({ attributes }: Tag): Partial<ProposedField> {
  const maxLength = whole(attributes.get("maxLength"), 1, 4000);
  const minLength = whole(attributes.get("minLength"), 0, maxLength ?? 4000);
  const cells = attributes.has("cells") ? (whole(attributes.get("cells"), 2, 50) ?? maxLength ?? null) : null;
  const placeholder = lineOfText(attributes.get("placeholder"), 200);
  const given = attributes.get("default");
  const combed = cells !== null && cells >= 2 && cells <= 50;
  return {
    ...(flagOf(attributes.get("multiline")) === true && !combed ? { multiline: true } : {}),
    ...(combed ? { cells } : {}),
    ...(maxLength === null ? {} : { maxLength }),
    ...(minLength === null ? {} : { minLength }),
    ...(placeholder === undefined ? {} : { placeholder }),
    ...(given === undefined || given === "" ? {} : { default: given }),
  };
}

function numberMembers({ attributes }: Tag): Partial<ProposedField> {
  const [min, max] = [numberOf(attributes.get("min")), numberOf(attributes.get("max"))];
  const decimals = whole(attributes.get("decimals"), 0, 10);
  const given = numberOf(attributes.get("default"));
  return {
    ...(min === null ? {} : { min }),
    ...(max === null || (min !== null && max < min) ? {} : { max }),
    ...(decimals === null ? {} : { decimals }),
    ...(given === null ? {} : { default: given }),
  };
}

function styleOf({ attributes }: Tag): Partial<ProposedField> {
  const size = numberOf(attributes.get("size"));
  const align = attributes.get("align");
  const color = attributes.get("color");
  return {
    ...(size !== null && size >= 1 && size <= 400 ? { size } : {}),
    ...(align === "left" || align === "center" || align === "right" ? { align } : {}),
    ...(color !== undefined && /^#[0-9a-f]{6}$/i.test(color) ? { color } : {}),
  };
}

function whole(value: string | undefined, least: number, most: number): number | null {
  const number = numberOf(value);
  return number !== null && Number.isInteger(number) && number >= least && number <= most ? number : null;
}

/** `Yes,No`, or as Documenso writes it `Yes|No`. */
function optionsOf(text: string | undefined): { value: string }[] {
  const separator = text?.includes("|") ? "|" : ",";
  const values = (text ?? "").split(separator).map((value) => lineOfText(value, 200));
  return [...new Set(values.filter((value) => value !== undefined))].slice(0, 100).map((value) => ({ value }));
}

/** A day that the calendar has. */
const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && new Date(Date.parse(text) || 0).toISOString().startsWith(text);

/** Patterns such as DD/MM/YYYY, in either case; what has other parts than days, months and years is left out. */
export function dateFormat(text: string | undefined): { format?: string } {
  if (text === undefined) return {};
  if (/^(long|medium|short|iso)$/.test(text)) return { format: text };
  const format = text.trim().toUpperCase();
  const parts = format.match(/[A-Z]+/g) ?? [];
  const known = parts.length > 0 && parts.every((part) => /^(YYYY|YY|MMMM|MMM|MM|M|DD|D)$/.test(part));
  return known && format.length <= 64 && /^[YMD .,/-]+$/.test(format) ? { format } : {};
}
