import { isHandle } from "./boxes.ts";
import { type Calls, createMarks, type Gesture, type Ground, type Pointer, type Seen } from "./gesture.ts";
import { bandGesture, drawGesture } from "./gesture-draw.ts";
import { moveGesture } from "./gesture-move.ts";
import { resizeGesture } from "./gesture-resize.ts";

/** A finger is never quite still: so many CSS pixels are no movement yet. */
const slack = 3;
/** So near to the edge of the window, in CSS pixels, the pages scroll by themselves. */
const [edge, fastest] = [48, 20];

export type Gestures = {
  /** Whether one is under way. */
  active: () => boolean;
  cancel: () => void;
  stop: () => void;
};

type Options = {
  view: HTMLElement;
  seen: () => Seen & { armed: boolean; readOnly: boolean };
  calls: Calls;
};

type Press = {
  pointer: number;
  start: Pointer;
  gesture: Gesture | null;
  begin: () => Gesture | null;
  /** What a press without a movement means. */
  click: () => void;
  moved: boolean;
};

/** Listens to mouse, pen and finger on the pages. What they do is drawn once a frame. */
export function listenToGestures({ view, seen, calls }: Options): Gestures {
  const ground: Ground = { view, seen, calls, marks: createMarks(view) };
  const stop = new AbortController();
  let press: Press | null = null;
  let last: PointerEvent | null = null;
  let frame = 0;

  const pointerOf = (event: PointerEvent): Pointer => {
    const { left, top } = view.getBoundingClientRect();
    return {
      x: event.clientX - left - view.clientLeft + view.scrollLeft,
      y: event.clientY - top - view.clientTop + view.scrollTop,
      shift: event.shiftKey,
      alt: event.altKey,
      control: event.ctrlKey || event.metaKey,
      touch: event.pointerType === "touch",
    };
  };

  const down = (event: PointerEvent) => {
    if (press || event.button !== 0 || !(event.target instanceof Element)) return;
    // Parts of a layer over the page have gestures of their own.
    if (event.target.closest("[data-own-pointer]")) return;
    // The scroll bars belong to the view, too.
    if (event.offsetX > view.clientWidth && event.target === view) return;
    const { armed, readOnly } = seen();
    const start = pointerOf(event);
    const found = pressOn(ground, event.target, start, { armed, readOnly });
    press = { pointer: event.pointerId, start, gesture: null, moved: false, ...found };
    // Safari gives a pressed button no focus.
    const item = event.target.closest<HTMLElement>("[data-item]");
    (item ?? view).focus({ preventScroll: true });
    found.pressed?.();
    event.preventDefault();
  };

  const move = (event: PointerEvent) => {
    if (!press || event.pointerId !== press.pointer) return;
    last = event;
    if (!press.moved) {
      const { x, y } = pointerOf(event);
      if (Math.hypot(x - press.start.x, y - press.start.y) < slack) return;
      press.moved = true;
      press.gesture = press.begin();
      if (!press.start.touch || press.gesture) view.setPointerCapture(event.pointerId);
    }
    frame ||= requestAnimationFrame(draw);
  };

  const draw = () => {
    frame = 0;
    if (!press?.gesture || !last) return;
    const scrolled = scrollAtEdge(view, last);
    press.gesture.update(pointerOf(last));
    if (scrolled) frame = requestAnimationFrame(draw);
  };

  const end = (event: PointerEvent) => {
    if (!press || event.pointerId !== press.pointer) return;
    const { gesture, moved, click } = press;
    const pointer = pointerOf(event);
    release();
    if (event.type === "pointercancel") gesture?.cancel();
    else if (!moved) click();
    else gesture?.finish(pointer);
  };

  const release = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    press = null;
    last = null;
  };
  const cancel = () => {
    press?.gesture?.cancel();
    release();
  };

  const { signal } = stop;
  view.addEventListener("pointerdown", down, { signal });
  view.addEventListener("pointermove", move, { signal });
  view.addEventListener("pointerup", end, { signal });
  view.addEventListener("pointercancel", end, { signal });
  return {
    active: () => press !== null,
    cancel,
    stop() {
      cancel();
      stop.abort();
    },
  };
}

type Meaning = Pick<Press, "begin" | "click"> & { pressed?: () => void };

/** What a press on something of the page begins. */
function pressOn(
  ground: Ground,
  target: Element,
  start: Pointer,
  { armed, readOnly }: { armed: boolean; readOnly: boolean },
): Meaning {
  const { seen, calls } = ground;
  const item = target.closest<HTMLElement>("[data-item]");
  const id = item?.dataset.item;
  if (armed) {
    if (!target.closest("[data-page]")) return { begin: () => null, click() {} };
    const drawing = drawGesture(ground, start);
    // A finger scrolls to where the field belongs; a tap places it.
    return { begin: () => (start.touch ? null : drawing), click: () => drawing.finish(start) };
  }
  if (id === undefined) {
    const band = bandGesture(ground, start);
    return { begin: () => (start.touch ? null : band), click: () => band.finish(start) };
  }
  const handle = target.closest<HTMLElement>("[data-handle]")?.dataset.handle ?? "";
  if (isHandle(handle) && !readOnly) return { begin: () => resizeGesture(ground, start, id, handle), click() {} };
  const more = start.shift || start.control;
  const wasSelected = seen().selected.includes(id);
  return {
    pressed() {
      if (wasSelected) return;
      calls.select(more ? [...seen().selected, id] : [id]);
    },
    begin: () => (readOnly ? null : moveGesture(ground, start, id)),
    click() {
      if (!wasSelected) return;
      calls.select(more ? seen().selected.filter((other) => other !== id) : [id]);
    },
  };
}

/** @returns whether there was anything left to scroll */
function scrollAtEdge(view: HTMLElement, { clientX, clientY }: PointerEvent): boolean {
  const { left, right, top, bottom } = view.getBoundingClientRect();
  const speed = (at: number, from: number, to: number) => {
    const before = from + edge - at;
    const after = at - (to - edge);
    const strength = Math.min(1, Math.max(before, after, 0) / edge);
    return strength * fastest * (after > before ? 1 : -1);
  };
  const by = [speed(clientX, left, right), speed(clientY, top, bottom)] as const;
  if (by[0] === 0 && by[1] === 0) return false;
  const { scrollLeft, scrollTop } = view;
  view.scrollBy(...by);
  return view.scrollLeft !== scrollLeft || view.scrollTop !== scrollTop;
}
