import { boundsOf, inside, type Point, type Rect, type Size } from "./boxes.ts";
import { catches, elementOf, type Gesture, type Ground, type Pointer } from "./gesture.ts";
import { chosen, shifted } from "./items.ts";
import { onPage, originOf } from "./layout.ts";
import { type Line, linesOfBoxes, probeOf, type Snap, snap } from "./snap.ts";

const unsnapped: Snap = { x: 0, y: 0, lines: [] };

/** Drags the chosen items, one of which is held; also to another page. */
export function moveGesture({ view, seen, calls, marks }: Ground, start: Point, id: string): Gesture {
  const { items, selected } = seen();
  const moving = chosen(items, selected);
  const held = moving.find((item) => item.id === id);
  if (!held) return { update() {}, finish() {}, cancel() {} };
  const rest = items.filter((item) => !moving.includes(item));
  const bounds = boundsOf(moving.filter(({ page }) => page === held.page));
  const elements = moving.flatMap((item) => elementOf(view, item.id) ?? []);
  for (const element of elements) raise(element, true);
  const [first, last] = [Math.min(...moving.map(({ page }) => page)), Math.max(...moving.map(({ page }) => page))];
  let result = { x: 0, y: 0, pages: 0 };
  let caught: readonly Line[] = [];
  const boxLines = new Map<number, Line[]>();
  const linesOn = (page: number) => {
    const ofBoxes = boxLines.get(page) ?? linesOfBoxes(rest.filter((item) => item.page === page));
    boxLines.set(page, ofBoxes);
    return [...ofBoxes, ...seen().linesOf(page)];
  };

  const update = (pointer: Pointer) => {
    const { layout, sizeOf } = seen();
    const { scale } = layout;
    const by = straightened({ x: pointer.x - start.x, y: pointer.y - start.y }, pointer.shift);
    const from = originOf(layout, held.page);
    const middle = {
      x: from.x + (held.x + held.width / 2) * scale + by.x,
      y: from.y + (held.y + held.height / 2) * scale + by.y,
    };
    // No item of the group goes beyond the first or the last page.
    const pages = Math.min(layout.sizes.length - last, Math.max(1 - first, onPage(layout, middle).page - held.page));
    const page = held.page + pages;
    const to = originOf(layout, page);
    const free = {
      ...bounds,
      x: bounds.x + (from.x - to.x + by.x) / scale,
      y: bounds.y + (from.y - to.y + by.y) / scale,
    };
    const found = pointer.control ? unsnapped : snap(probeOf(free), linesOn(page), catches / scale);
    const at = kept({ ...free, x: free.x + found.x, y: free.y + found.y }, sizeOf(page));
    caught = found.lines.filter(({ axis }) => Math.abs(at[axis] - free[axis] - found[axis]) < 0.05);
    result = { x: at.x - bounds.x, y: at.y - bounds.y, pages };
    const shift = { x: to.x - from.x + result.x * scale, y: to.y - from.y + result.y * scale };
    for (const element of elements) element.style.transform = `translate(${shift.x}px, ${shift.y}px)`;
    marks.guides(caught, layout, page);
  };
  const cancel = () => {
    for (const element of elements) {
      element.style.transform = "";
      raise(element, false);
    }
    marks.clear();
  };
  return {
    update,
    cancel,
    finish(pointer) {
      update(pointer);
      cancel();
      const kinds = caught.map(({ kind }) => kind);
      calls.moved(shifted(moving, result, seen().sizeOf), kinds);
    },
  };
}

/** Above the pages that follow, while it is dragged over them. */
function raise(element: HTMLElement, up: boolean): void {
  element.toggleAttribute("data-dragged", up);
  element.closest("[data-page]")?.toggleAttribute("data-raised", up);
}

/** With Shift along one axis only: the one of the longer way. */
const straightened = (by: Point, shift: boolean): Point =>
  shift ? (Math.abs(by.x) > Math.abs(by.y) ? { x: by.x, y: 0 } : { x: 0, y: by.y }) : by;

/** On the page, without the rounding of what is stored. */
function kept(box: Rect, page: Size | undefined): Point {
  const { x, y } = inside(box, page);
  return { x: Math.abs(x - box.x) < 0.1 ? box.x : x, y: Math.abs(y - box.y) < 0.1 ? box.y : y };
}
