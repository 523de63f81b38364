import { z } from "zod";
import type {
  Field,
  TemplateVersion,
  Variable,
  VariableValue,
} from "../../../../../server/features/templates/contract.ts";
import { pointer } from "../../../../../server/kernel/problem.ts";
import { type Finding, findingsOf, type Request } from "../send/check.ts";
import { endOfDay } from "../send/deadline.ts";
import { prefillable } from "../send/fields.ts";
import { dayOf, fieldValueOf, scalarOf } from "../send/texts.ts";
import type { Mapping, Target } from "./columns.ts";
import type { Table } from "./csv.ts";

/** From the rows of a file to envelopes, and what is wrong with them. Pure. */

export const mostRows = 5000;

export type Reading = {
  version: TemplateVersion;
  targets: readonly Target[];
  mapping: Mapping;
  decimal: "." | ",";
  /** Where a day ends. */
  timeZone: string;
  now: number;
};

/** `column`: header of the column that is wrong; null when the row as a whole is. */
export type RowFinding = Omit<Finding, "pointer"> & { at: string; column: string | null };
export type Row = {
  number: number;
  /** What people know the row by. */
  label: string;
  request: Request;
  findings: RowFinding[];
};

/** What a row says, whichever version of the template it is sent with. */
export function contentOf({ request: { templateVersion: _version, ...content } }: Row): string {
  return JSON.stringify(content);
}

/** Reads all rows; empty ones are left out. */
export function readRows(table: Table, reading: Reading): Row[] {
  const rows = table.rows.filter(({ cells, extra }) => extra > 0 || cells.some((cell) => cell.trim() !== ""));
  const seen = new Map<string, number>();
  const columns = columnsOf(reading);
  return rows.map((row) => {
    const request = requestOf(row.cells, reading, columns);
    const headerOf = columnsByPointer(table.headers, request, reading);
    const findings = findingsOf(request, reading.version, reading.now).map(
      ({ pointer: at, ...finding }): RowFinding => ({ ...finding, at, column: headerOf(at) }),
    );
    if (row.extra > 0) findings.push({ code: "unknown", detail: null, at: "#", column: null });
    const { externalId } = request;
    if (externalId !== undefined) {
      if (seen.has(externalId))
        findings.push({ code: "duplicate", detail: null, at: "#/externalId", column: headerOf("#/externalId") });
      else seen.set(externalId, row.number);
    }
    const label = request.recipients
      .map(({ name, email }) => name || email)
      .filter(Boolean)
      .join(", ");
    return { number: row.number, label, request, findings };
  });
}

type Column = { column: number; target: Target; field: Field | undefined; variable: Variable | undefined };

/** The columns that are used, with what they hold; looked up once for all rows. */
function columnsOf({ version, targets, mapping }: Reading): Column[] {
  return mapping.flatMap((id, column): Column[] => {
    const target = targets.find((one) => one.id === id);
    if (target === undefined) return [];
    const field =
      target.kind === "value" ? prefillable(version, target.role).find((one) => one.id === target.field) : undefined;
    const variable =
      target.kind === "variable" ? version.variables.find(({ name }) => name === target.name) : undefined;
    return [{ column, target, field, variable }];
  });
}

/** The envelope of a row. An empty cell is not given: the default of the template stands. */
function requestOf(cells: readonly string[], reading: Reading, columns: readonly Column[]): Request {
  const { version, decimal, timeZone } = reading;
  const variables: NonNullable<Request["variables"]> = {};
  const values: NonNullable<Request["values"]> = {};
  const request: Request = {
    template: version.template,
    templateVersion: version.version ?? "latest",
    recipients: version.roles
      .filter(({ kind }) => kind === "signer")
      .map(({ name }) => ({ role: name, name: "", email: "" })),
  };
  for (const { column, target, field, variable } of columns) {
    const cell = cells[column] ?? "";
    if (cell.trim() === "") continue;
    switch (target.kind) {
      case "person": {
        const person = request.recipients.find(({ role }) => role === target.role);
        if (person) person[target.member] = cell.trim();
        break;
      }
      case "variable":
        variables[target.name] = variable === undefined ? cell : variableOf(variable, cell, decimal);
        request.variables = variables;
        break;
      case "value": {
        const given = values[target.role] ?? {};
        given[target.field] = field === undefined ? cell : fieldValueOf(field, cell, decimal);
        values[target.role] = given;
        request.values = values;
        break;
      }
      case "envelope":
        if (target.member === "expiresAt") request.expiresAt = momentOf(cell, timeZone);
        else request[target.member] = target.member === "message" ? cell : cell.trim();
        break;
    }
  }
  // A file that is sent again, even after a day, then finds the envelope of its row instead of making a second one.
  if (request.externalId !== undefined) request.dedupeOn = "external_id";
  return request;
}

function momentOf(text: string, timeZone: string): string {
  const day = dayOf(text);
  return /^\d{4}-\d\d-\d\d$/.test(day) ? endOfDay(day, timeZone) : text.trim();
}

function variableOf(variable: Variable, cell: string, decimal: "." | ","): VariableValue {
  if (variable.type !== "list") return scalarOf(variable.type, cell, decimal);
  const parsed = z.array(z.record(z.string(), z.union([z.string(), z.number()]))).safeParse(jsonOf(cell));
  return parsed.success ? parsed.data : cell;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Finds the header of the column that a pointer into the envelope came from. */
function columnsByPointer(headers: readonly string[], { recipients }: Request, { targets, mapping }: Reading) {
  return (at: string): string | null => {
    const target = targets.find((one) => {
      const place = pointerOf(one, recipients);
      return at === place || at.startsWith(`${place}/`);
    });
    if (target === undefined) return null;
    const column = mapping.indexOf(target.id);
    return column < 0 ? target.header : (headers[column] ?? null);
  };
}

function pointerOf(target: Target, recipients: Request["recipients"]): string {
  switch (target.kind) {
    case "person":
      return pointer(["recipients", recipients.findIndex(({ role }) => role === target.role), target.member]);
    case "variable":
      return pointer(["variables", target.name]);
    case "value":
      return pointer(["values", target.role, target.field]);
    case "envelope":
      return pointer([target.member]);
  }
}
