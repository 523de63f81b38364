import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { indexAt, type Layout, originOf, pagesNear } from "./layout.ts";

export type Seen = {
  /** The page that is looked at. */
  page: number;
  /** The first and the last page that are drawn. */
  near: readonly [number, number];
};

/** What of the pages is seen; changes only when another page comes near. */
export function useScroll(
  view: RefObject<HTMLElement | null>,
  layout: Layout,
): Seen & { goTo: (page: number) => void } {
  const [seen, setSeen] = useState<Seen>({ page: 1, near: [1, 1] });
  const latest = useRef(layout);
  latest.current = layout;
  const look = useCallback(() => {
    const element = view.current;
    if (!element || latest.current.sizes.length === 0) return;
    const { scrollTop, clientHeight, scrollHeight } = element;
    // At the very end the last page counts, however short it is.
    const atEnd = scrollHeight > clientHeight && scrollTop + clientHeight >= scrollHeight - 2;
    const middle = scrollTop + clientHeight / 3;
    const page = atEnd ? latest.current.sizes.length : indexAt(latest.current, middle) + 1;
    const near = pagesNear(latest.current, scrollTop, clientHeight, clientHeight / 2);
    setSeen((before) =>
      before.page === page && before.near[0] === near[0] && before.near[1] === near[1] ? before : { page, near },
    );
  }, [view]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another layout shows other pages
  useLayoutEffect(look, [look, layout]);
  useEffect(() => {
    const element = view.current;
    if (!element) return;
    let frame = 0;
    const scrolled = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        look();
      });
    };
    element.addEventListener("scroll", scrolled, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      element.removeEventListener("scroll", scrolled);
    };
  }, [view, look]);
  const goTo = useCallback(
    (page: number) => {
      const element = view.current;
      if (element) element.scrollTop = originOf(latest.current, page).y - 8;
    },
    [view],
  );
  return { ...seen, goTo };
}
