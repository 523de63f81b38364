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
import { variablesIn } from "../../../../../server/features/templates/format.ts";
import type { PageSize } from "../../../../shared/pdf/document.ts";
import { inside, type Size } from "../canvas/boxes.ts";
import { freeId, type Items, roleOf } from "../canvas/items.ts";

export { inside } from "../canvas/boxes.ts";
export { inReadingOrder } from "../canvas/items.ts";

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
/** What can be placed with this editor: every field type, and what is part of the document itself. */
export const placeable = [
  "signature",
  "initials",
  "date_signed",
  "full_name",
  "email",
  "company",
  "job_title",
  "phone",
  "text_input",
  "number",
  "date",
  "checkbox",
  "radio",
  "dropdown",
  "formula",
  "image",
  "attachment",
  "text",
  "whiteout",
  "picture",
] as const;
export type Placeable = (typeof placeable)[number];

/** Whether it is part of the document and belongs to no role. A `picture` is the template's own; an `image` is its signer's. */
export const isFixed = (type: Placeable) => type === "text" || type === "whiteout" || type === "picture";

/** In points. */
const sizes: Record<Placeable, { width: number; height: number }> = {
  signature: { width: 180, height: 44 },
  initials: { width: 60, height: 34 },
  date_signed: { width: 110, height: 18 },
  full_name: { width: 190, height: 18 },
  email: { width: 210, height: 18 },
  company: { width: 190, height: 18 },
  job_title: { width: 190, height: 18 },
  phone: { width: 150, height: 18 },
  text_input: { width: 210, height: 20 },
  number: { width: 90, height: 20 },
  date: { width: 110, height: 20 },
  checkbox: { width: 14, height: 14 },
  radio: { width: 14, height: 36 },
  dropdown: { width: 150, height: 20 },
  formula: { width: 90, height: 20 },
  image: { width: 120, height: 120 },
  attachment: { width: 190, height: 24 },
  text: { width: 220, height: 20 },
  whiteout: { width: 160, height: 20 },
  picture: { width: 120, height: 60 },
};

/** A grey pixel that stands where a picture is still to be chosen. */
export const noPicture =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGO4CwAA3wDeKXlwtgAAAABJRU5ErkJggg==";

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

/**
 * Adds an item with its middle at the place.
 * @param options `text` of a printed text; `size` when a box was drawn
 * @returns the draft and the id of the new item
 */
export function addItem(
  draft: Draft,
  type: Placeable,
  options: { at: Place; role: string; page: PageSize | undefined; text: string; size?: Size },
): { draft: Draft; id: string } {
  const id = freeId(new Set(draft.items.map((item) => item.id)), type);
  const size = options.size ?? sizes[type];
  const { at } = options;
  const corner = { x: at.x - size.width / 2, y: at.y - size.height / 2 };
  const box = inside({ page: at.page, ...corner, ...size }, options.page);
  const item = OverlayItem.parse({ id, ...firstMembers(draft, type, box, options), ...box });
  return { draft: { ...draft, items: [...draft.items, item] }, id };
}

function firstMembers(draft: Draft, type: Placeable, box: Box, { role, text }: { role: string; text: string }) {
  switch (type) {
    case "text":
      return { type, text, size: 11 };
    case "whiteout":
      return { type };
    case "picture":
      return { type: "image", data: noPicture };
    case "checkbox":
      return { type, role, required: false };
    case "radio":
      return { type, role, options: optionsIn(box, ["A", "B"]) };
    case "dropdown":
      return { type, role, options: [{ value: "A" }, { value: "B" }] };
    case "formula":
      return { type, role, expression: numberFields(draft.items)[0] ?? "0" };
    default:
      return { type, role };
  }
}

/** Ids of the fields that a formula may name. */
export const numberFields = (items: readonly OverlayItem[]): string[] =>
  items.filter(({ type }) => type === "number").map(({ id }) => id);

const optionSize = 14;
/** Points between the boxes of two options. */
const optionGap = 8;

/** Options whose boxes stand below each other from the top left corner of the box. */
function optionsIn({ page, x, y }: Box, values: readonly string[]) {
  return values.map((value, index) => ({
    value,
    box: { page, x, y: y + index * (optionSize + optionGap), width: optionSize, height: optionSize },
  }));
}

type Radio = Extract<OverlayItem, { type: "radio" }>;
type RadioPatch = { options: Radio["options"] } | ({ options: Radio["options"] } & Box);

/** The members of a choice with these options: its own box is what encloses theirs. */
export function radioWith(options: Radio["options"]): RadioPatch {
  const boxes = options.flatMap(({ box }) => (box === undefined ? [] : [box]));
  const [first] = boxes;
  if (!first) return { options };
  const own = boxes.filter(({ page }) => page === first.page);
  const [x, y] = [Math.min(...own.map((box) => box.x)), Math.min(...own.map((box) => box.y))];
  const width = Math.max(...own.map((box) => box.x + box.width)) - x;
  const height = Math.max(...own.map((box) => box.y + box.height)) - y;
  return { options, page: first.page, x: rounded(x), y: rounded(y), width: rounded(width), height: rounded(height) };
}

