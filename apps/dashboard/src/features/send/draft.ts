import { z } from "zod";
import type { TemplateVersion } from "../../../../../server/features/templates/contract.ts";
import { defaultOf } from "../../../../../server/features/templates/values.ts";
import { pageLanguage } from "../../../../shared/i18n.ts";
import { prefillable } from "./fields.ts";
import { Step } from "./search.ts";

/** What somebody is filling in before an envelope is sent. Everything is text as it was typed; it is kept for this tab only. */

const ListRow = z.record(z.string(), z.string());
const Person = z.object({
  role: z.string(),
  kind: z.enum(["signer", "countersigner"]),
  name: z.string(),
  email: z.string(),
  phone: z.string(),
  locale: z.string(),
  delivery: z.enum(["email", "embedded"]),
  /** Empty: as the role says. */
  verification: z.enum(["", "none", "email_otp", "sms_otp", "operator_delivered"]),
  /** Signs at the same time as the one above. */
  together: z.boolean(),
});
export type Person = z.infer<typeof Person>;
const Other = z.object({ id: z.string(), email: z.string(), name: z.string() });
export type Other = z.infer<typeof Other>;

export const Draft = z.object({
  v: z.literal(1),
  /** Idempotency-Key: made once, and anew only after the service refused for good. */
  key: z.string(),
  templateVersion: z.int(),
  /** The sign between whole part and fraction, as it was usual when the numbers were typed. */
  decimal: z.enum([".", ","]).default(usualDecimal),
  step: Step.catch("people"),
  people: z.array(Person),
  /** Whether the order differs from the one of the roles. */
  reordered: z.boolean(),
  cc: z.array(Other),
  viewers: z.array(Other),
  viewerDocumentAccess: z.boolean(),
  title: z.string(),
  message: z.string(),
  variables: z.record(z.string(), z.union([z.string(), z.array(ListRow)])),
  values: z.record(z.string(), z.record(z.string(), z.string())),
  expiry: z.enum(["template", "day"]),
  expiresOn: z.string(),
  reminders: z.enum(["template", "none", "own"]),
  firstAfterDays: z.string(),
  everyDays: z.string(),
  maxReminders: z.string(),
  locale: z.string(),
  externalId: z.string(),
  metadata: z.array(z.object({ id: z.string(), key: z.string(), value: z.string() })),
});
export type Draft = z.infer<typeof Draft>;

/** The decimal sign that people use who read the page in its language. */
function usualDecimal(): "." | "," {
  return pageLanguage().startsWith("de") ? "," : ".";
}

export const newKey = () => `send-${crypto.randomUUID()}`;

/** An empty draft for a version of a template. */
export function emptyDraft(version: TemplateVersion): Draft {
  const roles = version.roles.toSorted((a, b) => a.order - b.order);
  return {
    v: 1,
    key: newKey(),
    templateVersion: version.version ?? 0,
    decimal: usualDecimal(),
    step: "people",
    people: roles.map(({ name: role, kind, order, countersigner }, index) => ({
      role,
      kind,
      name: countersigner?.name ?? "",
      email: countersigner?.email ?? "",
      phone: "",
      locale: "",
      delivery: "email",
      verification: "",
      together: index > 0 && roles[index - 1]?.order === order,
    })),
    reordered: false,
    cc: [],
    viewers: [],
    viewerDocumentAccess: false,
    title: "",
    message: "",
    variables: Object.fromEntries(version.variables.map(({ name, type }) => [name, type === "list" ? [] : ""])),
    values: Object.fromEntries(
      version.roles.map(({ name }) => [
        name,
        Object.fromEntries(prefillable(version, name).map((field) => [field.id, ""])),
      ]),
    ),
    expiry: "template",
    expiresOn: "",
    reminders: "template",
    firstAfterDays: "3",
    everyDays: "3",
    maxReminders: "3",
    locale: "",
    externalId: "",
    metadata: [],
  };
}

/** What the field holds unless the sender says otherwise, as text. */
export function defaultText(field: Parameters<typeof defaultOf>[0]): string {
  const value = defaultOf(field);
  return value === null ? "" : String(value);
}

/** Carries what fits over to a newer version of the template. */
function adapt(draft: Draft, version: TemplateVersion): Draft {
  const fresh = emptyDraft(version);
  const kept = (role: string) => draft.people.find((person) => person.role === role && person.kind === "signer");
  const variables = Object.entries(fresh.variables).map(([name, empty]) => {
    const old = draft.variables[name];
    return [name, old !== undefined && Array.isArray(old) === Array.isArray(empty) ? old : empty] as const;
  });
  const { key, decimal, title, message, cc, viewers, externalId, metadata, locale } = draft;
  return {
    ...fresh,
    people: fresh.people.map((person) => {
      const old = person.kind === "signer" ? kept(person.role) : undefined;
      return old === undefined ? person : { ...person, name: old.name, email: old.email, locale: old.locale };
    }),
    variables: Object.fromEntries(variables),
    // The same key: what may have been sent without an answer is not sent again by a newer version.
    ...{ key, decimal, title, message, cc, viewers, externalId, metadata, locale },
  };
}

const place = (owner: string, template: string) => `signet.send.${owner}.${template}`;

/** The draft that this tab keeps for a template, else an empty one. */
export function readDraft(owner: string, version: TemplateVersion): Draft {
  try {
    const kept = sessionStorage.getItem(place(owner, version.template));
    const draft = kept === null ? undefined : Draft.safeParse(JSON.parse(kept)).data;
    if (draft === undefined) return emptyDraft(version);
    const fitting = draft.templateVersion === (version.version ?? 0) ? draft : adapt(draft, version);
    // Nobody has typed a number into it yet.
    return isTouched(fitting, version) ? fitting : { ...fitting, decimal: usualDecimal() };
  } catch {
    return emptyDraft(version);
  }
}

export function keepDraft(owner: string, template: string, draft: Draft): void {
  try {
    sessionStorage.setItem(place(owner, template), JSON.stringify(draft));
  } catch {
    // The draft then lives as long as the page.
  }
}

export function forgetDraft(owner: string, template: string): void {
  try {
    sessionStorage.removeItem(place(owner, template));
  } catch {
    // Nothing was kept.
  }
}

/** Whether anything was filled in. */
export function isTouched(draft: Draft, version: TemplateVersion): boolean {
  const content = ({ key: _key, step: _step, decimal: _decimal, ...rest }: Draft) => JSON.stringify(rest);
  return content(draft) !== content(emptyDraft(version));
}
