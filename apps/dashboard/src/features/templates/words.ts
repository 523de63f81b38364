import type { OverlayItem } from "../../../../../server/features/templates/contract.ts";
import type { translator } from "../../../../shared/i18n.ts";
import type { Explained } from "./explain.ts";
import { roleOf } from "./model.ts";

/** How things of a template are called on the page. */

type Translate = ReturnType<typeof translator<"templates">>;

/** How many colours there are for roles; a name always stands beside the colour. */
const colors = 6;
export const roleColor = (roles: readonly string[], role: string) => String(Math.max(0, roles.indexOf(role)) % colors);

/** Short name of an item: its label or its kind. */
export function itemName(t: Translate, item: OverlayItem): string {
  if (item.type === "text") return t("fields.printed", { text: item.text });
  const kind = t(`type.${item.type}`);
  return "label" in item && item.label && item.label !== kind ? `${item.label} (${kind})` : kind;
}

/** The kind of an item and where it lies, for those who do not see it. */
export function describePlace(t: Translate, item: OverlayItem): string {
  const [x, y] = [Math.round(item.x), Math.round(item.y)];
  const [width, height] = [Math.round(item.width), Math.round(item.height)];
  const place = t("fields.place", { page: item.page, x, y, width, height });
  return `${t(`type.${item.type}`)}. ${place}`;
}

/** What an error is about, in words. */
export function placeName(t: Translate, { place }: Explained): string {
  switch (place.kind) {
    case "item": {
      const role = roleOf(place.item);
      const name = itemName(t, place.item);
      return role === null
        ? t("problem.item", { name, page: place.item.page })
        : t("problem.field", { name, role, page: place.item.page });
    }
    case "role":
      return t("problem.role", { name: place.name });
    case "variable":
      return t("problem.variable", { name: place.name });
    default:
      return t(`problem.${place.kind}`);
  }
}
