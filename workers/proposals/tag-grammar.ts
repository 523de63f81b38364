/** Tags in a document's text, `{{signature:Buyer}}`: their grammar (docs/text-tags.md). Pure. */
import type { ProposedType } from "../protocol.ts";

export type Tag = {
  type: ProposedType;
  /** As written; null when the tag names nobody. */
  role: string | null;
  /** What the author calls the field. */
  name: string | null;
  attributes: ReadonlyMap<Attribute, string>;
};

/** The tags of a text as [begin, end) with what stands between the braces. */
export function* tagsIn(text: string): Generator<{ begin: number; end: number; inner: string }> {
  for (const match of text.matchAll(/\{\{([^{}]{1,300})\}\}/g)) {
    yield { begin: match.index, end: match.index + match[0].length, inner: match[1] ?? "" };
  }
}

/** Names of types, in lower case and without `_`, `-` and spaces. */
const TYPES: ReadonlyMap<string, ProposedType> = new Map<string, ProposedType>([
  ["signature", "signature"],
  ["sign", "signature"],
  ["freesignature", "signature"],
  ["initials", "initials"],
  ["initial", "initials"],
  ["datesigned", "date_signed"],
  ["datenow", "date_signed"],
  ["date", "date"],
  ["name", "full_name"],
  ["fullname", "full_name"],
  ["email", "email"],
  ["company", "company"],
  ["jobtitle", "job_title"],
  ["title", "job_title"],
  ["phone", "phone"],
  ["text", "text_input"],
  ["textinput", "text_input"],
  ["cells", "text_input"],
  ["number", "number"],
  ["checkbox", "checkbox"],
  ["radio", "radio"],
  ["dropdown", "dropdown"],
  ["select", "dropdown"],
  ["image", "image"],
  ["file", "attachment"],
  ["attachment", "attachment"],
]);
/** These alone say that a field is meant; any other single word is the name of a variable. */
const ALONE: ReadonlySet<ProposedType> = new Set(["signature", "initials", "date_signed"]);

const ATTRIBUTES = {
  name: "name",
  type: "type",
  role: "role",
  required: "required",
  readonly: "readOnly",
  default: "default",
  value: "default",
  text: "default",
  label: "label",
  tooltip: "tooltip",
  description: "tooltip",
  placeholder: "placeholder",
  options: "options",
  width: "width",
  height: "height",
  format: "format",
  fontsize: "size",
  size: "size",
  align: "align",
  textalign: "align",
  color: "color",
  min: "min",
  minvalue: "min",
  max: "max",
  maxvalue: "max",
  minlength: "minLength",
  maxlength: "maxLength",
  characterlimit: "maxLength",
  decimals: "decimals",
  cells: "cells",
  multiline: "multiline",
} as const;
export type Attribute = (typeof ATTRIBUTES)[keyof typeof ATTRIBUTES];
const attributes: ReadonlyMap<string, Attribute> = new Map(Object.entries(ATTRIBUTES));

const plain = (word: string): string => word.toLowerCase().replace(/[\s_-]/g, "");
const typeOf = (word: string): ProposedType | null => TYPES.get(plain(word)) ?? null;
const ROLE = /^[^\p{C}\p{Zl}\p{Zp}{}:;=,|]{1,64}$/u;

function roleOf(text: string): string | null {
  const role = text.trim().replace(/\s+/g, " ");
  return ROLE.test(role) ? role : null;
}

/** What stands between the braces; null when it is no tag but a variable, or text. */
export function parseTag(inner: string): Tag | null {
  const text = inner.trim();
  if (text.includes(";") || isAttribute(text)) return bySemicolons(text.split(";"));
  if (text.includes(",")) return byCommas(text.split(","));
  return byColon(text, new Map());
}

/** `type:role`, or a type that needs no role. */
function byColon(head: string, given: Map<Attribute, string>): Tag | null {
  const [word = "", ...rest] = head.split(":");
  const type = typeOf(word);
  if (!type || rest.length > 1) return null;
  const [after] = rest;
  if (after === undefined) return ALONE.has(type) ? tag(type, null, null, given) : null;
  const role = roleOf(after);
  return role === null ? null : tag(type, role, null, given);
}

/** `type:role;key=value`, or as DocuSeal writes it `name;type=…;role=…`. */
function bySemicolons(parts: string[]): Tag | null {
  const [head = "", ...rest] = parts;
  const given = pairsOf(isAttribute(head) ? parts : rest);
  if (given.size === 0) return null;
  const role = given.get("role");
  const named = role === undefined ? null : roleOf(role);
  if (role !== undefined && named === null) return null;
  const word = given.get("type");
  if (word !== undefined) {
    const type = typeOf(word);
    if (!type) return null;
    const name = (isAttribute(head) ? given.get("name") : head)?.trim();
    if (plain(word) === "cells" && !given.has("cells")) given.set("cells", "");
    return tag(type, named, name === undefined || name === "" ? null : name, given);
  }
  if (isAttribute(head)) return null;
  const own = byColon(head.trim(), given);
  if (own) return own.role === null && named !== null ? { ...own, role: named } : own;
  const type = typeOf(head);
  if (head.includes(":")) return null;
  if (type) return tag(type, named, null, given);
  const name = head.trim();
  return name === "" ? null : tag("text_input", named, name, given);
}

/** As Documenso writes it: `type, r1, key=value`. */
function byCommas(parts: string[]): Tag | null {
  const [head = "", recipient = "", ...rest] = parts;
  const type = typeOf(head);
  const number = /^\s*r(\d{1,3})\s*$/i.exec(recipient)?.[1];
  if (!type || number === undefined) return null;
  // A value may hold commas itself.
  const joined: string[] = [];
  for (const part of rest) {
    if (isAttribute(part) || joined.length === 0) joined.push(part);
    else joined.push(`${joined.pop() ?? ""},${part}`);
  }
  return tag(type === "date" ? "date_signed" : type, `Signer ${Number(number)}`, null, pairsOf(joined));
}

function tag(type: ProposedType, role: string | null, name: string | null, given: Map<Attribute, string>): Tag {
  return { type, role, name: name ?? given.get("name") ?? null, attributes: given };
}

const isAttribute = (part: string): boolean => attributeOf(part) !== null;

function attributeOf(part: string): [Attribute, string] | null {
  const at = part.indexOf("=");
  const key = at < 0 ? undefined : attributes.get(plain(part.slice(0, at)));
  return key === undefined ? null : [key, part.slice(at + 1).trim()];
}

/** The first of several values counts; what is no known attribute is passed over. */
function pairsOf(parts: readonly string[]): Map<Attribute, string> {
  const pairs = new Map<Attribute, string>();
  for (const part of parts) {
    const pair = attributeOf(part);
    if (pair && !pairs.has(pair[0])) pairs.set(...pair);
  }
  return pairs;
}

/** true and false as people write them; null for anything else. */
export function flagOf(value: string | undefined): boolean | null {
  if (value === undefined) return null;
  if (/^(true|yes|1)$/i.test(value)) return true;
  return /^(false|no|0)$/i.test(value) ? false : null;
}

/** A number that is written with digits and a point; null for anything else. */
export function numberOf(value: string | undefined): number | null {
  return value !== undefined && /^-?\d{1,9}(\.\d{1,6})?$/.test(value) ? Number(value) : null;
}
