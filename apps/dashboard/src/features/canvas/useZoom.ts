import { type RefObject, useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { PageSize } from "../../../../shared/pdf/document.ts";
import type { Point, Size } from "./boxes.ts";
import {
  boundedZoom,
  indexAt,
  type Layout,
  layOut,
  originOf,
  paperScale,
  scaleFor,
  type Zoom,
  zoomStep,
} from "./layout.ts";

export type Zooming = {
  layout: Layout;
  /** 1 is as large as on paper. */
  zoom: number;
  step: (direction: 1 | -1) => void;
  /** @param at what stays where it is, from the corner of the view in CSS pixels; by default its middle */
  zoomTo: (zoom: number, at?: Point) => void;
  fit: (what: "width" | "page") => void;
};

/** Lays out the pages for the width of the view and the zoom; what is looked at stays in place when either changes. */
export function useZoom(view: RefObject<HTMLElement | null>, sizes: readonly PageSize[]): Zooming {
  const frame = useSize(view);
  const [wanted, setWanted] = useState<Zoom>({ fit: "auto", page: 1 });
  const scale = scaleFor(wanted, sizes, frame);
  const layout = useMemo(() => layOut(sizes, scale, frame.width), [sizes, scale, frame.width]);
  const before = useRef<Layout | null>(null);
  const anchor = useRef<Point | null>(null);

  // Before anything of the new layout is seen.
  useLayoutEffect(() => {
    const [old, element] = [before.current, view.current];
    // Before the width of the view is known, nothing has a place that it could keep.
    before.current = frame.width === 0 ? null : layout;
    if (!element || !old || old === layout || old.sizes.length === 0) return;
    const at = anchor.current ?? {
      x: element.clientWidth / 2,
      y: old.scale === layout.scale ? 0 : element.clientHeight / 2,
    };
    anchor.current = null;
    const y = element.scrollTop + at.y;
    const page = indexAt(old, y) + 1;
    const [from, to] = [originOf(old, page), originOf(layout, page)];
    const ratio = layout.scale / old.scale;
    element.scrollTop = to.y + (y - from.y) * ratio - at.y;
    element.scrollLeft = to.x + (element.scrollLeft + at.x - from.x) * ratio - at.x;
  }, [layout, view, frame.width]);

  const zoom = scale / paperScale;
  const zoomTo = useCallback((next: number, at?: Point) => {
    anchor.current = at ?? null;
    setWanted({ fit: null, zoom: boundedZoom(next) });
  }, []);
  return {
    layout,
    zoom,
    step: (direction) => {
      const next = zoomStep(zoom, direction);
      setWanted({ fit: null, zoom: next });
    },
    zoomTo,
    fit: (what) =>
      setWanted({ fit: what, page: indexAt(layout, (view.current?.scrollTop ?? 0) + frame.height / 3) + 1 }),
  };
}

/** The inner size of an element, also after it changed. */
function useSize(element: RefObject<HTMLElement | null>): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const node = element.current;
    if (!node) return;
    const look = () => {
      const { clientWidth: width, clientHeight: height } = node;
      setSize((before) => (before.width === width && before.height === height ? before : { width, height }));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(node);
    return () => observer.disconnect();
  }, [element]);
  return size;
}
