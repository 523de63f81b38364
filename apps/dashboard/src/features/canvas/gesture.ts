import type { OverlayItem } from "../../../../../server/features/templates/contract.ts";
import type { Point, Rect, Size } from "./boxes.ts";
import type { Items } from "./items.ts";
import { type Layout, originOf } from "./layout.ts";
import type { Line, SnapKind } from "./snap.ts";

/** What the gestures of mouse and finger share: what they see of the canvas, what they tell it, and what they draw meanwhile. */

/** A pointer over the pages: its place in CSS pixels of the whole content, and the keys held with it. */
export type Pointer = Point & { shift: boolean; alt: boolean; control: boolean; touch: boolean };

export type Seen = {
  layout: Layout;
  items: Items;
  selected: readonly string[];
  /** Lines printed on a page, and its margins; more may come while the page is looked at. */
  linesOf: (page: number) => readonly Line[];
  sizeOf: (page: number) => Size | undefined;
};

export type Calls = {
  select: (ids: readonly string[]) => void;
  moved: (items: readonly OverlayItem[], snapped: readonly SnapKind[]) => void;
  resized: (item: OverlayItem, snapped: readonly SnapKind[]) => void;
  /** @param at where the middle belongs; `size` when a box was drawn */
  place: (at: { page: number; size?: Size } & Point) => void;
};

export type Ground = { view: HTMLElement; seen: () => Seen; calls: Calls; marks: Marks };

/** One gesture, from the press to its end. Until it ends nothing is drawn by React. */
export type Gesture = {
  update: (pointer: Pointer) => void;
  finish: (pointer: Pointer) => void;
  /** Everything is as it was before. */
  cancel: () => void;
};

/** How near a line must be to catch a box, in CSS pixels. */
export const catches = 6;

export function elementOf(view: HTMLElement, id: string): HTMLElement | null {
  return view.querySelector<HTMLElement>(`[data-item="${CSS.escape(id)}"]`);
}

export type Marks = ReturnType<typeof createMarks>;

/** Guide lines and the drawn box, as elements that are moved without React. */
export function createMarks(view: HTMLElement) {
  const find = (mark: string) => view.querySelector<HTMLElement>(`[data-mark="${mark}"]`);
  const show = (element: HTMLElement | null, rect: Rect | null) => {
    if (!element) return;
    element.hidden = rect === null;
    if (!rect) return;
    element.style.transform = `translate(${rect.x}px, ${rect.y}px)`;
    element.style.width = `${rect.width}px`;
    element.style.height = `${rect.height}px`;
  };
  return {
    guides(lines: readonly Line[], layout: Layout, page: number): void {
      for (const axis of ["x", "y"] as const) {
        const line = lines.find((candidate) => candidate.axis === axis);
        show(find(axis), line ? onContent(line, layout, page) : null);
      }
    },
    box: (rect: Rect | null) => show(find("box"), rect),
    clear(): void {
      for (const mark of ["x", "y", "box"]) show(find(mark), null);
    },
  };
}

function onContent(line: Line, layout: Layout, page: number): Rect {
  const origin = originOf(layout, page);
  const { scale } = layout;
  const length = (line.to - line.from) * scale;
  return line.axis === "x"
    ? { x: origin.x + line.at * scale, y: origin.y + line.from * scale, width: 1, height: length }
    : { x: origin.x + line.from * scale, y: origin.y + line.at * scale, width: length, height: 1 };
}
