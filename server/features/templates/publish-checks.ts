import { type ProblemError, type ProblemErrorCode, pointer } from "../../kernel/problem.ts";
import { boxTolerance, type Field, isField, type OverlayItem, type PageBox, type Variable } from "./contract.ts";
import { isDateFormat, numberFormat, variablesIn } from "./format.ts";
import { FormulaError, fieldsOfFormula, parseFormula } from "./formula.ts";
import { compilePattern, PatternError } from "./pattern.ts";
import type { Definition } from "./present.ts";
import { checkFieldInput, variableErrors } from "./values.ts";

/** Everything that a draft must be before it becomes a version (contract §2). Isomorphic. */

type PageSides = Pick<PageBox, "width" | "height">;
type Path = (string | number)[];
type Report = (path: Path, code: ProblemErrorCode, detail: string) => void;

/**
 * @param pages of the draft's file; null when the draft names no file of its template
 * @returns errors with pointers into the draft, in the order of the document
 */
export function publishErrors(definition: Definition, pages: readonly PageSides[] | null): ProblemError[] {
  const found: { path: Path; code: ProblemErrorCode; detail: string }[] = [];
  const report: Report = (path, code, detail) => void found.push({ path, code, detail });
  checkContent(definition, pages, report);
  checkRoles(definition, report);
  checkVariableDefinitions(definition, report);
  return found.map(({ path, code, detail }) => ({ pointer: pointer(path), code, detail }));
}

function checkContent(definition: Definition, pages: readonly PageSides[] | null, report: Report): void {
  const { content } = definition;
  if (content.mode !== "overlay") return;
  if (pages === null)
    report(["content", "file"], "reference", "This is not a file of this template: upload one first.");
  const fields = content.items.filter(isField);
  const roles = new Set(definition.roles.map((role) => role.name));
  const variables = new Set(definition.variables.map((variable) => variable.name));
  const groups = groupSizes(content.items);
  const seen = new Set<string>();
  const earlier = new Map<string, Field>();
  for (const [index, item] of content.items.entries()) {
    const inItem: Report = (path, code, detail) => report(["content", "items", index, ...path], code, detail);
    if (seen.has(item.id)) inItem(["id"], "duplicate", `The id \`${item.id}\` is used twice.`);
    seen.add(item.id);
    if (isField(item)) {
      checkField(item, { roles, fields, earlier }, inItem);
      earlier.set(item.id, item);
    } else if (item.type === "text") {
      for (const name of variablesIn(item.text)) {
        if (!variables.has(name)) inItem(["text"], "reference", `The variable \`${name}\` is not declared.`);
      }
    } else if (item.type === "image" && !isPicture(item.data)) {
      inItem(["data"], "format", "This is not a picture of the type that it says.");
    }
    if ("group" in item && item.group !== undefined) {
      const { texts, whiteouts } = groups.get(item.group) ?? { texts: 0, whiteouts: 0 };
      const paired = texts === 1 && whiteouts === 1;
      if (!paired) inItem(["group"], "conflict", "A group pairs one white-out with one text.");
    }
    if (pages !== null) {
      checkBox(item, pages, inItem);
      if (item.type === "radio") {
        for (const [at, { box }] of item.options.entries()) {
          if (box !== undefined)
            checkBox(box, pages, (path, ...rest) => inItem(["options", at, "box", ...path], ...rest));
        }
      }
    }
  }
}

function groupSizes(items: readonly OverlayItem[]): Map<string, { texts: number; whiteouts: number }> {
  const groups = new Map<string, { texts: number; whiteouts: number }>();
  for (const item of items) {
    if (!("group" in item) || item.group === undefined) continue;
    const size = groups.get(item.group) ?? { texts: 0, whiteouts: 0 };
    if (item.type === "text") size.texts += 1;
    else size.whiteouts += 1;
    groups.set(item.group, size);
  }
  return groups;
}

