import type { OverlayItem } from "../../../../../server/features/templates/contract.ts";
import type { PageSize } from "../../../../shared/pdf/document.ts";
import type { Place } from "./model.ts";

/** The middle of what is seen of the pages, a little aside of what lies there already. */
export function visiblePlace(
  frame: HTMLElement | null,
  pages: readonly PageSize[],
  items: readonly OverlayItem[],
): Place {
  let best = { page: 1, x: (pages[0]?.width ?? 595) / 2, y: (pages[0]?.height ?? 842) / 3, seen: 0 };
  for (const element of frame?.querySelectorAll<HTMLElement>("[data-page]") ?? []) {
    const size = pages.find(({ page }) => page === Number(element.dataset.page));
    if (!size) continue;
    const { top, bottom, height } = element.getBoundingClientRect();
    const [from, to] = [Math.max(0, top), Math.min(window.innerHeight, bottom)];
    if (to - from <= best.seen) continue;
    const middle = ((from + to) / 2 - top) / height;
    best = { page: size.page, x: size.width / 2, y: middle * size.height, seen: to - from };
  }
  const { page, x } = best;
  const middleOf = (item: OverlayItem) => ({ x: item.x + item.width / 2, y: item.y + item.height / 2 });
  const taken = (y: number) =>
    items.some((item) => {
      const middle = middleOf(item);
      return item.page === page && Math.abs(middle.x - x) < 40 && Math.abs(middle.y - y) < 16;
    });
  const height = pages.find((candidate) => candidate.page === page)?.height ?? 842;
  let { y } = best;
  while (taken(y) && y < height - 30) y += 24;
  return { page, x, y };
}
