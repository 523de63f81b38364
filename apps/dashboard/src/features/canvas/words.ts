import type { OverlayItem } from "../../../../../server/features/templates/contract.ts";
import type { translator } from "../../../../shared/i18n.ts";
import { type Items, roleOf } from "./items.ts";
import type { SnapKind } from "./snap.ts";

/** How items are called, on the page and to those who do not see it. */

type Translate = ReturnType<typeof translator<"templates">>;

/** How many colours there are for roles; a name is always shown with the colour. */
const colors = 6;
export const roleColor = (roles: readonly string[], role: string) => String(Math.max(0, roles.indexOf(role)) % colors);

/** The word for the kind of an item: a picture of the template and one that a signer uploads share their type. */
export const kindOf = (item: OverlayItem) => (item.type === "image" && "data" in item ? "picture" : item.type);

/** Short name of an item: its label or its kind. */
export function itemName(t: Translate, item: OverlayItem): string {
  if (item.type === "text") return t("fields.printed", { text: item.text });
  const kind = t(`type.${kindOf(item)}`);
  return "label" in item && item.label && item.label !== kind ? `${item.label} (${kind})` : kind;
}

/** The kind of an item and where it lies, for those who do not see it. */
export function describePlace(t: Translate, item: OverlayItem): string {
  const [x, y] = [Math.round(item.x), Math.round(item.y)];
  const [width, height] = [Math.round(item.width), Math.round(item.height)];
  const place = t("fields.place", { page: item.page, x, y, width, height });
  return `${t(`type.${kindOf(item)}`)}. ${place}`;
}

/** Whom or what something was done to: "Signature for Buyer", "3 fields". */
export function subject(t: Translate, items: Items): string {
  const [first] = items;
  if (!first || items.length > 1) return t("canvas.count", { count: items.length });
  const role = roleOf(first);
  const name = itemName(t, first);
  return role === null ? name : t("canvas.fieldFor", { name, role });
}

/** Announces a move. @param snapped what the items were aligned with by snapping */
export function sayMoved(t: Translate, items: Items, snapped: readonly SnapKind[] = []): string {
  const [first] = items;
  if (!first) return "";
  const [x, y] = [Math.round(first.x), Math.round(first.y)];
  return withSnap(t, t("canvas.moved", { what: subject(t, items), page: first.page, x, y }), snapped);
}

export function sayResized(t: Translate, item: OverlayItem, snapped: readonly SnapKind[] = []): string {
  const [width, height] = [Math.round(item.width), Math.round(item.height)];
  return withSnap(t, t("canvas.resized", { what: subject(t, [item]), width, height }), snapped);
}

const withSnap = (t: Translate, said: string, snapped: readonly SnapKind[]) =>
  [said, ...new Set(snapped.map((kind) => t(`canvas.snapped.${kind}`)))].join(" ");
