import { type RefObject, useEffect, useRef } from "react";
import type { Zooming } from "./useZoom.ts";

type Options = {
  view: RefObject<HTMLElement | null>;
  zooming: Zooming;
  /** @returns whether there was anything to let go of */
  escape: () => boolean;
};

/** Escape, wherever the focus is; and Ctrl with the wheel, which pinching on a touch pad is, too. */
export function useWindowKeys(options: Options): void {
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      const { target } = event;
      if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("[aria-modal='true']")) return;
      if (target instanceof HTMLElement && target.closest("input, textarea, select, [role=menu]")) return;
      if (latest.current.escape()) event.preventDefault();
    };
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { view, zooming } = latest.current;
      const { left = 0, top = 0 } = view.current?.getBoundingClientRect() ?? {};
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1;
      const factor = Math.exp(-Math.max(-60, Math.min(60, event.deltaY * lines)) / 200);
      zooming.zoomTo(zooming.zoom * factor, { x: event.clientX - left, y: event.clientY - top });
    };
    const element = options.view.current;
    window.addEventListener("keydown", key);
    element?.addEventListener("wheel", wheel, { passive: false });
    return () => {
      window.removeEventListener("keydown", key);
      element?.removeEventListener("wheel", wheel);
    };
  }, [options.view]);
}
