import {
  type FieldInput,
  isField,
  type OverlayItem,
  type StaticItem,
} from "../../../../../../server/features/templates/contract.ts";
import { deciding } from "../../../../../../server/features/templates/publish-checks.ts";
import { changeItem, type Draft } from "../model.ts";

/** When a field is shown. Pure. */

type FieldItem = Exclude<OverlayItem, StaticItem>;
export type Deciding = Extract<OverlayItem, { type: "checkbox" | "radio" | "dropdown" | "text_input" | "number" }>;
type Condition = { field: string; in: FieldInput[] };

const isDeciding = (item: OverlayItem): item is Deciding => isField(item) && deciding.has(item.type);
const conditionOf = (item: OverlayItem | undefined) => (item && isField(item) ? item.visibleWhen : undefined);

/** The fields that a field can be shown by: those of its role that do not hang on it themselves. */
export function decidingFields(items: readonly OverlayItem[], field: FieldItem): Deciding[] {
  return items.filter(isDeciding).filter((one) => one.role === field.role && !hangsOn(items, one, field.id));
}

/** Whether a field is the other one, or is shown by it, directly or through others. */
function hangsOn(items: readonly OverlayItem[], field: OverlayItem, id: string): boolean {
  const seen = new Set<string>();
  let at: OverlayItem | undefined = field;
  while (at && !seen.has(at.id)) {
    if (at.id === id) return true;
    seen.add(at.id);
    const next: string | undefined = conditionOf(at)?.field;
    at = items.find((item) => item.id === next);
  }
  return false;
}

/** The draft with the field shown on this condition, or always. What a field hangs on comes before it, as publishing wants it. */
export function showWhen(draft: Draft, id: string, condition: Condition | undefined): Draft {
  const changed = changeItem(draft, id, { visibleWhen: condition });
  return changed === draft ? draft : { ...changed, items: inOrder(changed.items) };
}

function inOrder(items: readonly OverlayItem[]): OverlayItem[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const placed = new Set<OverlayItem>();
  const place = (item: OverlayItem): void => {
    if (placed.has(item)) return;
    const other = byId.get(conditionOf(item)?.field ?? "");
    if (other && !hangsOn(items, other, item.id)) place(other);
    placed.add(item);
  };
  items.forEach(place);
  return [...placed];
}

/** The draft with an option's value renamed wherever fields are shown by it. */
export function renameValue(draft: Draft, field: string, before: string, after: string): Draft {
  const items = draft.items.map((item) => {
    const condition = conditionOf(item);
    if (!isField(item) || condition?.field !== field || !condition.in.includes(before)) return item;
    return { ...item, visibleWhen: { field, in: condition.in.map((value) => (value === before ? after : value)) } };
  });
  return { ...draft, items };
}

/** What a condition on this field begins with. */
export function firstValues(field: Deciding): FieldInput[] {
  if (field.type === "checkbox") return [true];
  if (field.type === "radio" || field.type === "dropdown") return field.options.slice(0, 1).map(({ value }) => value);
  return field.type === "number" ? [0] : [""];
}

/** Values as a person writes them, one a line. An empty line stands for an empty field. */
export const writtenValues = (values: readonly FieldInput[]): string =>
  values.map((value) => (value === null ? "" : String(value))).join("\n");

/** The values in a text of one a line; null when one of them is none that the field can have. */
export function valuesIn(text: string, field: Deciding): FieldInput[] | null {
  const lines = [...new Set(text.split(/\r?\n/).map((line) => line.trim()))];
  const values = lines.map((line) => (line === "" ? null : field.type === "number" ? Number(line) : line));
  return values.some((value) => typeof value === "number" && !Number.isFinite(value)) ? null : values;
}