/** The first bytes decide, whatever the data URL says. */
function isPicture(dataUrl: string): boolean {
  const [head = "", data = ""] = dataUrl.split(",", 2);
  return head.includes("png") ? data.startsWith("iVBORw0KGgo") : data.startsWith("/9j/");
}

type Placed = { page: number; x: number; y: number; width: number; height: number };

function checkBox(box: Placed, pages: readonly PageSides[], report: Report): void {
  const page = pages[box.page - 1];
  if (page === undefined) {
    report(["page"], "reference", `The file has ${pages.length} page${pages.length === 1 ? "" : "s"}.`);
    return;
  }
  const size = `${page.width} × ${page.height} points`;
  if (box.x < -boxTolerance) report(["x"], "min", "The box begins left of the page.");
  if (box.y < -boxTolerance) report(["y"], "min", "The box begins above the page.");
  if (box.x + box.width > page.width + boxTolerance) {
    report(["width"], "max", `The box ends right of the page, which has ${size}.`);
  }
  if (box.y + box.height > page.height + boxTolerance) {
    report(["height"], "max", `The box ends below the page, which has ${size}.`);
  }
}

/** Types of the fields that others can be shown by. */
export const deciding: ReadonlySet<Field["type"]> = new Set(["checkbox", "radio", "dropdown", "text_input", "number"]);
type FieldContext = { roles: Set<string>; fields: readonly Field[]; earlier: Map<string, Field> };

function checkField(field: Field, { roles, fields, earlier }: FieldContext, report: Report): void {
  if (!roles.has(field.role)) report(["role"], "reference", `There is no role \`${field.role}\`.`);
  if (field.visibleWhen !== undefined) {
    const other = earlier.get(field.visibleWhen.field);
    if (other === undefined || other.role !== field.role || !deciding.has(other.type)) {
      const detail = "Name an earlier checkbox, radio, dropdown, text or number field of the same role.";
      report(["visibleWhen", "field"], "reference", detail);
    } else {
      for (const [index, value] of field.visibleWhen.in.entries()) {
        if (value !== null && hasWrongType(other, value)) {
          report(["visibleWhen", "in", index], "type", `The field \`${other.id}\` never has this value.`);
        }
      }
    }
  }
  switch (field.type) {
    case "formula":
      checkFormula(field.expression, fields, report);
      break;
    case "text_input":
      if (field.cells !== undefined && field.multiline === true) {
        report(["cells"], "conflict", "A text of several lines has no cells.");
      }
      if ((field.minLength ?? 0) > (field.maxLength ?? Number.POSITIVE_INFINITY)) {
        report(["minLength"], "conflict", "minLength is above maxLength.");
      }
      if (field.pattern !== undefined) checkPattern(field.pattern, report);
      break;
    case "number":
      if (field.min !== undefined && field.max !== undefined && field.min > field.max) {
        report(["min"], "conflict", "min is above max.");
      }
      break;
    case "date":
    case "date_signed":
      if (field.type === "date" && field.min !== undefined && field.max !== undefined && field.min > field.max) {
        report(["min"], "conflict", "min is after max.");
      }
      if (field.format !== undefined && !isDateFormat(field.format)) {
        report(["format"], "format", "Use `long`, `medium`, `short`, `iso` or a pattern such as `DD.MM.YYYY`.");
      }
      break;
    case "radio":
    case "dropdown":
      checkOptions(field.options, report);
      break;
  }
  if ("default" in field && field.default !== undefined && !isBrokenPattern(field)) {
    for (const error of checkFieldInput(field, field.default, "#")) report(["default"], error.code, error.detail);
  }
}

function hasWrongType(field: Field, value: string | number | boolean): boolean {
  if (field.type === "checkbox") return typeof value !== "boolean";
  if (field.type === "number") return typeof value !== "number";
  if (field.type === "radio" || field.type === "dropdown")
    return !field.options.some((option) => option.value === value);
  return typeof value !== "string";
}

