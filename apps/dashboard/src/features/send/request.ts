import type { TemplateVersion, Variable } from "../../../../../server/features/templates/contract.ts";
import type { Request } from "./check.ts";
import { endOfDay } from "./deadline.ts";
import type { Draft, Other, Person } from "./draft.ts";
import { prefillable } from "./fields.ts";
import type { Step } from "./search.ts";
import { fieldValueOf, scalarOf } from "./texts.ts";

/** From the draft to what the service takes, and back from its pointers to the draft. Pure. */

/** The people that stand in the request, in its order: the countersigner of the template only when its turn was moved. */
export function sentPeople(draft: Draft): Person[] {
  return draft.people.filter(({ kind }) => kind === "signer" || draft.reordered);
}

/** The turn of each person, in the order of the draft. */
export function turnsOf(people: readonly Person[]): number[] {
  let turn = 0;
  return people.map(({ together }, index) => {
    if (index === 0 || !together) turn += 1;
    return turn;
  });
}

/** How numbers are typed, and where a day ends. */
export type Habits = { decimal: "." | ","; timeZone: string };

export function requestOf(draft: Draft, version: TemplateVersion, habits: Habits): Request {
  const turns = new Map(draft.people.map((person, index) => [person.role, turnsOf(draft.people)[index]]));
  const request: Request = {
    template: version.template,
    templateVersion: version.version ?? "latest",
    recipients: sentPeople(draft).map((person) => {
      const order = draft.reordered ? turns.get(person.role) : undefined;
      return {
        role: person.role,
        name: person.name.trim(),
        email: person.email.trim(),
        ...(person.phone.trim() ? { phone: person.phone.replace(/[\s()/-]/g, "") } : {}),
        ...(person.locale ? { locale: person.locale } : {}),
        ...(order === undefined ? {} : { order }),
        ...(person.delivery === "embedded" ? { delivery: "embedded" as const } : {}),
        ...(person.verification ? { verification: person.verification } : {}),
      };
    }),
  };
  if (draft.cc.length > 0) request.cc = draft.cc.map(otherOf);
  if (draft.viewers.length > 0) {
    request.viewers = draft.viewers.map(otherOf);
    request.viewerDocumentAccess = draft.viewerDocumentAccess;
  }
  if (draft.title.trim()) request.title = draft.title.trim();
  if (draft.message.trim()) request.message = draft.message;
  addContent(request, draft, version, habits.decimal);
  if (draft.expiry === "day") request.expiresAt = endOfDay(draft.expiresOn, habits.timeZone);
  if (draft.reminders === "none") request.reminders = null;
  if (draft.reminders === "own") {
    request.reminders = {
      firstAfterDays: wholeOf(draft.firstAfterDays),
      everyDays: draft.everyDays.trim() ? wholeOf(draft.everyDays) : null,
      max: wholeOf(draft.maxReminders),
    };
  }
  if (draft.locale) request.locale = draft.locale;
  if (draft.externalId.trim()) request.externalId = draft.externalId.trim();
  const metadata = draft.metadata.filter(({ key, value }) => key.trim() || value);
  if (metadata.length > 0) {
    request.metadata = Object.fromEntries(metadata.map(({ key, value }) => [key.trim(), value]));
  }
  return request;
}

function otherOf({ email, name }: Other): { email: string; name?: string } {
  return { email: email.trim(), ...(name.trim() ? { name: name.trim() } : {}) };
}

const wholeOf = (text: string) => (/^\d+$/.test(text.trim()) ? Number(text) : Number.NaN);

function addContent(request: Request, draft: Draft, version: TemplateVersion, decimal: Habits["decimal"]): void {
  const variables: NonNullable<Request["variables"]> = {};
  for (const variable of version.variables) {
    const value = draft.variables[variable.name];
    if (variable.type === "list") {
      if (Array.isArray(value) && value.length > 0)
        variables[variable.name] = value.map((row) => listRow(row, variable, decimal));
    } else if (typeof value === "string" && value.trim()) {
      variables[variable.name] = scalarOf(variable.type, value, decimal);
    }
  }
  if (Object.keys(variables).length > 0) request.variables = variables;
  const values: NonNullable<Request["values"]> = {};
  for (const { role } of sentPeople(draft)) {
    const given = prefillable(version, role).flatMap((field): [string, ReturnType<typeof fieldValueOf>][] => {
      const text = draft.values[role]?.[field.id] ?? "";
      return text.trim() ? [[field.id, fieldValueOf(field, text, decimal)]] : [];
    });
    if (given.length > 0) values[role] = Object.fromEntries(given);
  }
  if (Object.keys(values).length > 0) request.values = values;
}

function listRow(
  row: Readonly<Record<string, string>>,
  { columns }: Variable,
  decimal: Habits["decimal"],
): Record<string, string | number> {
  const cells = (columns ?? []).flatMap(({ name, type }): [string, string | number][] => {
    const text = row[name] ?? "";
    if (!text.trim()) return type === "text" ? [[name, ""]] : [];
    const value = scalarOf(type, text, decimal);
    return [[name, typeof value === "boolean" ? text : value]];
  });
  return Object.fromEntries(cells);
}

const content: readonly Step[] = ["content", "people"];
const stepsOfMember: Record<string, readonly Step[]> = {
  recipients: ["people"],
  cc: ["people"],
  viewers: ["people"],
  viewerDocumentAccess: ["people"],
  title: content,
  message: content,
  variables: content,
  values: content,
  expiresAt: content,
  reminders: content,
  locale: content,
  externalId: content,
  dedupeOn: content,
  metadata: content,
};

/** The part on which what the pointer names is filled in. */
export function stepOf(pointer: string, steps: readonly Step[]): Step {
  const possible = stepsOfMember[pointer.split("/")[1] ?? ""] ?? [];
  return possible.find((step) => steps.includes(step)) ?? "review";
}
