import type { Rect, Size } from "./boxes.ts";

/** Lines that a moved box falls into line with. Pure. */

export type SnapKind = "field" | "centre" | "margin" | "rule" | "baseline";
/** A line on a page: upright at an x, or level at a y, with where it begins and ends on the other axis. In points. */
export type Line = { axis: "x" | "y"; at: number; from: number; to: number; kind: SnapKind };

/** Where text does not say otherwise: half an inch. */
const usualMargin = 36;
/** How far beside a box a text may stand that its lower edge falls into line with. */
const textReach = 160;

/** Edges and middles of other boxes. */
export function linesOfBoxes(boxes: readonly Rect[]): Line[] {
  return boxes.flatMap(({ x, y, width, height }) => [
    ...[x, x + width / 2, x + width].map((at) => line("x", at, y, y + height, "field")),
    ...[y, y + height / 2, y + height].map((at) => line("y", at, x, x + width, "field")),
  ]);
}

/** The middle of a page and its margins: those of its text, if it has any. */
export function linesOfPage({ width, height }: Size, text: Rect | null): Line[] {
  const [left, top] = text ? [text.x, text.y] : [usualMargin, usualMargin];
  const [right, bottom] = text
    ? [text.x + text.width, text.y + text.height]
    : [width - usualMargin, height - usualMargin];
  return [
    line("x", width / 2, 0, height, "centre"),
    line("y", height / 2, 0, width, "centre"),
    ...[left, right].map((at) => line("x", at, 0, height, "margin")),
    ...[top, bottom].map((at) => line("y", at, 0, width, "margin")),
  ];
}

const line = (axis: "x" | "y", at: number, from: number, to: number, kind: SnapKind): Line => ({
  axis,
  at,
  from,
  to,
  kind,
});

/** The places of a box that may fall into line, on each axis; `bottom` is the one that stands on text. */
export type Probe = { box: Rect; x: readonly number[]; y: readonly number[]; bottom: number | null };

/** All edges and both middles: of a box that is moved as a whole. */
export function probeOf(box: Rect): Probe {
  const bottom = box.y + box.height;
  return {
    box,
    x: [box.x, box.x + box.width / 2, box.x + box.width],
    y: [box.y, box.y + box.height / 2, bottom],
    bottom,
  };
}

export type Snap = { x: number; y: number; lines: Line[] };

/**
 * By how much a box must be moved to fall into line with the nearest line of each axis, and the lines themselves.
 * @param tolerance in points: no move is longer
 */
export function snap(probe: Probe, lines: readonly Line[], tolerance: number): Snap {
  const x = nearest("x", probe, lines, tolerance);
  const y = nearest("y", probe, lines, tolerance);
  return { x: x?.by ?? 0, y: y?.by ?? 0, lines: [x, y].flatMap((found) => (found ? [found.line] : [])) };
}

/** What stands higher wins where two lines are as near. Text lies so close that it must be met more exactly. */
const weights: Record<SnapKind, number> = { field: 1, rule: 1.1, margin: 1.2, centre: 1.2, baseline: 1.8 };

function nearest(axis: "x" | "y", probe: Probe, lines: readonly Line[], tolerance: number) {
  const { box } = probe;
  const [start, end] = axis === "x" ? [box.y, box.y + box.height] : [box.x, box.x + box.width];
  let best: { by: number; line: Line } | null = null;
  let least = tolerance;
  for (const candidate of lines) {
    if (candidate.axis !== axis) continue;
    if (candidate.kind === "baseline" && (candidate.from - end > textReach || start - candidate.to > textReach))
      continue;
    const places = candidate.kind === "baseline" ? [probe.bottom] : probe[axis];
    for (const place of places) {
      if (place === null) continue;
      const by = candidate.at - place;
      const distance = Math.abs(by) * weights[candidate.kind];
      if (distance > least || (best && distance === least)) continue;
      least = distance;
      best = { by, line: { ...candidate, from: Math.min(candidate.from, start), to: Math.max(candidate.to, end) } };
    }
  }
  return best;
}