function checkOptions(options: readonly { value: string }[], report: Report): void {
  const seen = new Set<string>();
  for (const [index, { value }] of options.entries()) {
    if (seen.has(value)) report(["options", index, "value"], "duplicate", `The option \`${value}\` is there twice.`);
    seen.add(value);
  }
}

function checkFormula(expression: string, fields: readonly Field[], report: Report): void {
  const types = new Map(fields.map((field) => [field.id, field.type]));
  try {
    for (const id of fieldsOfFormula(parseFormula(expression, (name) => types.has(name)))) {
      if (types.get(id) !== "number") {
        report(["expression"], "reference", `The formula names \`${id}\`, which is not a number field.`);
      }
    }
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    report(["expression"], "format", error.message);
  }
}

function checkPattern(pattern: string, report: Report): void {
  try {
    compilePattern(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    report(["pattern"], "pattern", error.message);
  }
}

function isBrokenPattern(field: Field): boolean {
  if (field.type !== "text_input" || field.pattern === undefined) return false;
  let broken = false;
  checkPattern(field.pattern, () => {
    broken = true;
  });
  return broken;
}

function checkRoles({ roles }: Definition, report: Report): void {
  if (!roles.some((role) => role.kind === "signer")) report(["roles"], "min", "At least one role must be a signer.");
  const seen = new Set<string>();
  for (const [index, role] of roles.entries()) {
    if (seen.has(role.name)) report(["roles", index, "name"], "duplicate", `The role \`${role.name}\` is there twice.`);
    seen.add(role.name);
    if (role.kind === "countersigner" && role.countersigner === null) {
      report(["roles", index, "countersigner"], "required", "Name the person who countersigns.");
    }
    if (role.kind === "signer" && role.countersigner !== null) {
      report(["roles", index, "countersigner"], "conflict", "Only a role of kind `countersigner` names its person.");
    }
  }
}

function checkVariableDefinitions({ variables }: Definition, report: Report): void {
  const seen = new Set<string>();
  for (const [index, variable] of variables.entries()) {
    const inVariable: Report = (path, code, detail) => report(["variables", index, ...path], code, detail);
    if (seen.has(variable.name)) inVariable(["name"], "duplicate", `The variable \`${variable.name}\` is there twice.`);
    seen.add(variable.name);
    if (variable.type === "list" && variable.columns === undefined) {
      inVariable(["columns"], "required", "A list needs its columns.");
    } else if (variable.type !== "list" && variable.columns !== undefined) {
      inVariable(["columns"], "conflict", "Only a list has columns.");
    }
    const columns = new Set(variable.columns?.map((column) => column.name));
    if (columns.size !== (variable.columns?.length ?? 0))
      inVariable(["columns"], "duplicate", "Name each column once.");
    if (variable.default !== null) {
      for (const { code, detail } of variableErrors(variable, variable.default, "#"))
        inVariable(["default"], code, detail);
    }
    for (const [code, detail] of formatFaults(variable)) inVariable(["format"], code, detail);
  }
}

function formatFaults({ type, format }: Pick<Variable, "type" | "format">): [ProblemErrorCode, string][] {
  if (format === null) return [];
  if (type !== "number" && type !== "date") return [["conflict", "Only numbers and dates have a format."]];
  if (type === "number") {
    return numberFormat(format) === null ? [["format", "Use `decimal:2`, `percent:1` or `currency:EUR:2`."]] : [];
  }
  const detail = "Use `long`, `medium`, `short`, `iso` or a pattern such as `DD.MM.YYYY`.";
  return isDateFormat(format) ? [] : [["format", detail]];
}

/** What is wrong with the format of a variable, in sentences. */
export const variableFormatErrors = (variable: Pick<Variable, "type" | "format">): string[] =>
  formatFaults(variable).map(([, detail]) => detail);
