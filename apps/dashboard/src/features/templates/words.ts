import type { translator } from "../../../../shared/i18n.ts";
import { roleOf } from "../canvas/items.ts";
import { itemName } from "../canvas/words.ts";
import type { Explained } from "./explain.ts";

export { itemName, roleColor } from "../canvas/words.ts";

/** How things of a template are called on the page. */

type Translate = ReturnType<typeof translator<"templates">>;

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
