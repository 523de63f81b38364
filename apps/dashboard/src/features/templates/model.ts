import {
  type Box,
  type Field,
  isField,
  OverlayItem,
  Role,
  type SaveTemplateDraft,
  type TemplateVersion,
  Variable,
  type VersionSettings,
} from "../../../../../server/features/templates/contract.ts";
import type { PageSize } from "../../../../shared/pdf/document.ts";

/** The draft as the editor holds it, and every change that a person makes to it. Pure. */

export type Draft = {
  name: string;
  file: string;
  items: readonly OverlayItem[];
  roles: readonly Role[];
  variables: readonly Variable[];
  settings: VersionSettings;
};

export type Place = Pick<Box, "page" | "x" | "y">;
/** What can be placed with this editor; other types come from the API and are kept. */
export const placeable = [
  "signature",
  "initials",
  "date_signed",
  "full_name",
  "email",
  "company",
  "job_title",
  "text_input",
  "number",
  "date",
  "checkbox",
  "text",
] as const;
export type Placeable = (typeof placeable)[number];

/** In points. */
const sizes: Record<Placeable, { width: number; height: number }> = {
  signature: { width: 180, height: 44 },
  initials: { width: 60, height: 34 },
  date_signed: { width: 110, height: 18 },
  full_name: { width: 190, height: 18 },
  email: { width: 210, height: 18 },
  company: { width: 190, height: 18 },
  job_title: { width: 190, height: 18 },
  text_input: { width: 210, height: 20 },
  number: { width: 90, height: 20 },
  date: { width: 110, height: 20 },
  checkbox: { width: 14, height: 14 },
  text: { width: 220, height: 20 },
};

/** @returns null when the version is of Document mode, which this editor does not know */
export function draftOf(name: string, version: TemplateVersion): Draft | null {
  const { content, roles, variables, settings } = version;
  return content.mode === "overlay"
    ? { name, file: content.file, items: content.items, roles, variables, settings }
    : null;
}

/** What is sent to keep the draft. */
export function savedBody(draft: Draft): SaveTemplateDraft {
  return {
    name: draft.name,
    content: { mode: "overlay", file: draft.file, items: [...draft.items] },
    roles: [...draft.roles],
    variables: [...draft.variables],
    settings: draft.settings,
  };
}

const rounded = (points: number) => Math.round(points * 10) / 10;

/** The box moved and, if it must be, made smaller so that it lies on its page. */
export function inside<B extends Box>(box: B, page: PageSize | undefined): B {
  const width = Math.max(4, rounded(Math.min(box.width, page?.width ?? box.width)));
  const height = Math.max(4, rounded(Math.min(box.height, page?.height ?? box.height)));
  const most = (side: number, length: number) => Math.max(0, side - length);
  const x = page ? Math.min(box.x, most(page.width, width)) : box.x;
  const y = page ? Math.min(box.y, most(page.height, height)) : box.y;
  return { ...box, width, height, x: rounded(Math.max(0, x)), y: rounded(Math.max(0, y)) };
}

function freeId(items: readonly OverlayItem[], type: string): string {
  const taken = new Set(items.map(({ id }) => id));
  let number = 1;
  while (taken.has(`${type}-${number}`)) number += 1;
  return `${type}-${number}`;
}

/**
 * Adds an item with its middle at the place.
 * @param text of a printed text
 * @returns the draft and the id of the new item
 */
export function addItem(
  draft: Draft,
  type: Placeable,
  options: { at: Place; role: string; page: PageSize | undefined; text: string },
): { draft: Draft; id: string } {
  const id = freeId(draft.items, type);
  const size = sizes[type];
  const { at } = options;
  const box = inside({ page: at.page, x: at.x - size.width / 2, y: at.y - size.height / 2, ...size }, options.page);
  const item = OverlayItem.parse(
    type === "text"
      ? { id, type, text: options.text, size: 11, ...box }
      : { id, type, role: options.role, ...(type === "checkbox" ? { required: false } : {}), ...box },
  );
  return { draft: { ...draft, items: [...draft.items, item] }, id };
}

/** A copy beside the original. @returns the draft and the id of the copy; null when there is no such item */
export function duplicateItem(
  draft: Draft,
  id: string,
  page: PageSize | undefined,
): { draft: Draft; id: string } | null {
  const original = draft.items.find((item) => item.id === id);
  if (!original) return null;
  const copy = inside({ ...original, id: freeId(draft.items, original.type) }, page);
  const moved = inside({ ...copy, y: copy.y + copy.height + 8 }, page);
  return { draft: { ...draft, items: [...draft.items, moved] }, id: moved.id };
}

