import type { Field, Variable } from "../../../../../server/features/templates/contract.ts";

/** From what people write to what the service takes. What cannot be read stays a text, so that the check says what is wrong with it. */

const numberShapes = {
  ".": { whole: /^[-+]?(?:\d+|\d{1,3}(?:[,'’\s]\d{3})+)(?:\.\d+)?$/, group: /[,'’\s]/g },
  ",": { whole: /^[-+]?(?:\d+|\d{1,3}(?:[.'’\s]\d{3})+)(?:,\d+)?$/, group: /[.'’\s]/g },
};

/** `decimal`: the sign between whole part and fraction; the other signs may only group thousands. */
export function numberOf(text: string, decimal: "." | ","): number | string {
  const { whole, group } = numberShapes[decimal];
  const trimmed = text.trim();
  return whole.test(trimmed) ? Number(trimmed.replace(group, "").replace(",", ".")) : text;
}

const yes = new Set(["true", "yes", "y", "1", "x", "ja", "j", "wahr"]);
const no = new Set(["false", "no", "n", "0", "nein", "falsch"]);

export function booleanOf(text: string): boolean | string {
  const word = text.trim().toLowerCase();
  if (yes.has(word)) return true;
  return no.has(word) ? false : text;
}

/** Day first with dots has one meaning; what has two is left as it is. */
export function dayOf(text: string): string {
  const trimmed = text.trim();
  const [, day = "", month = "", year = ""] = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(trimmed) ?? [];
  return year === "" ? trimmed : `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
}

/** A single value of a variable or of a column of a list. */
export function scalarOf(
  type: Exclude<Variable["type"], "list">,
  text: string,
  decimal: "." | ",",
): string | number | boolean {
  switch (type) {
    case "text":
      return text;
    case "number":
      return numberOf(text, decimal);
    case "boolean":
      return booleanOf(text);
    case "date":
      return dayOf(text);
  }
}

export function fieldValueOf(field: Field, text: string, decimal: "." | ","): string | number | boolean {
  switch (field.type) {
    case "number":
      return numberOf(text, decimal);
    case "checkbox":
      return booleanOf(text);
    case "date":
      return dayOf(text);
    case "radio":
    case "dropdown":
      return choiceOf(field.options, text);
    default:
      return text;
  }
}

/** The value of an option that was written as its value or as its label. */
function choiceOf(options: readonly { value: string; label?: string | undefined }[], text: string): string {
  const trimmed = text.trim();
  const named = options.find(({ value }) => value === trimmed) ?? options.find(({ label }) => label === trimmed);
  return named?.value ?? text;
}
