import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  aligned,
  alignments,
  distributed,
  distributions,
  madeEqual,
  sameSizes,
} from "../../apps/dashboard/src/features/canvas/align.ts";
import { boundsOf, handles, inside, type Rect, resized } from "../../apps/dashboard/src/features/canvas/boxes.ts";
import { commandOf, type Keys } from "../../apps/dashboard/src/features/canvas/keys.ts";
import {
  indexAt,
  layOut,
  onPage,
  originOf,
  pagesNear,
  scaleFor,
  zoomStep,
} from "../../apps/dashboard/src/features/canvas/layout.ts";
import { middleOf } from "../../apps/dashboard/src/features/canvas/middle.ts";
import { pagesOf } from "../../apps/dashboard/src/features/canvas/page-range.ts";
import { type Line, linesOfBoxes, linesOfPage, probeOf, snap } from "../../apps/dashboard/src/features/canvas/snap.ts";

/** What the canvas reckons: boxes, lines, pages and keys. */

const sheet = { width: 595.3, height: 841.9 };
const sizeOf = () => sheet;
const tenths = (min: number, max: number) => fc.integer({ min: min * 10, max: max * 10 }).map((value) => value / 10);
const boxOnPage = fc
  .record({
    page: fc.integer({ min: 1, max: 3 }),
    x: tenths(0, 595),
    y: tenths(0, 841),
    width: tenths(4, 595),
    height: tenths(4, 841),
  })
  .map((box) => inside(box, sheet));
const boxes = fc.array(boxOnPage, { minLength: 1, maxLength: 12 });

function expectInside({ x, y, width, height }: Rect): void {
  expect(x).toBeGreaterThanOrEqual(-1e-9);
  expect(y).toBeGreaterThanOrEqual(-1e-9);
  expect(width).toBeGreaterThanOrEqual(4 - 1e-9);
  expect(height).toBeGreaterThanOrEqual(4 - 1e-9);
  expect(x + width).toBeLessThanOrEqual(sheet.width + 1e-6);
  expect(y + height).toBeLessThanOrEqual(sheet.height + 1e-6);
}

describe("boxes", () => {
  test("lie on their page, whatever was asked for", () => {
    const anywhere = fc.double({ min: -2000, max: 2000, noNaN: true });
    fc.assert(
      fc.property(anywhere, anywhere, anywhere, anywhere, (x, y, width, height) => {
        const box = inside({ x, y, width, height }, sheet);
        expectInside(box);
        expect(inside(box, sheet)).toEqual(box);
      }),
    );
  });

  test("are pulled at any handle without leaving the page; the opposite edge or the middle stays", () => {
    const by = fc.record({ x: tenths(-900, 900), y: tenths(-900, 900) });
    fc.assert(
      fc.property(
        boxOnPage,
        fc.constantFrom(...handles),
        by,
        fc.boolean(),
        fc.boolean(),
        (start, handle, to, ratio, centre) => {
          const after = resized(start, handle, to, { ratio, centre, page: sheet });
          expectInside(after);
          if (ratio) expect(after.width / after.height).toBeCloseTo(start.width / start.height, 4);
          if (centre) expect(after.x + after.width / 2).toBeCloseTo(start.x + start.width / 2, 6);
          else if (handle.includes("e")) expect(after.x).toBeCloseTo(start.x, 6);
          else if (handle.includes("w")) expect(after.x + after.width).toBeCloseTo(start.x + start.width, 6);
          if (!ratio && (handle === "n" || handle === "s")) expect(after.width).toBeCloseTo(start.width, 6);
        },
      ),
    );
  });

  test("follow the pointer exactly while there is room", () => {
    const start = { x: 100, y: 100, width: 80, height: 40 };
    const free = { ratio: false, centre: false, page: sheet };
    expect(resized(start, "se", { x: 10, y: 5 }, free)).toEqual({ x: 100, y: 100, width: 90, height: 45 });
    expect(resized(start, "nw", { x: 10, y: 5 }, free)).toEqual({ x: 110, y: 105, width: 70, height: 35 });
    expect(resized(start, "e", { x: 10, y: 5 }, { ...free, centre: true })).toEqual({
      x: 90,
      y: 100,
      width: 100,
      height: 40,
    });
    expect(resized(start, "se", { x: 40, y: 0 }, { ...free, ratio: true })).toEqual({
      x: 100,
      y: 100,
      width: 120,
      height: 60,
    });
  });
});

