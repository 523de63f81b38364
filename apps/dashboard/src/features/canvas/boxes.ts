/** Boxes on pages, in points from the top left corner of the page as displayed. Pure. */

export type Size = { width: number; height: number };
export type Rect = Size & { x: number; y: number };
export type Point = { x: number; y: number };

/** No box is smaller, in points: it could not be taken hold of. */
export const leastSide = 4;

const rounded = (points: number) => Math.round(points * 10) / 10;
const floored = (points: number) => Math.floor(points * 10 + 1e-6) / 10;

/** The box moved and, if it must be, made smaller so that it lies on its page, in tenths of a point. */
export function inside<B extends Rect>(box: B, page: Size | undefined): B {
  const length = (wanted: number, side: number) => Math.max(leastSide, Math.min(rounded(wanted), floored(side)));
  const width = length(box.width, page?.width ?? Number.POSITIVE_INFINITY);
  const height = length(box.height, page?.height ?? Number.POSITIVE_INFINITY);
  const place = (wanted: number, side: number) => Math.max(0, Math.min(rounded(wanted), floored(side)));
  const x = place(box.x, (page?.width ?? Number.POSITIVE_INFINITY) - width);
  const y = place(box.y, (page?.height ?? Number.POSITIVE_INFINITY) - height);
  return { ...box, width, height, x, y };
}

/** The smallest box around all of them. */
export function boundsOf(boxes: readonly Rect[]): Rect {
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}

export const overlaps = (a: Rect, b: Rect) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** The box between two corners. */
export function between(a: Point, b: Point): Rect {
  return { x: Math.min(a.x, b.x), y: Math.min(a.y, b.y), width: Math.abs(a.x - b.x), height: Math.abs(a.y - b.y) };
}

export const handles = ["nw", "n", "ne", "e", "se", "s", "sw", "w"] as const;
export type Handle = (typeof handles)[number];
export const isHandle = (text: string): text is Handle => handles.some((handle) => handle === text);

/** -1: the handle moves the left or top edge; 1: the right or bottom one; 0: neither. */
export const sidesOf = (handle: Handle): Point => ({
  x: handle.includes("w") ? -1 : handle.includes("e") ? 1 : 0,
  y: handle.includes("n") ? -1 : handle.includes("s") ? 1 : 0,
});

/**
 * The box after one of its handles was pulled.
 * @param by how far, in points
 * @param options `ratio` keeps width to height, `centre` keeps the middle where it is
 */
export function resized(
  start: Rect,
  handle: Handle,
  by: Point,
  options: { ratio: boolean; centre: boolean; page: Size | undefined },
): Rect {
  const side = sidesOf(handle);
  const { ratio, centre, page } = options;
  const x = { from: start.x, length: start.width, side: side.x, page: page?.width };
  const y = { from: start.y, length: start.height, side: side.y, page: page?.height };
  const width = pulled(x, by.x, centre);
  const height = pulled(y, by.y, centre);
  if (!ratio) return { ...placed(x, width, "x", centre), ...placed(y, height, "y", centre) };
  const [across, down] = [width / start.width, height / start.height];
  const wanted = side.y === 0 ? across : side.x === 0 ? down : Math.max(across, down);
  const least = Math.max(leastSide / start.width, leastSide / start.height);
  const most = Math.min(roomOf(x, centre) / start.width, roomOf(y, centre) / start.height);
  const factor = Math.min(Math.max(wanted, least), most);
  return {
    ...placed(x, start.width * factor, "x", centre),
    ...placed(y, start.height * factor, "y", centre),
  };
}

type Axis = { from: number; length: number; side: number; page: number | undefined };

const pulled = (axis: Axis, by: number, centre: boolean) =>
  Math.min(Math.max(axis.length + axis.side * by * (centre ? 2 : 1), leastSide), roomOf(axis, centre));

/** How long the box can become before it leaves the page. */
function roomOf({ from, length, side, page = Number.POSITIVE_INFINITY }: Axis, centre: boolean): number {
  if (centre || side === 0) return 2 * Math.min(from + length / 2, page - from - length / 2);
  return side > 0 ? page - from : from + length;
}

function placed(axis: Axis, length: number, name: "x", centre: boolean): { x: number; width: number };
function placed(axis: Axis, length: number, name: "y", centre: boolean): { y: number; height: number };
function placed({ from, length: before, side }: Axis, length: number, name: "x" | "y", centre: boolean) {
  const to = centre || side === 0 ? from + (before - length) / 2 : side > 0 ? from : from + before - length;
  return name === "x" ? { x: to, width: length } : { y: to, height: length };
}

/** Points as custom properties: zooming the page moves and sizes all boxes without drawing any of them anew. */
export const placeStyle = ({ x, y, width, height }: Rect) => ({
  "--x": x,
  "--y": y,
  "--width": width,
  "--height": height,
});
