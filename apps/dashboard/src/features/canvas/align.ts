import { boundsOf, inside, type Rect, type Size } from "./boxes.ts";

/** Several boxes brought into line with each other. Pure. */

export const alignments = ["left", "centre", "right", "top", "middle", "bottom"] as const;
export type Alignment = (typeof alignments)[number];
export const distributions = ["horizontally", "vertically"] as const;
export type Distribution = (typeof distributions)[number];
export const sameSizes = ["width", "height", "size"] as const;
export type SameSize = (typeof sameSizes)[number];

type PageRect = Rect & { page: number };
type SizeOf = (page: number) => Size | undefined;

/** Boxes of one page fall into line with each other; the left of one page has nothing to do with that of another. */
export function aligned<B extends PageRect>(boxes: readonly B[], how: Alignment, sizeOf: SizeOf): B[] {
  return eachPage(boxes, (group) => {
    const all = boundsOf(group);
    return group.map((box) => inside({ ...box, ...placeIn(all, box, how) }, sizeOf(box.page)));
  });
}

function placeIn(all: Rect, box: Rect, how: Alignment): Partial<Rect> {
  switch (how) {
    case "left":
      return { x: all.x };
    case "centre":
      return { x: all.x + (all.width - box.width) / 2 };
    case "right":
      return { x: all.x + all.width - box.width };
    case "top":
      return { y: all.y };
    case "middle":
      return { y: all.y + (all.height - box.height) / 2 };
    case "bottom":
      return { y: all.y + all.height - box.height };
  }
}

/** The same room between each two neighbours of a page; the outermost stay. */
export function distributed<B extends PageRect>(boxes: readonly B[], how: Distribution, sizeOf: SizeOf): B[] {
  const [from, length] = how === "horizontally" ? (["x", "width"] as const) : (["y", "height"] as const);
  return eachPage(boxes, (group) => {
    if (group.length < 3) return [...group];
    const all = boundsOf(group);
    const room = (all[length] - group.reduce((sum, box) => sum + box[length], 0)) / (group.length - 1);
    let next = all[from];
    return group
      .toSorted((a, b) => a[from] - b[from])
      .map((box) => {
        const moved = inside({ ...box, [from]: next }, sizeOf(box.page));
        next += box[length] + room;
        return moved;
      });
  });
}

/** As wide, as high, or both, as the first of them. */
export function madeEqual<B extends PageRect>(boxes: readonly B[], what: SameSize, sizeOf: SizeOf): B[] {
  const [first] = boxes;
  if (!first) return [];
  const size = {
    ...(what === "height" ? {} : { width: first.width }),
    ...(what === "width" ? {} : { height: first.height }),
  };
  return boxes.map((box) => inside({ ...box, ...size }, sizeOf(box.page)));
}

function eachPage<B extends PageRect>(boxes: readonly B[], change: (group: readonly B[]) => B[]): B[] {
  const pages = [...new Set(boxes.map(({ page }) => page))];
  return pages.flatMap((page) => change(boxes.filter((box) => box.page === page)));
}