describe("several boxes", () => {
  test("that are aligned, distributed or made equal stay on their pages", () => {
    fc.assert(
      fc.property(boxes, (all) => {
        for (const how of alignments) for (const box of aligned(all, how, sizeOf)) expectInside(box);
        for (const how of distributions) for (const box of distributed(all, how, sizeOf)) expectInside(box);
        for (const what of sameSizes) for (const box of madeEqual(all, what, sizeOf)) expectInside(box);
      }),
    );
  });

  test("fall into line within the box around them, page by page", () => {
    const on = (page: number, x: number, y: number, width = 100, height = 20) => ({ page, x, y, width, height });
    const three = [on(1, 50, 100), on(1, 80, 150, 60), on(1, 20, 300)];
    expect(aligned(three, "left", sizeOf).map(({ x }) => x)).toEqual([20, 20, 20]);
    expect(aligned(three, "right", sizeOf).map(({ x, width }) => x + width)).toEqual([150, 150, 150]);
    expect(aligned(three, "centre", sizeOf).map(({ x, width }) => x + width / 2)).toEqual([85, 85, 85]);
    expect(aligned(three, "middle", sizeOf).map(({ y }) => y)).toEqual([200, 200, 200]);
    expect(aligned([...three, on(2, 300, 5)], "top", sizeOf).map(({ y }) => y)).toEqual([100, 100, 100, 5]);
    const even = distributed(three, "vertically", sizeOf);
    expect(even.map(({ y }) => y)).toEqual([100, 200, 300]);
    expect(madeEqual(three, "width", sizeOf).map(({ width }) => width)).toEqual([100, 100, 100]);
  });

  test("have the same room between them once distributed, and the outermost stay", () => {
    const apart = fc.array(
      boxOnPage.map((box) => ({ ...box, page: 1, x: Math.min(box.x, 500), width: 10 })),
      { minLength: 3, maxLength: 9 },
    );
    fc.assert(
      fc.property(apart, (all) => {
        const before = boundsOf(all);
        const after = distributed(all, "horizontally", sizeOf);
        const rooms = after.slice(1).map((box, index) => box.x - (after[index]?.x ?? 0) - 10);
        for (const room of rooms) expect(Math.abs(room - (rooms[0] ?? 0))).toBeLessThan(0.21);
        expect(boundsOf(after).x).toBeCloseTo(before.x, 1);
        expect(boundsOf(after).width).toBeCloseTo(before.width, 0);
      }),
    );
  });
});

describe("snapping", () => {
  const rule = (at: number, kind: Line["kind"] = "rule"): Line => ({ axis: "y", at, from: 50, to: 300, kind });

  test("never moves a box further than its tolerance, and never away from a line", () => {
    fc.assert(
      fc.property(boxOnPage, boxes, tenths(1, 12), (box, others, tolerance) => {
        const lines = [...linesOfBoxes(others), ...linesOfPage(sheet, null)];
        const found = snap(probeOf(box), lines, tolerance);
        expect(Math.abs(found.x)).toBeLessThanOrEqual(tolerance);
        expect(Math.abs(found.y)).toBeLessThanOrEqual(tolerance);
        for (const { axis, at } of found.lines) {
          const probe = probeOf({ ...box, x: box.x + found.x, y: box.y + found.y });
          expect(Math.min(...probe[axis].map((place) => Math.abs(place - at)))).toBeLessThan(1e-6);
        }
      }),
    );
  });

  test("finds the nearest line: edges of others, the middle of the page, a printed rule", () => {
    const box = { x: 102, y: 203, width: 100, height: 20 };
    expect(snap(probeOf(box), linesOfBoxes([{ x: 100, y: 400, width: 50, height: 20 }]), 5)).toMatchObject({
      x: -2,
      y: 0,
    });
    expect(snap(probeOf(box), [rule(225)], 5)).toMatchObject({
      x: 0,
      y: 2,
      lines: [{ kind: "rule", from: 50, to: 300 }],
    });
    expect(snap(probeOf(box), [rule(230)], 5).lines).toEqual([]);
    expect(snap(probeOf({ ...box, x: 250 }), linesOfPage({ width: 595, height: 842 }, null), 5).x).toBe(-2.5);
  });

  test("stands a box on text that is beside it, by its lower edge only", () => {
    const box = { x: 320, y: 200, width: 100, height: 20 };
    expect(snap(probeOf(box), [rule(222, "baseline")], 5).y).toBe(2);
    expect(snap(probeOf(box), [rule(201, "baseline")], 5).y).toBe(0);
    expect(snap(probeOf({ ...box, x: 480 }), [rule(222, "baseline")], 5).y).toBe(0);
  });
});

