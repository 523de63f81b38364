import { z } from "zod";
import { isField, OverlayItem, templateLimits } from "../../../../../server/features/templates/contract.ts";
import { inside } from "./boxes.ts";
import { beside, type Items, type SizeOf, withCopies } from "./items.ts";

/** Items as text on the clipboard, so that another page or another template takes them. Pure. */

const Copied = z.object({
  signet: z.literal("fields"),
  items: z.array(OverlayItem).min(1).max(templateLimits.items),
});

export const writeItems = (items: Items): string => JSON.stringify({ signet: "fields", items });

/** @returns null when the text is anything else */
export function readItems(text: string): OverlayItem[] | null {
  // Every text of this page's makes begins so; a long other one is not read to the end.
  if (!text.startsWith('{"signet":"fields"')) return null;
  try {
    return Copied.parse(JSON.parse(text)).items;
  } catch {
    return null;
  }
}

/**
 * Puts what was copied on a page.
 * @param at `page` is where the topmost page of what was copied goes; roles that are not known become `role`
 * @returns the items and the ids of the new ones; null when there would be too many
 */
export function pasted(
  items: Items,
  copied: Items,
  at: { page: number; pages: number; roles: readonly string[]; role: string; sizeOf: SizeOf },
): { items: Items; ids: string[] } | null {
  const first = Math.min(...copied.map(({ page }) => page));
  const known = copied.map((item) =>
    isField(item) && !at.roles.includes(item.role) ? { ...item, role: at.role } : item,
  );
  return withCopies(items, known, (item) => {
    const page = Math.min(at.pages, at.page + item.page - first);
    return beside(items, inside({ ...item, page }, at.sizeOf(page)), at.sizeOf);
  });
}
