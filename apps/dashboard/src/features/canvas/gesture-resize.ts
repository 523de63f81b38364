import { type Handle, inside, type Point, placeStyle, type Rect, resized, sidesOf } from "./boxes.ts";
import { catches, elementOf, type Gesture, type Ground, type Pointer } from "./gesture.ts";
import { type Line, linesOfBoxes, type Probe, snap } from "./snap.ts";

/** Pulls one handle of an item: with Shift its sides keep their ratio, with Alt its middle stays. */
export function resizeGesture({ view, seen, calls, marks }: Ground, start: Point, id: string, handle: Handle): Gesture {
  const { items, sizeOf } = seen();
  const held = items.find((item) => item.id === id);
  const element = elementOf(view, id);
  if (!held || !element) return { update() {}, finish() {}, cancel() {} };
  const page = sizeOf(held.page);
  const others = linesOfBoxes(items.filter((item) => item.page === held.page && item !== held));
  let result: Rect = held;
  let caught: readonly Line[] = [];

  const show = (rect: Rect) => {
    for (const [name, value] of Object.entries(placeStyle(rect))) element.style.setProperty(name, String(value));
  };
  const update = (pointer: Pointer) => {
    const { layout, linesOf } = seen();
    const { scale } = layout;
    const options = { ratio: pointer.shift, centre: pointer.alt, page };
    const by = { x: (pointer.x - start.x) / scale, y: (pointer.y - start.y) / scale };
    const free = resized(held, handle, by, options);
    caught = [];
    result = free;
    if (!pointer.control && !pointer.shift) {
      const found = snap(edgesOf(free, handle), [...others, ...linesOf(held.page)], catches / scale);
      result = resized(held, handle, byOf(held, free, handle, found), options);
      caught = found.lines;
    }
    show(result);
    marks.guides(caught, layout, held.page);
  };
  const cancel = () => {
    show(held);
    marks.clear();
  };
  return {
    update,
    cancel,
    finish(pointer) {
      update(pointer);
      cancel();
      const kinds = caught.map(({ kind }) => kind);
      calls.resized(inside({ ...held, ...result }, page), kinds);
    },
  };
}

const edge = (from: number, length: number, side: number) => (side < 0 ? from : from + length);

/** Only the edges that the handle moves fall into line. */
function edgesOf(box: Rect, handle: Handle): Probe {
  const side = sidesOf(handle);
  const x = side.x === 0 ? [] : [edge(box.x, box.width, side.x)];
  const y = side.y === 0 ? [] : [edge(box.y, box.height, side.y)];
  return { box, x, y, bottom: side.y > 0 ? box.y + box.height : null };
}

/** How far the handle must be pulled for the edges to come to where the lines are. */
function byOf(held: Rect, free: Rect, handle: Handle, found: Point): Point {
  const side = sidesOf(handle);
  return {
    x: edge(free.x, free.width, side.x) - edge(held.x, held.width, side.x) + found.x,
    y: edge(free.y, free.height, side.y) - edge(held.y, held.height, side.y) + found.y,
  };
}
