import { isField, type OverlayItem } from "../../../../../server/features/templates/contract.ts";
import type { Draft } from "./model.ts";

/** What two versions of a template differ in. Pure. */

/** What has changed about an item, as people would say it. */
export type Changed =
  | "place"
  | "text"
  | "label"
  | "role"
  | "required"
  | "condition"
  | "options"
  | "formula"
  | "style"
  | "other";
export type Difference =
  | { kind: "added" | "removed"; item: OverlayItem }
  /** `item` as it is in the later version. */
  | { kind: "changed"; item: OverlayItem; before: OverlayItem; what: Changed[] };
export type Comparison = {
  items: Difference[];
  file: boolean;
  roles: boolean;
  variables: boolean;
  settings: boolean;
};

const meanings: Readonly<Record<string, Changed>> = {
  page: "place",
  x: "place",
  y: "place",
  width: "place",
  height: "place",
  text: "text",
  label: "label",
  role: "role",
  required: "required",
  visibleWhen: "condition",
  options: "options",
  expression: "formula",
  ...Object.fromEntries(
    ["face", "size", "color", "weight", "italic", "underline", "align", "lineHeight", "baseline", "padding"].map(
      (member) => [member, "style" as const],
    ),
  ),
};

/** Items are the same when they have the same id and type, wherever they lie. */
export function compareVersions(before: Draft, after: Draft): Comparison {
  const keyOf = ({ id, type }: OverlayItem) => `${type} ${id}`;
  const earlier = new Map(before.items.map((item) => [keyOf(item), item]));
  const later = new Set(after.items.map(keyOf));
  const items = [
    ...after.items.flatMap((item): Difference[] => {
      const old = earlier.get(keyOf(item));
      if (!old || isField(old) !== isField(item)) return [{ kind: "added", item }];
      const what = changesOf(old, item);
      return what.length === 0 ? [] : [{ kind: "changed", item, before: old, what }];
    }),
    ...before.items.filter((item) => !later.has(keyOf(item))).map((item) => ({ kind: "removed" as const, item })),
  ];
  return {
    items: items.toSorted((a, b) => a.item.page - b.item.page || a.item.y - b.item.y || a.item.x - b.item.x),
    file: before.file !== after.file,
    roles: differ(before.roles, after.roles),
    variables: differ(before.variables, after.variables),
    settings: differ(before.settings, after.settings),
  };
}

function changesOf(before: OverlayItem, after: OverlayItem): Changed[] {
  const [old, present]: Readonly<Record<string, unknown>>[] = [before, after];
  const members = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...members].filter((member) => differ(old?.[member], present?.[member]));
  return [...new Set(changed.map((member) => meanings[member] ?? "other"))];
}

/** Of values that came as JSON, whose members have an order of their own. */
function differ(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) !== JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([key, member]) => [key, sorted(member)]),
  );
}
