import type { Point } from "./boxes.ts";
import type { Items } from "./items.ts";
import { type Layout, onPage } from "./layout.ts";

/** The middle of what is seen of the pages, a little below what lies there already. @param view what is scrolled to, in CSS pixels */
export function middleOf(
  layout: Layout,
  view: { left: number; top: number; width: number; height: number },
  items: Items,
): { page: number } & Point {
  const at = onPage(layout, { x: view.left + view.width / 2, y: view.top + view.height / 2 });
  const size = layout.sizes[at.page - 1];
  const bounded = (value: number, side = 0) => Math.min(side, Math.max(0, value));
  const x = bounded(at.x, size?.width);
  const taken = (y: number) =>
    items.some((item) => {
      const middle = { x: item.x + item.width / 2, y: item.y + item.height / 2 };
      return item.page === at.page && Math.abs(middle.x - x) < 40 && Math.abs(middle.y - y) < 16;
    });
  let y = bounded(at.y, size?.height);
  while (taken(y) && y < (size?.height ?? 0) - 30) y += 24;
  return { page: at.page, x, y };
}
