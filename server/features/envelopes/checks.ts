import { type ProblemError, pointer } from "../../kernel/problem.ts";
import type { Field, Role, VariableValue, Warning } from "../templates/contract.ts";
import { checkFieldInput, checkVariables, type PublishedVersion, rolesWithoutSignature } from "../templates/service.ts";
import type { CreateEnvelope, RecipientInput } from "./contract.ts";

/** What the schema of CreateEnvelope cannot say. Pure: each check answers with all errors that it finds. */

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Rules that need nothing but the request. */
export function checkRequest(input: CreateEnvelope, context: { now: number; testMode: boolean }): ProblemError[] {
  return [
    ...input.recipients.flatMap((recipient, index) => checkRecipient(recipient, index, context.testMode)),
    ...repeated(
      input.recipients.map(({ role }) => role),
      (index) => ["recipients", index, "role"],
      "Each role has exactly one recipient.",
    ),
    ...repeatedPeople(input.cc, "cc"),
    ...repeatedPeople(input.viewers, "viewers"),
    ...checkDedupe(input),
    ...checkExpiry(input, context.now),
  ];
}

function checkRecipient(recipient: RecipientInput, index: number, testMode: boolean): ProblemError[] {
  const at = (member: string) => ["recipients", index, member];
  const errors: ProblemError[] = [];
  if (recipient.redirectUrl !== undefined && !redirectAllowed(recipient.redirectUrl, testMode)) {
    errors.push({
      pointer: pointer(at("redirectUrl")),
      code: "format",
      detail: "Use an https URL without user name; http://localhost is accepted in test mode.",
    });
  }
  return errors;
}

/** Contract §0.9. */
export function redirectAllowed(text: string, testMode: boolean): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (testMode && url.protocol === "http:" && url.hostname === "localhost");
}

function repeatedPeople(people: readonly { email: string }[], list: string): ProblemError[] {
  return repeated(
    people.map(({ email }) => email.toLowerCase()),
    (index) => [list, index, "email"],
    "This e-mail address stands here twice.",
  );
}

function repeated(
  values: readonly string[],
  at: (index: number) => (string | number)[],
  detail: string,
): ProblemError[] {
  return values.flatMap((value, index) =>
    values.indexOf(value) < index ? [{ pointer: pointer(at(index)), code: "duplicate" as const, detail }] : [],
  );
}

function checkDedupe({ dedupeOn, externalId }: CreateEnvelope): ProblemError[] {
  if (dedupeOn === undefined || externalId !== undefined) return [];
  return [{ pointer: "#/externalId", code: "required", detail: "`dedupeOn` needs an `externalId`." }];
}

function checkExpiry({ expiresAt }: CreateEnvelope, now: number): ProblemError[] {
  if (expiresAt === undefined) return [];
  const ahead = Date.parse(expiresAt) - now;
  if (ahead < hourMs) return [{ pointer: "#/expiresAt", code: "min", detail: "Must be at least one hour ahead." }];
  if (ahead > 365 * dayMs) return [{ pointer: "#/expiresAt", code: "max", detail: "Must be at most 365 days ahead." }];
  return [];
}

/** Which recipient has which role; a countersigner that the request omits stands in the template. */
export type Assignment = { role: Role; input: RecipientInput | undefined };

export type Checked = {
  errors: ProblemError[];
  assignments: Assignment[];
  /** Defaults filled in. */
  variables: Record<string, VariableValue>;
  unusedVariables: string[];
};

/** Rules that need the template version. */
export function checkAgainstVersion(input: CreateEnvelope, version: PublishedVersion): Checked {
  const { assignments, errors } = assign(input.recipients, version.roles);
  const checked = checkVariables(version.variables, input.variables, "#/variables");
  return {
    errors: [...errors, ...checked.errors, ...checkPrefilled(input.values, version)],
    assignments,
    variables: checked.values,
    unusedVariables: checked.unused,
  };
}

/** What is allowed and seldom meant. */
export function versionWarnings(version: PublishedVersion): Warning[] {
  return rolesWithoutSignature(version).map(({ name }) => ({
    code: "no-signature-field",
    message: `Role \`${name}\` has no field for a signature or initials: nothing in the document shows that this person signed.`,
  }));
}

function assign(inputs: readonly RecipientInput[], roles: readonly Role[]): Pick<Checked, "assignments" | "errors"> {
  const errors: ProblemError[] = [];
  const assignments: Assignment[] = [];
  for (const [index, input] of inputs.entries()) {
    const role = roles.find(({ name }) => name === input.role);
    if (role !== undefined) {
      assignments.push({ role, input });
      if ((input.verification ?? role.verification) === "sms_otp" && input.phone === undefined) {
        errors.push({
          pointer: pointer(["recipients", index, "phone"]),
          code: "required",
          detail: "A code by SMS needs a phone number.",
        });
      }
      continue;
    }
    const detail = `The template has no role \`${input.role}\`; it has ${roles.map(({ name }) => `\`${name}\``).join(", ")}.`;
    errors.push({ pointer: pointer(["recipients", index, "role"]), code: "reference", detail });
  }
  for (const role of roles) {
    if (inputs.some((input) => input.role === role.name)) continue;
    if (role.kind === "countersigner") assignments.push({ role, input: undefined });
    else errors.push({ pointer: "#/recipients", code: "required", detail: `Role \`${role.name}\` needs a recipient.` });
  }
  return { assignments, errors };
}

const neverPrefilled: ReadonlySet<Field["type"]> = new Set([
  "signature",
  "initials",
  "date_signed",
  "formula",
  "image",
  "attachment",
  "full_name",
  "email",
]);

function checkPrefilled(values: CreateEnvelope["values"], version: PublishedVersion): ProblemError[] {
  const fields = version.fields;
  return Object.entries(values).flatMap(([role, given]): ProblemError[] => {
    if (!version.roles.some(({ name }) => name === role)) {
      return [
        { pointer: pointer(["values", role]), code: "reference", detail: `The template has no role \`${role}\`.` },
      ];
    }
    return Object.entries(given).flatMap(([id, value]): ProblemError[] => {
      const at = pointer(["values", role, id]);
      const field = fields.find((one) => one.id === id && one.role === role);
      if (field === undefined) {
        return [{ pointer: at, code: "reference", detail: `Role \`${role}\` has no field \`${id}\`.` }];
      }
      if (neverPrefilled.has(field.type)) {
        return [{ pointer: at, code: "conflict", detail: `A field of type ${field.type} cannot be prefilled.` }];
      }
      return value === null ? [] : checkFieldInput(field, value, at);
    });
  });
}

/** Sorts errors as their members stand in the document; what is missing comes behind its siblings. */
export function inDocumentOrder(errors: readonly ProblemError[], document: unknown): ProblemError[] {
  const keyed = errors.map((error) => ({ error, key: "pointer" in error ? placesOf(error.pointer, document) : [] }));
  keyed.sort((a, b) => compare(a.key, b.key));
  return keyed.map(({ error }) => error);
}

function placesOf(text: string, document: unknown): number[] {
  let value = document;
  return text
    .slice(1)
    .split("/")
    .slice(1)
    .map((part) => {
      const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
      if (value === null || typeof value !== "object") return Number.MAX_SAFE_INTEGER;
      const place = Object.keys(value).indexOf(name);
      value = Object.getOwnPropertyDescriptor(value, name)?.value;
      return place < 0 ? Number.MAX_SAFE_INTEGER : place;
    });
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const difference = (a[index] ?? -1) - (b[index] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}
