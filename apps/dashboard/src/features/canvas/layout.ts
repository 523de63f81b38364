import type { PageSize } from "../../../../shared/pdf/document.ts";
import type { Point, Size } from "./boxes.ts";

/** Where pages lie below each other and which of them are seen, in CSS pixels. Pure. */

export type Layout = Size & {
  /** CSS pixels a point. */
  scale: number;
  tops: readonly number[];
  sizes: readonly PageSize[];
};

/** Around and between pages. */
export const gap = 16;

/** @param frame how wide the pages are centred in, if that is more than they need */
export function layOut(sizes: readonly PageSize[], scale: number, frame: number): Layout {
  const tops: number[] = [];
  let [height, width] = [gap, 0];
  for (const size of sizes) {
    tops.push(height);
    height += size.height * scale + gap;
    width = Math.max(width, size.width * scale);
  }
  return { scale, tops, sizes, height, width: Math.max(frame, width + 2 * gap) };
}

/** The index of the page at a height: the last one that begins above it. */
export function indexAt({ tops }: Layout, y: number): number {
  let [low, high] = [0, tops.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((tops[middle] ?? 0) <= y) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** The page that a point is on, or nearest to; and the point on it, in points of the page. */
export function onPage(layout: Layout, at: Point): { page: number } & Point {
  let index = indexAt(layout, at.y);
  const below = layout.tops[index + 1];
  const bottom = (layout.tops[index] ?? 0) + (layout.sizes[index]?.height ?? 0) * layout.scale;
  // In the gap between two pages the nearer one counts.
  if (below !== undefined && at.y - bottom > below - at.y) index += 1;
  const page = index + 1;
  const origin = originOf(layout, page);
  return { page, x: (at.x - origin.x) / layout.scale, y: (at.y - origin.y) / layout.scale };
}

/** The top left corner of a page. */
export function originOf({ tops, sizes, scale, width }: Layout, page: number): Point {
  return { x: (width - (sizes[page - 1]?.width ?? 0) * scale) / 2, y: tops[page - 1] ?? 0 };
}

/** 1-based numbers of the first and last page that are within reach of what is seen. */
export function pagesNear(layout: Layout, top: number, height: number, reach: number): [number, number] {
  return [indexAt(layout, top - reach) + 1, indexAt(layout, top + height + reach) + 1];
}

/** CSS pixels a point at which a page on the screen is as large as on paper. */
export const paperScale = 96 / 72;
const steps = [0.5, 0.67, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4];
const [leastZoom, mostZoom] = [0.5, 4];

/** The factor of a zoom, kept between 50 % and 400 %. */
export const boundedZoom = (zoom: number) => Math.min(mostZoom, Math.max(leastZoom, zoom));

/** The next step up or down from any zoom. */
export function zoomStep(zoom: number, direction: 1 | -1): number {
  const further =
    direction > 0 ? steps.find((step) => step > zoom + 0.005) : steps.findLast((step) => step < zoom - 0.005);
  return further ?? (direction > 0 ? mostZoom : Math.min(zoom, leastZoom));
}

/** `auto` fills the width, but never more than reads well. */
export type Zoom = { fit: "auto" | "width" | "page"; page: number } | { fit: null; zoom: number };

/** A little more than the size on paper. */
const comfortable = 1.4;

/** CSS pixels a point. */
export function scaleFor(zoom: Zoom, sizes: readonly PageSize[], frame: Size): number {
  if (zoom.fit === null) return zoom.zoom * paperScale;
  const page = sizes[zoom.page - 1] ?? { width: 595, height: 842 };
  const across = Math.max(0.1, (frame.width - 2 * gap) / page.width);
  if (zoom.fit === "auto") return Math.min(comfortable, across);
  const down = Math.max(0.1, (frame.height - 2 * gap) / page.height);
  return Math.min(mostZoom * paperScale, zoom.fit === "width" ? across : Math.min(across, down));
}
