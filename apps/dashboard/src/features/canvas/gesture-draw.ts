import { between, inside, overlaps, type Point, type Rect } from "./boxes.ts";
import { elementOf, type Gesture, type Ground, type Pointer } from "./gesture.ts";
import { type Items, inReadingOrder } from "./items.ts";
import { type Layout, onPage, originOf } from "./layout.ts";

/** A box that is smaller than this, in CSS pixels, was meant as a click. */
const leastDrawn = 6;

/** Draws the box of a new item; a click places one of the usual size. */
export function drawGesture({ seen, calls, marks }: Ground, start: Point): Gesture {
  const drawn = (pointer: Pointer): Rect => {
    const { layout } = seen();
    const { page } = onPage(layout, start);
    const origin = originOf(layout, page);
    const size = layout.sizes[page - 1];
    const most = { x: (size?.width ?? 0) * layout.scale, y: (size?.height ?? 0) * layout.scale };
    const onSheet = (point: Point) => ({
      x: origin.x + Math.min(most.x, Math.max(0, point.x - origin.x)),
      y: origin.y + Math.min(most.y, Math.max(0, point.y - origin.y)),
    });
    return between(onSheet(start), onSheet(pointer));
  };
  return {
    update: (pointer) => marks.box(drawn(pointer)),
    cancel: marks.clear,
    finish(pointer) {
      marks.clear();
      const { layout, sizeOf } = seen();
      const rect = drawn(pointer);
      const at = onPage(layout, start);
      if (rect.width < leastDrawn || rect.height < leastDrawn) return calls.place(at);
      const origin = originOf(layout, at.page);
      const { scale } = layout;
      const box = inside(
        {
          x: (rect.x - origin.x) / scale,
          y: (rect.y - origin.y) / scale,
          width: rect.width / scale,
          height: rect.height / scale,
        },
        sizeOf(at.page),
      );
      const { width, height } = box;
      calls.place({ page: at.page, x: box.x + width / 2, y: box.y + height / 2, size: { width, height } });
    },
  };
}

/** Draws a box around items to choose them; with Shift or Ctrl they come to those that are chosen. */
export function bandGesture({ view, seen, calls, marks }: Ground, start: Pointer): Gesture {
  const kept = start.shift || start.control ? seen().selected : [];
  let marked: readonly string[] = [];
  const mark = (ids: readonly string[]) => {
    for (const id of marked) if (!ids.includes(id)) elementOf(view, id)?.removeAttribute("data-banded");
    for (const id of ids) if (!marked.includes(id)) elementOf(view, id)?.setAttribute("data-banded", "");
    marked = ids;
  };
  const cancel = () => {
    mark([]);
    marks.clear();
  };
  return {
    update(pointer) {
      if (start.touch) return;
      const rect = between(start, pointer);
      const { layout, items } = seen();
      marks.box(rect);
      mark(within(items, layout, rect));
    },
    cancel,
    finish(pointer) {
      cancel();
      const rect = between(start, pointer);
      const { layout, items } = seen();
      const moved = !start.touch && (rect.width > 3 || rect.height > 3);
      const met = moved ? within(items, layout, rect) : [];
      calls.select([...new Set([...kept, ...met])]);
    },
  };
}

/** The items that a box touches, in reading order. */
export function within(items: Items, layout: Layout, rect: Rect): string[] {
  const { scale } = layout;
  return inReadingOrder(items)
    .filter((item) => {
      const origin = originOf(layout, item.page);
      const box = {
        x: origin.x + item.x * scale,
        y: origin.y + item.y * scale,
        width: item.width * scale,
        height: item.height * scale,
      };
      return overlaps(rect, box);
    })
    .map(({ id }) => id);
}