describe("pages", () => {
  const sizes = Array.from({ length: 500 }, (_, index) => ({
    page: index + 1,
    width: index === 6 ? 842 : 595,
    height: index === 6 ? 595 : 842,
  }));

  test("lie below each other; any point belongs to one, and only few are near what is seen", () => {
    const layout = layOut(sizes, 1.3, 800);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), tenths(0, 595), tenths(0, 594), (page, x, y) => {
        const origin = originOf(layout, page);
        const at = { x: origin.x + x * 1.3, y: origin.y + y * 1.3 };
        const found = onPage(layout, at);
        expect(found.page).toBe(page);
        expect(found.x).toBeCloseTo(x, 6);
        expect(found.y).toBeCloseTo(y, 6);
        const [first, last] = pagesNear(layout, at.y, 700, 350);
        expect(first).toBeLessThanOrEqual(page);
        expect(last).toBeGreaterThanOrEqual(page);
        expect(last - first).toBeLessThan(4);
      }),
    );
    expect(indexAt(layout, -50)).toBe(0);
    expect(onPage(layout, { x: 0, y: 1e9 }).page).toBe(500);
    expect(indexAt(layOut([], 1, 100), 50)).toBe(0);
  });

  test("are shown as large as is asked for", () => {
    const frame = { width: 627, height: 600 };
    expect(scaleFor({ fit: "width", page: 1 }, sizes, frame)).toBe(1);
    expect(scaleFor({ fit: "page", page: 1 }, sizes, frame)).toBeCloseTo(568 / 842);
    expect(scaleFor({ fit: "auto", page: 1 }, sizes, { width: 2000, height: 900 })).toBe(1.4);
    expect(scaleFor({ fit: null, zoom: 1 }, sizes, frame)).toBeCloseTo(96 / 72);
    expect([zoomStep(0.58, 1), zoomStep(1, 1), zoomStep(4, 1), zoomStep(1, -1), zoomStep(0.39, -1)]).toEqual([
      0.67, 1.1, 4, 0.9, 0.39,
    ]);
  });

  test("are named one by one, in ranges, or as odd and even ones", () => {
    const range = (text: string) => pagesOf({ kind: "range", text }, 10);
    expect(range("1-3, 7; 2, 9-")).toEqual([1, 2, 3, 7, 9, 10]);
    for (const wrong of ["", "0", "11", "3-1", "1-11", "a", "1 2", "-3", "1,,2", "1e3"])
      expect(range(wrong), wrong).toBeNull();
    expect(pagesOf({ kind: "odd" }, 5)).toEqual([1, 3, 5]);
    expect(pagesOf({ kind: "even" }, 5)).toEqual([2, 4]);
    expect(pagesOf({ kind: "all" }, 3)).toEqual([1, 2, 3]);
  });

  test("take what is placed without pointing in the middle of what is seen, beside what is there", () => {
    const layout = layOut(sizes, 1, 700);
    const view = { left: 87, top: 3000, width: 700, height: 600 };
    const at = middleOf(layout, view, []);
    expect(at).toMatchObject({ page: 4, x: 297.5 });
    const there = { id: "a", type: "whiteout" as const, page: 4, x: at.x - 50, y: at.y - 10, width: 100, height: 20 };
    expect(middleOf(layout, view, [there]).y).toBeGreaterThan(at.y + 15);
  });
});

test("keys mean what the help says", () => {
  const none = { code: "", shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };
  const pressed = (key: string, held: Partial<Keys> = {}) => commandOf({ ...none, key, ...held });
  expect(pressed("ArrowLeft")).toEqual({ do: "move", x: -1, y: 0 });
  expect(pressed("ArrowDown", { shiftKey: true })).toEqual({ do: "move", x: 0, y: 10 });
  expect(pressed("ArrowDown", { ctrlKey: true })).toEqual({ do: "resize", x: 0, y: 1 });
  expect(pressed("ArrowRight", { altKey: true, shiftKey: true })).toEqual({ do: "resize", x: 10, y: 0 });
  expect(pressed("a", { metaKey: true })).toEqual({ do: "all" });
  expect(pressed("å", { code: "KeyA", altKey: true })).toEqual({ do: "align", how: "left" });
  expect(pressed("H", { code: "KeyH", altKey: true, shiftKey: true })).toEqual({
    do: "distribute",
    how: "horizontally",
  });
  expect(pressed("Tab", { shiftKey: true })).toEqual({ do: "step", by: -1 });
  expect(pressed("3")).toEqual({ do: "role", index: 2 });
  expect(pressed("?", { shiftKey: true })).toEqual({ do: "help" });
  for (const [key, held] of [
    ["a", {}],
    ["z", { ctrlKey: true }],
    ["c", { ctrlKey: true }],
    ["q", { code: "KeyQ", altKey: true }],
  ] as const)
    expect(pressed(key, held), key).toBeNull();
});
