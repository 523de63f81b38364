import { type RefObject, useCallback, useEffect, useRef } from "react";
import type { OverlayItem } from "../../../../../server/features/templates/contract.ts";
import { elementOf } from "./gesture.ts";
import type { Items } from "./items.ts";
import { type Layout, originOf } from "./layout.ts";

type Options = {
  view: RefObject<HTMLElement | null>;
  layout: Layout;
  items: Items;
  selected: readonly string[];
  onSelect: (ids: readonly string[]) => void;
  /** A new item is there. */
  onShown: (item: OverlayItem) => void;
};

/** Choosing items, and bringing them into view: what is chosen elsewhere on the page is shown, what is chosen here is seen already. */
export function useReveal(options: Options) {
  const latest = useRef(options);
  latest.current = options;
  /** What was chosen on the pages. */
  const own = useRef<readonly string[] | null>(null);
  const pending = useRef<{ id: string; placed: boolean } | null>(null);

  const select = useCallback((ids: readonly string[]) => {
    own.current = ids;
    latest.current.onSelect(ids);
    // Nobody is left to have the focus.
    if (ids.length === 0 && document.activeElement?.closest("[data-item]"))
      latest.current.view.current?.focus({ preventScroll: true });
  }, []);
  const show = useCallback((id: string, why?: "placed") => {
    pending.current = { id, placed: why === "placed" };
  }, []);

  const { selected } = options;
  useEffect(() => {
    const [only] = selected;
    if (own.current === selected || selected.length !== 1 || only === undefined) return;
    const { view, layout, items } = latest.current;
    const item = items.find(({ id }) => id === only);
    if (view.current && item) reveal(view.current, layout, item);
  }, [selected]);

  // As soon as it is drawn, which may take a step or two: its page must be there first.
  useEffect(() => {
    const wanted = pending.current;
    const { view, layout, items } = options;
    const item = items.find(({ id }) => id === wanted?.id);
    if (!wanted || !view.current || !item) return;
    reveal(view.current, layout, item);
    const element = elementOf(view.current, wanted.id);
    if (!element) return;
    pending.current = null;
    element.focus({ preventScroll: true });
    if (wanted.placed) options.onShown(item);
  });

  return { select, show };
}

/** Scrolls as little as it takes to see the whole item with some room around it. */
function reveal(view: HTMLElement, layout: Layout, item: OverlayItem): void {
  const origin = originOf(layout, item.page);
  const { scale } = layout;
  const room = 48;
  const nearest = (from: number, length: number, seen: number, extent: number) => {
    if (from >= seen && from + length <= seen + extent) return seen;
    return from < seen || length + 2 * room > extent ? from - room : from + length + room - extent;
  };
  const top = nearest(origin.y + item.y * scale, item.height * scale, view.scrollTop, view.clientHeight);
  const left = nearest(origin.x + item.x * scale, item.width * scale, view.scrollLeft, view.clientWidth);
  if (top !== view.scrollTop || left !== view.scrollLeft) view.scrollTo(left, top);
}