/** The choice with one more option, its box below the last one, or beside it where the page ends. */
export function addOption(item: Radio, value: string, page: PageSize | undefined): RadioPatch {
  const last = item.options.findLast(({ box }) => box !== undefined)?.box;
  if (!last) return { options: [...item.options, { value }] };
  const below = inside({ ...last, y: last.y + last.height + optionGap }, page);
  const box = below.y < last.y + last.height ? inside({ ...last, x: last.x + last.width + 60 }, page) : below;
  return radioWith([...item.options, { value, box }]);
}

/** The item in another place, with the boxes of its options. @param from where these belong to */
function moved(item: OverlayItem, { page, x, y }: Place, from: Place = item): OverlayItem {
  const [dx, dy] = [x - from.x, y - from.y];
  const placed: OverlayItem = { ...item, page, x, y };
  if (placed.type !== "radio") return placed;
  const options = placed.options.map(({ box, ...option }) =>
    box ? { ...option, box: { ...box, page, x: rounded(box.x + dx), y: rounded(box.y + dy) } } : option,
  );
  return { ...placed, options };
}

/** Members of an item that a form changes; undefined removes one. */
export type ItemPatch = Record<string, unknown>;

/** Whether an item with these members would be one. */
export const isItem = (item: OverlayItem, patch: ItemPatch): boolean =>
  OverlayItem.safeParse(without({ ...item, ...patch })).success;

/**
 * The draft with the item changed; the same draft when the change would not be a valid item. What belongs to the item moves along:
 * the boxes of its options, and the other one of a white-out and the text in its place.
 */
export function changeItem(draft: Draft, id: string, patch: ItemPatch): Draft {
  const before = draft.items.find((item) => item.id === id);
  const changed = OverlayItem.safeParse(without({ ...before, ...patch }));
  if (!before || !changed.success) return draft;
  const after = changed.data;
  const { page, x, y } = after;
  const item = "options" in patch ? after : moved(after, after, before);
  const shifted = after.width === before.width && after.height === before.height;
  const partner = shifted ? partnerOf(draft, before) : undefined;
  const items = draft.items.map((other) => {
    if (other.id === id) return item;
    if (other.id !== partner?.id) return other;
    return moved(other, { page, x: rounded(other.x + x - before.x), y: rounded(other.y + y - before.y) });
  });
  return { ...draft, items };
}

/** Of a white-out and the text that stands in its place the other one. */
export function partnerOf({ items }: Draft, item: OverlayItem): OverlayItem | undefined {
  const group = groupOf(item);
  return group === undefined ? undefined : items.find((other) => other.id !== item.id && groupOf(other) === group);
}

/**
 * What the canvas made of the items, with the other one of each white-out and the text in its place: where one was moved, so is the
 * other, and where one is gone, so is the other.
 */
function together(before: Items, after: Items): Items {
  const grouped = before.filter((item) => groupOf(item) !== undefined);
  if (grouped.length === 0) return after;
  const now = new Map(after.map((item) => [item.id, item]));
  const changed = new Map<string, OverlayItem | null>();
  for (const item of grouped) {
    const partner = grouped.find((other) => other.id !== item.id && groupOf(other) === groupOf(item));
    // One that was changed itself stays as it was made.
    if (!partner || now.get(partner.id) !== partner) continue;
    const to = now.get(item.id);
    if (!to) changed.set(partner.id, null);
    else if (to !== item && to.width === item.width && to.height === item.height) {
      const [x, y] = [rounded(partner.x + to.x - item.x), rounded(partner.y + to.y - item.y)];
      changed.set(partner.id, { ...partner, page: to.page, x, y });
    }
  }
  if (changed.size === 0) return after;
  return after.flatMap((item) => {
    const other = changed.get(item.id);
    return other === undefined ? [item] : other === null ? [] : [other];
  });
}

const rounded = (points: number) => Math.round(points * 10) / 10;

export const groupOf = (item: OverlayItem): string | undefined => ("group" in item ? item.group : undefined);

const without = (members: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** Without the item, and without the other one of a white-out and the text in its place. */
export function removeItem(draft: Draft, id: string): Draft {
  return withItems(
    draft,
    draft.items.filter((item) => item.id !== id),
  );
}

/** The draft with other items; the same draft when they are the same. A white-out and the text in its place stay together. */
export function withItems(draft: Draft, items: Items): Draft {
  return items === draft.items ? draft : { ...draft, items: together(draft.items, items) };
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
  return declareVariable(draft, `${word}${number}`);
}

/** With one more variable of this name, which must be a valid one. */
export function declareVariable(draft: Draft, name: string): Draft {
  const variable = Variable.safeParse({ name });
  const isNew = variable.success && !draft.variables.some((one) => one.name === name);
  return isNew ? { ...draft, variables: [...draft.variables, variable.data] } : draft;
}

/** Names of the variables that texts use, and of these those that are not declared. */
export function variablesUsed({ items, variables }: Draft): { used: Set<string>; undeclared: string[] } {
  const used = new Set(items.flatMap((item) => (item.type === "text" ? variablesIn(item.text) : [])));
  const declared = new Set(variables.map(({ name }) => name));
  return { used, undeclared: [...used].filter((name) => !declared.has(name)) };
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
