import { type ProblemError, type ProblemErrorCode, pointer } from "../../kernel/problem.ts";
import { ownMember } from "../../kernel/record.ts";
import { isPlainText, isSeen } from "../../kernel/wire.ts";
import type { Field, FieldInput } from "./fields.ts";
import { evaluateFormula, parseFormula, roundHalfUp } from "./formula.ts";
import { compilePattern, matches } from "./pattern.ts";
import type { Variable, VariableValue } from "./variables.ts";

/** What may be put into fields and variables: used for prefilled values, by the signing page and again by the server. Isomorphic. */

const day = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Whether the text is a date of the calendar, YYYY-MM-DD. */
export function isDay(text: string): boolean {
  if (!day.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** What is wrong with a text that is no date, or none of the calendar. */
const noDay = (text: string): string =>
  day.test(text) ? "This is not a date that exists." : "Use a date of the form YYYY-MM-DD.";

/**
 * Checks the variables given for a version and fills in the defaults.
 * @param pointerBase of the object they came in, for example `#/variables`
 * @returns `unused`: names that the version does not declare
 */
export function checkVariables(
  definitions: readonly Variable[],
  given: Readonly<Record<string, VariableValue>>,
  pointerBase: string,
): { values: Record<string, VariableValue>; errors: ProblemError[]; unused: string[] } {
  const values = new Map<string, VariableValue>();
  const errors: ProblemError[] = [];
  const declared = new Map(definitions.map((definition) => [definition.name, definition]));
  for (const [name, value] of Object.entries(given)) {
    const definition = declared.get(name);
    if (definition === undefined) continue;
    const found = variableErrors(definition, value, `${pointerBase}${pointer([name]).slice(1)}`);
    errors.push(...found);
    if (found.length === 0) values.set(name, value);
  }
  for (const definition of definitions) {
    if (Object.hasOwn(given, definition.name)) continue;
    if (definition.default !== null) values.set(definition.name, definition.default);
    else if (definition.required) {
      const detail = `The variable \`${definition.name}\` is required.`;
      errors.push({ pointer: `${pointerBase}${pointer([definition.name]).slice(1)}`, code: "required", detail });
    }
  }
  return {
    values: Object.fromEntries(values),
    errors,
    unused: Object.keys(given).filter((name) => !declared.has(name)),
  };
}

/** Whether a value has the type of its variable. */
export function variableErrors(definition: Variable, value: VariableValue, at: string): ProblemError[] {
  const wrong = (detail: string, code: ProblemErrorCode = "type", where = at): ProblemError => ({
    pointer: where,
    code,
    detail,
  });
  switch (definition.type) {
    case "text":
      if (typeof value !== "string") return [wrong("This variable is a text.")];
      return isPlainText(value, "many") ? [] : [wrong("Control characters are not allowed here.", "pattern")];
    case "number":
      return typeof value === "number" ? [] : [wrong("This variable is a number.")];
    case "boolean":
      return typeof value === "boolean" ? [] : [wrong("This variable is true or false.")];
    case "date":
      if (typeof value !== "string") return [wrong("This variable is a date, YYYY-MM-DD.")];
      return isDay(value) ? [] : [wrong(noDay(value), "format")];
    case "list": {
      if (!Array.isArray(value)) return [wrong("This variable is a list of rows.")];
      const columns = new Map((definition.columns ?? []).map((column) => [column.name, column.type]));
      return value.flatMap((row, index) =>
        Object.entries(row).flatMap(([name, cell]) => {
          const where = `${at}${pointer([index, name]).slice(1)}`;
          const type = columns.get(name);
          if (type === undefined) return [wrong("The list has no such column.", "unknown", where)];
          if (type === "number")
            return typeof cell === "number" ? [] : [wrong("This column holds numbers.", "type", where)];
          if (typeof cell !== "string") return [wrong("This column holds texts.", "type", where)];
          if (!isPlainText(cell, "many")) return [wrong("Control characters are not allowed here.", "pattern", where)];
          return type === "date" && !isDay(cell) ? [wrong(noDay(cell), "format", where)] : [];
        }),
      );
    }
  }
}

/** Whether nothing that can be seen was put in. An unticked box is a value; `requiredErrors` refuses one that must be ticked. */
export function isEmpty(value: FieldInput | undefined): boolean {
  if (typeof value !== "string") return value === undefined || value === null;
  if (value.trim() === "") return true;
  // What may not be written at all is not nothing: it is refused.
  return value.isWellFormed() && isPlainText(value, "many") && !isSeen(value);
}

/** Whether a person or a prefill may give this field a value of type FieldInput at all. */
export function takesInput(field: Field): boolean {
  return ["company", "job_title", "phone", "text_input", "number", "date", "checkbox", "radio", "dropdown"].includes(
    field.type,
  );
}

/** What stands in the field before anybody fills it in. */
export function defaultOf(field: Field): FieldInput {
  return "default" in field && field.default !== undefined ? field.default : null;
}

/** The error of a required field that is empty: a box that is not ticked counts as empty. */
export function requiredErrors(field: Field, value: FieldInput | undefined, at: string): ProblemError[] {
  if (field.required === false || field.type === "formula") return [];
  const missing = field.type === "checkbox" ? value !== true : isEmpty(value);
  if (!missing) return [];
  const detail = field.type === "checkbox" ? "This box must be ticked." : "This field is required.";
  return [{ pointer: at, code: "required", detail }];
}

/**
 * Whether a value may stand in a field. An empty one always may: see `requiredErrors`.
 * @param at pointer of the value
 */
export function checkFieldInput(field: Field, value: FieldInput, at: string): ProblemError[] {
  if (!takesInput(field)) return [{ pointer: at, code: "conflict", detail: "This field cannot be given a value." }];
  if (isEmpty(value)) return [];
  const errors: ProblemError[] = [];
  const add = (code: ProblemErrorCode, detail: string) => void errors.push({ pointer: at, code, detail });
  switch (field.type) {
    case "company":
    case "job_title":
    case "phone":
    case "text_input":
      if (typeof value === "string") checkText(field, value, add);
      else add("type", "This field takes a text.");
      break;
    case "number":
      if (typeof value === "number" && Number.isFinite(value)) checkNumber(field, value, add);
      else add("type", "This field takes a number.");
      break;
    case "date":
      if (typeof value !== "string" || !isDay(value)) add("format", noDay(String(value)));
      else if (field.min !== undefined && value < field.min) add("min", `The date must not be before ${field.min}.`);
      else if (field.max !== undefined && value > field.max) add("max", `The date must not be after ${field.max}.`);
      break;
    case "checkbox":
      if (typeof value !== "boolean") add("type", "This field takes true or false.");
      break;
    case "radio":
    case "dropdown":
      if (!field.options.some((option) => option.value === value)) add("enum", "Choose one of the options.");
      break;
  }
  return errors;
}

type Add = (code: ProblemErrorCode, detail: string) => void;
type TextField = Extract<Field, { type: "text_input" | "company" | "job_title" | "phone" }>;
const longestText = 4000;

function checkText(field: TextField, value: string, add: Add): void {
  const length = Array.from(value).length;
  const multiline = field.type === "text_input" && field.multiline === true;
  const most = longestOf(field);
  if (!value.isWellFormed() || /\p{Cc}/u.test(multiline ? value.replace(/[\n\r\t]/g, "") : value)) {
    add("format", multiline ? "The text has characters that cannot be printed." : "This field takes a single line.");
  } else if (length > most) {
    // Nothing that is too long is given to the pattern: this bounds its work.
    add("max", `At most ${most} characters.`);
  } else if (field.type === "phone") {
    const dialled = /^[+()\d\s./-]{3,40}$/.test(value) && value.replace(/\D/g, "").length >= 3;
    if (!dialled) add("format", "Use a telephone number.");
  } else if (field.type === "text_input") {
    if (field.minLength !== undefined && length < field.minLength)
      add("min", `At least ${field.minLength} characters.`);
    if (field.pattern !== undefined && !matches(compilePattern(field.pattern), value)) {
      add("pattern", field.patternMessage ?? "The text does not have the form that is asked for.");
    }
  }
}

function longestOf(field: TextField): number {
  if (field.type !== "text_input") return 200;
  return Math.min(field.maxLength ?? longestText, field.cells ?? longestText);
}

function checkNumber(field: Extract<Field, { type: "number" }>, value: number, add: Add): void {
  if (field.min !== undefined && value < field.min) add("min", `At least ${field.min}.`);
  if (field.max !== undefined && value > field.max) add("max", `At most ${field.max}.`);
  if (field.decimals !== undefined && roundHalfUp(value, field.decimals) !== value) {
    add("format", field.decimals === 0 ? "Use a whole number." : `At most ${field.decimals} decimals.`);
  }
}

/**
 * The fields that are shown for these values, in their order. A field hangs on an earlier one of its role; when that one
 * is hidden, so is what hangs on it.
 */
export function visibleFields<F extends Field>(fields: readonly F[], values: Readonly<Record<string, unknown>>): F[] {
  const shown = new Set<string>();
  return fields.filter((field) => {
    const condition = field.visibleWhen;
    const visible =
      condition === undefined ||
      (shown.has(condition.field) &&
        condition.in.some((wanted) => wanted === (ownMember(values, condition.field) ?? null)));
    if (visible) shown.add(field.id);
    return visible;
  });
}

/**
 * What the formula fields come to; null where an operand is empty.
 * @param values of the number fields of every role, by field id
 */
export function computeFormulas(
  fields: readonly Field[],
  values: Readonly<Record<string, unknown>>,
): Record<string, number | null> {
  const numbers = new Set(fields.filter((field) => field.type === "number").map((field) => field.id));
  const numberOf = (id: string) => {
    const value = Object.hasOwn(values, id) ? values[id] : null;
    return typeof value === "number" ? value : null;
  };
  const results: Record<string, number | null> = {};
  for (const field of fields) {
    if (field.type !== "formula") continue;
    const value = evaluateFormula(
      parseFormula(field.expression, (id) => numbers.has(id)),
      numberOf,
    );
    results[field.id] = value === null || field.decimals === undefined ? value : roundHalfUp(value, field.decimals);
  }
  return results;
}