/** Members of an item that a form changes; undefined removes one. */
export type ItemPatch = Record<string, unknown>;

/** The draft with the item changed; the same draft when the change would not be a valid item. */
export function changeItem(draft: Draft, id: string, patch: ItemPatch): Draft {
  const index = draft.items.findIndex((item) => item.id === id);
  const changed = OverlayItem.safeParse(without({ ...draft.items[index], ...patch }));
  if (index === -1 || !changed.success) return draft;
  return { ...draft, items: draft.items.with(index, changed.data) };
}

const without = (members: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

export function removeItem(draft: Draft, id: string): Draft {
  return { ...draft, items: draft.items.filter((item) => item.id !== id) };
}

export const roleOf = (item: OverlayItem): string | null => (isField(item) ? item.role : null);

/** Items as people read them: by page, from top to bottom, from left to right. */
export function inReadingOrder(items: readonly OverlayItem[]): OverlayItem[] {
  return items.toSorted((a, b) => a.page - b.page || a.y - b.y || a.x - b.x);
}

export function fieldsOf(draft: Draft, role: string): number {
  return draft.items.filter((item) => roleOf(item) === role).length;
}

/** A further role that signs after all others. @param word the name's beginning, made unique by a number */
export function addRole(draft: Draft, word: string): Draft {
  const taken = new Set(draft.roles.map(({ name }) => name));
  let name = word;
  for (let number = 2; taken.has(name); number += 1) name = `${word} ${number}`;
  const order = Math.min(100, Math.max(0, ...draft.roles.map((role) => role.order)) + 1);
  return { ...draft, roles: [...draft.roles, Role.parse({ name, order })] };
}

/** The draft with the role changed, its fields following a new name; the same when the change is not valid. */
export function changeRole(draft: Draft, index: number, patch: Partial<Role>): Draft {
  const before = draft.roles[index];
  const changed = Role.safeParse({ ...before, ...patch });
  if (!before || !changed.success) return draft;
  const { name } = changed.data;
  if (draft.roles.some((role, at) => at !== index && role.name === name)) return draft;
  const items =
    name === before.name
      ? draft.items
      : draft.items.map((item) => (roleOf(item) === before.name && isField(item) ? { ...item, role: name } : item));
  return { ...draft, items, roles: draft.roles.with(index, changed.data) };
}

/** Without the role and its fields. */
export function removeRole(draft: Draft, index: number): Draft {
  const gone = draft.roles[index]?.name;
  return {
    ...draft,
    roles: draft.roles.toSpliced(index, 1),
    items: draft.items.filter((item) => gone === undefined || roleOf(item) !== gone),
  };
}

export function addVariable(draft: Draft, word: string): Draft {
  const taken = new Set(draft.variables.map(({ name }) => name));
  let number = draft.variables.length + 1;
  while (taken.has(`${word}${number}`)) number += 1;
  return { ...draft, variables: [...draft.variables, Variable.parse({ name: `${word}${number}` })] };
}

/** The draft with the variable changed, texts following a new name; the same when the change is not valid. */
export function changeVariable(draft: Draft, index: number, patch: Partial<Variable>): Draft {
  const before = draft.variables[index];
  const changed = Variable.safeParse({ ...before, ...patch });
  if (!before || !changed.success) return draft;
  const { name } = changed.data;
  if (draft.variables.some((variable, at) => at !== index && variable.name === name)) return draft;
  const items = name === before.name ? draft.items : draft.items.map((item) => renamedIn(item, before.name, name));
  return { ...draft, items, variables: draft.variables.with(index, changed.data) };
}

function renamedIn(item: OverlayItem, before: string, after: string): OverlayItem {
  if (item.type !== "text") return item;
  const text = item.text.replace(/\{\{\s*([A-Za-z0-9_.]+)\s*\}\}/g, (all, name) =>
    name === before ? `{{${after}}}` : all,
  );
  return { ...item, text };
}

export function removeVariable(draft: Draft, index: number): Draft {
  return { ...draft, variables: draft.variables.toSpliced(index, 1) };
}

/** Whether a field asks its role to do something; the others are filled in by the service. */
export const isAsked = (type: Field["type"]) => !["date_signed", "full_name", "email", "formula"].includes(type);
