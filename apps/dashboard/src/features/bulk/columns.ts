import type { TemplateVersion } from "../../../../../server/features/templates/contract.ts";
import { fieldName, prefillable } from "../send/fields.ts";

/** What a column of a file can hold, and which column holds what. Pure. */

export const envelopeMembers = ["title", "message", "locale", "expiresAt", "externalId"] as const;
export type EnvelopeMember = (typeof envelopeMembers)[number];
type Meaning =
  | { kind: "person"; role: string; member: "name" | "email" }
  | { kind: "variable"; name: string }
  | { kind: "value"; role: string; field: string }
  | { kind: "envelope"; member: EnvelopeMember };

export type Target = Meaning & {
  /** Stable name of the target. */
  id: string;
  /** What the column is called in the file that is downloaded. */
  header: string;
  required: boolean;
  /** Other headers that mean the same. */
  aliases: string[];
};

/** Every column that a file for this version may have, in the order of the downloaded one. */
export function targetsOf(version: TemplateVersion): Target[] {
  const signers = version.roles.filter(({ kind }) => kind === "signer");
  const people = signers.flatMap(({ name: role, label }): Target[] => {
    const called = label?.trim() ? [role, label] : [role];
    const person = (member: "name" | "email", words: string[]): Target => ({
      kind: "person",
      role,
      member,
      id: `person/${member}/${role}`,
      header: `${role}: ${member}`,
      required: true,
      // With one signer, "name" alone says enough.
      aliases: [
        ...called.flatMap((name) => words.map((word) => `${name} ${word}`)),
        ...(signers.length === 1 ? words : []),
      ],
    });
    return [
      person("name", ["name", "full name"]),
      person("email", ["email", "e-mail", "mail", "email address", "e-mail-adresse"]),
    ];
  });
  const variables = version.variables.map((variable): Target => {
    const { name, label, required } = variable;
    const taken = envelopeMembers.some((member) => member === name);
    return {
      kind: "variable",
      name,
      id: `variable/${name}`,
      header: taken ? `{{${name}}}` : name,
      required: required && variable.default === null,
      aliases: [`{{${name}}}`, ...(label ? [label] : [])],
    };
  });
  const values = signers.flatMap(({ name: role }) =>
    prefillable(version, role).map((field): Target => {
      const label = fieldName(field);
      return {
        kind: "value",
        role,
        field: field.id,
        id: `value/${field.id}/${role}`,
        header: `${role} / ${field.id}`,
        required: false,
        aliases: [`${role}: ${label}`, `${role} ${field.id}`, ...(label === field.id ? [] : [label])],
      };
    }),
  );
  const envelope = envelopeMembers.map(
    (member): Target => ({
      kind: "envelope",
      member,
      id: `envelope/${member}`,
      header: member,
      required: false,
      aliases: aliasesOf[member],
    }),
  );
  return [...people, ...variables, ...values, ...envelope];
}

const aliasesOf: Record<EnvelopeMember, string[]> = {
  title: ["titel", "subject", "betreff"],
  message: ["nachricht"],
  locale: ["language", "sprache"],
  expiresAt: ["expires", "expires at", "deadline", "frist", "gültig bis"],
  externalId: ["external id", "reference", "referenz", "id"],
};

/** What each column holds, by target id; null for a column that is not used. */
export type Mapping = (string | null)[];

/** Maps columns by their names: exact ones first, then those that differ in case, spaces and signs, then aliases. */
export function mapColumns(headers: readonly string[], targets: readonly Target[]): Mapping {
  const mapping: Mapping = headers.map(() => null);
  const taken = new Set<string>();
  const pass = (matches: (header: string, target: Target) => boolean) => {
    for (const [column, header] of headers.entries()) {
      if (mapping[column] !== null) continue;
      const target = targets.find((one) => !taken.has(one.id) && matches(header, one));
      if (target === undefined) continue;
      mapping[column] = target.id;
      taken.add(target.id);
    }
  };
  pass((header, target) => header.trim() === target.header);
  pass((header, target) => plain(header) !== "" && plain(header) === plain(target.header));
  pass((header, target) => plain(header) !== "" && target.aliases.some((alias) => plain(alias) === plain(header)));
  return mapping;
}

function plain(text: string): string {
  return text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");
}

/** The required targets that no column holds. */
export function unmapped(targets: readonly Target[], mapping: Mapping): Target[] {
  return targets.filter((target) => target.required && !mapping.includes(target.id));
}
