import {
  type Box,
  isField,
  type OverlayItem,
  templateLimits,
} from "../../../../../server/features/templates/contract.ts";
import { inside, type Size } from "./boxes.ts";

/** What lies on the pages, and every change that the canvas makes to it. Pure. */

export type Items = readonly OverlayItem[];
export type SizeOf = (page: number) => Size | undefined;

export const roleOf = (item: OverlayItem): string | null => (isField(item) ? item.role : null);

/** Items as people read them: by page, from top to bottom, from left to right. */
export function inReadingOrder(items: Items): OverlayItem[] {
  return items.toSorted((a, b) => a.page - b.page || a.y - b.y || a.x - b.x);
}

/** The chosen ones, in the order in which they were chosen. */
export function chosen(items: Items, ids: readonly string[]): OverlayItem[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** The items by their pages; a page keeps its list while nothing on it changes. */
export function byPage(items: Items, before: ReadonlyMap<number, Items>): Map<number, Items> {
  const pages = new Map<number, OverlayItem[]>();
  for (const item of inReadingOrder(items)) {
    const list = pages.get(item.page);
    if (list) list.push(item);
    else pages.set(item.page, [item]);
  }
  const kept = new Map<number, Items>();
  for (const [page, list] of pages) {
    const old = before.get(page);
    const same = old?.length === list.length && list.every((item, index) => item === old[index]);
    kept.set(page, same ? old : list);
  }
  return kept;
}

/** The items with some of them in other places. */
export function withBoxes(items: Items, boxes: readonly OverlayItem[]): Items {
  const byId = new Map(boxes.map((box) => [box.id, box]));
  let changed = false;
  const next = items.map((item) => {
    const to = byId.get(item.id);
    if (!to || isSameBox(item, to)) return item;
    changed = true;
    return movedTo(item, to);
  });
  return changed ? next : items;
}

const isSameBox = (a: Box, b: Box) =>
  a.page === b.page && a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;

/** The item in another place. The boxes of single choices go along. */
function movedTo(item: OverlayItem, to: Box): OverlayItem {
  const { page, x, y, width, height } = to;
  const moved = { ...item, page, x, y, width, height };
  if (moved.type !== "radio" || item.type !== "radio") return moved;
  const along = (box: Box) => ({ ...box, page, x: box.x + x - item.x, y: box.y + y - item.y });
  return {
    ...moved,
    options: item.options.map((option) => (option.box ? { ...option, box: along(option.box) } : option)),
  };
}

/** Moved by a distance in points, each kept on its page. @param pages to which page further on */
export function shifted(items: Items, by: { x: number; y: number; pages: number }, sizeOf: SizeOf): OverlayItem[] {
  return items.map((item) => {
    const page = item.page + by.pages;
    return inside({ ...item, page, x: item.x + by.x, y: item.y + by.y }, sizeOf(page));
  });
}

export function without(items: Items, ids: readonly string[]): Items {
  const gone = new Set(ids);
  return items.filter(({ id }) => !gone.has(id));
}

/** Fields given to another role; what is no field has none. */
export function assigned(items: Items, ids: readonly string[], role: string): Items {
  const meant = new Set(ids);
  return items.map((item) => (meant.has(item.id) && isField(item) ? { ...item, role } : item));
}

/** An id that no item has yet: its kind and a number. */
export function freeId(taken: ReadonlySet<string>, type: string): string {
  let number = 1;
  while (taken.has(`${type}-${number}`)) number += 1;
  return `${type}-${number}`;
}

/**
 * Adds copies under ids of their own. What copies say about each other they say about the copies.
 * @param place where the copy of an item lies
 * @returns the items and the ids of the copies; null when there would be too many
 */
export function withCopies(
  items: Items,
  originals: Items,
  place: (item: OverlayItem) => OverlayItem,
): { items: Items; ids: string[] } | null {
  const taken = new Set(items.map(({ id }) => id));
  const groups = new Set(items.flatMap((item) => ("group" in item && item.group ? [item.group] : [])));
  const renamed = new Map<string, string>();
  for (const { id, type } of originals) {
    const fresh = freeId(taken, type);
    taken.add(fresh);
    renamed.set(id, fresh);
  }
  const newGroups = new Map<string, string>();
  const groupOf = (group: string) => {
    const fresh = newGroups.get(group) ?? freeId(groups, "group");
    groups.add(fresh);
    newGroups.set(group, fresh);
    return fresh;
  };
  const present = new Set([...items.map(({ id }) => id), ...renamed.values()]);
  const copies = originals.map((original) => {
    const moved = movedTo(original, place(original));
    const copy = { ...moved, id: renamed.get(original.id) ?? original.id };
    if ("group" in copy && copy.group) {
      const whole = originals.filter((other) => "group" in other && other.group === copy.group).length > 1;
      if (whole) copy.group = groupOf(copy.group);
      else {
        // A copy of replaced text alone replaces nothing: what was there is covered once.
        delete copy.group;
        if (copy.type === "text") delete copy.original;
      }
    }
    if (!("visibleWhen" in copy) || !copy.visibleWhen) return copy;
    const field = renamed.get(copy.visibleWhen.field) ?? copy.visibleWhen.field;
    const { visibleWhen, ...rest } = copy;
    return present.has(field) ? { ...copy, visibleWhen: { ...visibleWhen, field } } : rest;
  });
  const all = [...items, ...copies];
  const fits = all.length <= templateLimits.items && all.filter(isField).length <= templateLimits.fields;
  return fits ? { items: all, ids: copies.map(({ id }) => id) } : null;
}

/** Copies at the same place of further pages, where there is room for them. @returns null when there would be too many */
export function copiedToPages(
  items: Items,
  ids: readonly string[],
  pages: readonly number[],
  sizeOf: SizeOf,
): { items: Items; ids: string[] } | null {
  let all: { items: Items; ids: string[] } | null = { items, ids: [] };
  for (const page of pages) {
    // What lies on the page already is not copied onto itself.
    const originals = chosen(items, ids).filter((item) => item.page !== page);
    const { items: before, ids: made }: { items: Items; ids: string[] } = all;
    const next = withCopies(before, originals, (item) => inside({ ...item, page }, sizeOf(page)));
    if (next === null) return null;
    all = { items: next.items, ids: [...made, ...next.ids] };
  }
  return all;
}

/** Beside what lies there already: a copy that covered its original would not be seen. */
export function beside(items: Items, item: OverlayItem, sizeOf: SizeOf): OverlayItem {
  let at = item;
  const taken = () =>
    items.some(({ page, x, y }) => page === at.page && Math.abs(x - at.x) < 2 && Math.abs(y - at.y) < 2);
  for (let tries = 0; tries < 20 && taken(); tries += 1)
    at = inside({ ...at, x: at.x + 12, y: at.y + 12 }, sizeOf(at.page));
  return at;
}
