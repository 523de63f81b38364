import type { Drawing } from "../../../workers/protocol.ts";
import type { OverlayContent, PlacedField, StaticItem, TextStyle } from "./contract.ts";
import { isStatic } from "./fields.ts";
import { dayOf, fillText, formatDay, formatNumber } from "./format.ts";
import { fieldTextSize } from "./text-fit.ts";
import type { Variable, VariableValue } from "./variables.ts";

/** What a version and its values look like on paper: plain data for the worker that draws. Pure. */

/**
 * The texts, white-outs and pictures of a version, in their order, with the variables filled in.
 * @param unfilled what stands for a variable without a value
 */
export function staticDrawings(
  content: OverlayContent,
  variables: readonly Variable[],
  values: Readonly<Record<string, VariableValue>>,
  locale: string,
  unfilled: "label" | "mark" | "nothing" = "nothing",
): Drawing[] {
  return content.items
    .filter(isStatic)
    .map((item) => staticDrawing(item, (text) => fillText(text, variables, values, locale, unfilled)))
    .filter((drawing) => drawing.kind !== "text" || drawing.text.trim() !== "");
}

function staticDrawing(item: StaticItem, fill: (text: string) => string): Drawing {
  const box = boxOf(item);
  switch (item.type) {
    case "text":
      return { kind: "text", text: fill(item.text), multiline: true, ...box, ...styleOf(item) };
    case "whiteout":
      return { kind: "whiteout", color: item.color, ...box };
    case "image":
      return { kind: "image", image: bytesOf(item.data), ...box };
  }
}

/** What is drawn in a field: what was entered, or what the service fills in when its person signs. */
export type DrawnValue =
  | string
  | number
  | boolean
  | null
  /** A drawn or uploaded signature, initials, a stamp: PNG or JPEG. */
  | { kind: "image"; image: Uint8Array }
  /** A typed signature or initials. */
  | { kind: "typed"; text: string; font: string }
  /** The moment of signing; drawn as the day it was in that time zone, UTC when null. */
  | { kind: "moment"; at: string; timeZone: string | null };

/**
 * Fields with their values, by field id. Without a value nothing is drawn.
 * @param options.placeholders outlines empty fields with their label, for previews
 */
export function fieldDrawings(
  fields: readonly PlacedField[],
  values: Readonly<Record<string, DrawnValue | undefined>>,
  options: { locale: string; placeholders?: boolean },
): Drawing[] {
  return fields.flatMap((field) => {
    const value = Object.hasOwn(values, field.id) ? values[field.id] : undefined;
    const drawn = value === undefined || value === null ? [] : fieldDrawing(field, value, options.locale);
    return drawn.length === 0 && options.placeholders === true ? placeholders(field) : drawn;
  });
}

function fieldDrawing(field: PlacedField, value: NonNullable<DrawnValue>, locale: string): Drawing[] {
  const box = boxOf(field);
  if (typeof value === "object") {
    if (value.kind === "image") return [{ kind: "image", image: value.image, ...box }];
    if (value.kind === "typed") return [{ kind: "script", text: value.text, font: value.font, ...box }];
    const format = field.type === "date_signed" ? field.format : undefined;
    return textIn(field, formatDay(dayOf(value.at, value.timeZone), format, locale));
  }
  switch (field.type) {
    case "checkbox":
      return value === true ? [{ kind: "check", ...box }] : [];
    case "radio": {
      const chosen = field.options.find((option) => option.value === value);
      if (chosen === undefined) return [];
      return chosen.box === undefined
        ? textIn(field, chosen.label ?? chosen.value)
        : [{ kind: "dot", ...boxOf(chosen.box) }];
    }
    case "dropdown": {
      const chosen = field.options.find((option) => option.value === value);
      return chosen === undefined ? [] : textIn(field, chosen.label ?? chosen.value);
    }
    case "number":
    case "formula":
      return typeof value === "number" ? textIn(field, formatNumber(value, field.decimals, locale)) : [];
    case "date":
      return typeof value === "string" ? textIn(field, formatDay(value, field.format, locale)) : [];
    default:
      return typeof value === "string" ? textIn(field, value) : [];
  }
}

function textIn(field: PlacedField, text: string): Drawing[] {
  if (text.trim() === "") return [];
  const style: TextStyle = styleOf(field);
  const shape =
    field.type === "text_input" ? { multiline: field.multiline === true, cells: field.cells } : { multiline: false };
  const size = fieldTextSize({ size: style.size, height: field.height });
  return [{ kind: "text", text, ...shape, ...boxOf(field), ...style, size }];
}

function placeholders(field: PlacedField): Drawing[] {
  const label = field.label ?? `${field.type.replaceAll("_", " ")} · ${field.role}`;
  const options = field.type === "radio" ? field.options.filter((option) => option.box !== undefined) : [];
  if (options.length === 0) return [{ kind: "placeholder", label, ...boxOf(field) }];
  return options.flatMap(({ box, label: name, value }) =>
    box === undefined ? [] : [{ kind: "placeholder" as const, label: name ?? value, ...boxOf(box) }],
  );
}

type Boxed = { page: number; x: number; y: number; width: number; height: number };
const boxOf = ({ page, x, y, width, height }: Boxed): Boxed => ({ page, x, y, width, height });

function styleOf(item: TextStyle | object): TextStyle {
  const { face, size, color, weight, italic, underline, align, lineHeight, baseline, padding }: TextStyle = item;
  return { face, size, color, weight, italic, underline, align, lineHeight, baseline, padding };
}

/** Bytes of a data URL whose form was checked when it came in. */
function bytesOf(dataUrl: string): Uint8Array {
  const binary = atob(dataUrl.slice(dataUrl.indexOf(",") + 1));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
