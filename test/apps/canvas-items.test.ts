import fc from "fast-check";
import { OPS } from "pdfjs-dist/legacy/build/pdf.mjs";
import { describe, expect, test } from "vitest";
import { inside } from "../../apps/dashboard/src/features/canvas/boxes.ts";
import { pasted, readItems, writeItems } from "../../apps/dashboard/src/features/canvas/clipboard.ts";
import { within } from "../../apps/dashboard/src/features/canvas/gesture-draw.ts";
import {
  assigned,
  beside,
  byPage,
  chosen,
  copiedToPages,
  type Items,
  inReadingOrder,
  shifted,
  withBoxes,
  withCopies,
  without,
} from "../../apps/dashboard/src/features/canvas/items.ts";
import { layOut } from "../../apps/dashboard/src/features/canvas/layout.ts";
import { createDraftStore } from "../../apps/dashboard/src/features/templates/draft-store.ts";
import { withItems } from "../../apps/dashboard/src/features/templates/model.ts";
import { linesOfText, rulesOf } from "../../apps/shared/pdf/page-lines.ts";
import { defaultSettings, OverlayItem, Role, templateLimits } from "../../server/features/templates/contract.ts";

/** What is done to the items on the pages, and what is read from the pages for it. */

const sheet = { width: 595, height: 842 };
const sizeOf = () => sheet;
const field = (id: string, more: object = {}): OverlayItem =>
  OverlayItem.parse({
    id,
    type: "text_input",
    role: "Tenant",
    page: 1,
    x: 100,
    y: 100,
    width: 100,
    height: 20,
    ...more,
  });
const ids = (items: Items) => items.map(({ id }) => id);
const at = ({ page, x, y }: OverlayItem) => [page, x, y];

describe("items", () => {
  test("are moved within their page, with the boxes of their choices; what did not move is the same as before", () => {
    const options = [{ value: "a", box: { page: 1, x: 110, y: 105, width: 10, height: 10 } }, { value: "b" }];
    const items = [
      field("text_input-1"),
      field("radio-1", { type: "radio", options }),
      field("text_input-2", { page: 2 }),
    ];
    const moved = withBoxes(items, shifted(chosen(items, ["radio-1"]), { x: -500, y: 30, pages: 1 }, sizeOf));
    expect(moved[0]).toBe(items[0]);
    expect(moved[1]).toMatchObject({
      page: 2,
      x: 0,
      y: 130,
      options: [{ box: { page: 2, x: 10, y: 135 } }, { value: "b" }],
    });
    expect(withBoxes(moved, [])).toBe(moved);
    expect(withBoxes(items, items)).toBe(items);
  });

  test("are read from top to bottom, and a page's list stays while nothing on it changes", () => {
    const items = [field("c", { y: 300 }), field("b", { x: 300 }), field("a"), field("d", { page: 2, y: 1 })];
    expect(ids(inReadingOrder(items))).toEqual(["a", "b", "c", "d"]);
    const before = byPage(items, new Map());
    const after = byPage(withBoxes(items, [field("d", { page: 2, y: 9 })]), before);
    expect(after.get(1)).toBe(before.get(1));
    expect(after.get(2)).not.toBe(before.get(2));
  });

  test("are copied under new ids; what they say about each other goes along", () => {
    const items = [
      field("checkbox-1", { type: "checkbox" }),
      field("text_input-1", { visibleWhen: { field: "checkbox-1", in: [true] } }),
      OverlayItem.parse({
        id: "text-1",
        type: "text",
        text: "x",
        group: "g",
        page: 1,
        x: 1,
        y: 1,
        width: 10,
        height: 10,
      }),
    ];
    const made = withCopies(items, items, (item) => beside(items, item, sizeOf));
    expect(made?.ids).toEqual(["checkbox-2", "text_input-2", "text-2"]);
    expect(made?.items[4]).toMatchObject({ x: 112, y: 112, visibleWhen: { field: "checkbox-2" } });
    expect(made?.items[5]).not.toHaveProperty("group");
    const alone = withCopies([], items.slice(1, 2), (item) => item);
    expect(alone?.items[0]).not.toHaveProperty("visibleWhen");
    const full = Array.from({ length: templateLimits.fields }, (_, index) => field(`f${index}`));
    expect(withCopies(full, full.slice(0, 1), (item) => item)).toBeNull();
  });

  test("go to further pages, not onto their own, and never beyond the limit", () => {
    const items = [field("text_input-1"), field("text_input-2", { page: 3, y: 830 })];
    const made = copiedToPages(items, ["text_input-1", "text_input-2"], [1, 2, 3], (page) =>
      page === 2 ? { width: 300, height: 400 } : sheet,
    );
    expect(made?.items.slice(2).map(at)).toEqual([
      [1, 100, 822],
      [2, 100, 100],
      [2, 100, 380],
      [3, 100, 100],
    ]);
    const pages = Array.from({ length: 500 }, (_, index) => index + 1);
    expect(copiedToPages(items.slice(0, 1), ["text_input-1"], pages, sizeOf)?.items).toHaveLength(500);
    expect(copiedToPages(items, ids(items), pages, sizeOf)).toBeNull();
  });

  test("are given to a role, removed, and met by a box drawn around them", () => {
    const items = [
      field("a"),
      field("b", { page: 2 }),
      OverlayItem.parse({ id: "t", type: "text", text: "x", page: 1, x: 5, y: 5, width: 9, height: 9 }),
    ];
    expect(assigned(items, ["a", "t"], "Landlord").map((item) => ("role" in item ? item.role : null))).toEqual([
      "Landlord",
      "Tenant",
      null,
    ]);
    expect(ids(without(items, ["a"]))).toEqual(["b", "t"]);
    const layout = layOut(
      [1, 2].map((page) => ({ page, ...sheet })),
      1,
      627,
    );
    expect(within(items, layout, { x: 16, y: 16, width: 110, height: 110 })).toEqual(["t", "a"]);
    expect(within(items, layout, { x: 16, y: 300, width: 110, height: 900 })).toEqual(["b"]);
  });
});

describe("the clipboard", () => {
  test("carries items to another page and another template", () => {
    const items = [field("text_input-1"), field("text_input-2", { page: 2, role: "Landlord" })];
    const copied = readItems(writeItems(items));
    expect(copied).toEqual(items);
    const target = { page: 4, pages: 4, roles: ["Tenant"], role: "Tenant", sizeOf };
    const made = pasted(items, copied ?? [], target);
    expect(made?.items.slice(2).map(at)).toEqual([
      [4, 100, 100],
      [4, 100, 100],
    ]);
    expect(made?.items.slice(2)).toMatchObject([{ id: "text_input-3" }, { id: "text_input-4", role: "Tenant" }]);
    // Where it was copied from, a copy lies beside its original.
    expect(pasted(items, items.slice(0, 1), { ...target, page: 1 })?.items[2]).toMatchObject({ x: 112, y: 112 });
  });

  test("takes nothing else", () => {
    for (const text of [
      "",
      "hello",
      "{",
      '{"signet":"fields"',
      '{"signet":"fields","items":[]}',
      '{"signet":"fields","items":[{"id":"x"}]}',
    ])
      expect(readItems(text), text).toBeNull();
  });
});

test("whatever is done to the items, undoing restores them exactly, step by step, and doing again repeats it", () => {
  const first = [field("text_input-1"), field("text_input-2", { page: 2, y: 300 }), field("text_input-3", { x: 300 })];
  const draft = {
    name: "n",
    file: "f",
    items: first,
    roles: [Role.parse({ name: "Tenant" })],
    variables: [],
    settings: defaultSettings,
  };
  const shift = fc.record({ x: fc.integer({ min: -900, max: 900 }), y: fc.integer({ min: -900, max: 900 }) });
  const steps = fc.array(
    fc.oneof(
      shift.map((by) => (items: Items) => withBoxes(items, shifted(items.slice(0, 2), { ...by, pages: 0 }, sizeOf))),
      fc.constant((items: Items) => without(items, ids(items).slice(0, 1))),
      fc.constant(
        (items: Items) => withCopies(items, items.slice(-2), (item) => beside(items, item, sizeOf))?.items ?? items,
      ),
      fc.constant((items: Items) => copiedToPages(items, ids(items).slice(0, 1), [1, 2, 3], sizeOf)?.items ?? items),
      fc.constant((items: Items) => assigned(items, ids(items), "Landlord")),
    ),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(steps, (list) => {
      const store = createDraftStore({ draft, contentHash: "a", send: () => new Promise(() => {}) });
      const seen = [draft.items as Items];
      for (const step of list) {
        const before = store.snapshot().draft;
        store.edit((now) => withItems(now, step(now.items)));
        if (store.snapshot().draft !== before) seen.push(store.snapshot().draft.items);
      }
      for (const items of seen.toReversed().slice(1)) {
        store.undo();
        expect(store.snapshot().draft.items).toEqual(items);
      }
      expect(store.snapshot().canUndo).toBe(false);
      for (const items of seen.slice(1)) {
        store.redo();
        expect(store.snapshot().draft.items).toEqual(items);
      }
      for (const item of store.snapshot().draft.items) expect(inside(item, sheet)).toEqual(item);
      store.stop();
    }),
  );
});

describe("what is printed on a page", () => {
  /** From the page's own space, whose y grows upwards. */
  const viewport = [1, 0, 0, -1, 0, 842];
  const path = (...numbers: number[]) => [new Float32Array(numbers)];

  test("is read as rules and edges of boxes, wherever the page's matrix puts them", () => {
    const operators = [
      [OPS.constructPath, [OPS.stroke, path(0, 70, 142, 1, 260, 142)]],
      [OPS.save, null],
      [OPS.transform, [2, 0, 0, 2, 10, 0]],
      [OPS.constructPath, [OPS.fill, path(0, 45, 300, 1, 145, 300, 1, 145, 310, 1, 45, 310, 4)]],
      [OPS.restore, null],
      // Only clips, is a curve, is the background, is too short.
      [OPS.constructPath, [OPS.endPath, path(0, 70, 500, 1, 260, 500)]],
      [OPS.constructPath, [OPS.stroke, path(0, 70, 510, 2, 80, 510, 90, 510, 200, 510)]],
      [OPS.constructPath, [OPS.fill, path(0, 0, 0, 1, 595, 0, 1, 595, 842, 1, 0, 842, 4)]],
      [OPS.constructPath, [OPS.stroke, path(0, 70, 520, 1, 75, 520)]],
      [
        OPS.paintFormXObjectBegin,
        [
          [1, 0, 0, 1, 0, 100],
          [0, 0, 595, 842],
        ],
      ],
      [OPS.constructPath, [OPS.stroke, path(0, 300, 42, 1, 300, 142)]],
      [OPS.paintFormXObjectEnd, null],
    ] as const;
    const rules = rulesOf(
      { fnArray: operators.map(([name]) => name), argsArray: operators.map(([, args]) => args) },
      viewport,
      sheet,
    );
    expect(rules).toEqual([
      { axis: "y", at: 700, from: 70, to: 260 },
      { axis: "y", at: 222, from: 100, to: 300 },
      { axis: "y", at: 242, from: 100, to: 300 },
      { axis: "x", at: 100, from: 222, to: 242 },
      { axis: "x", at: 300, from: 222, to: 242 },
      { axis: "x", at: 300, from: 600, to: 700 },
    ]);
  });

  test("is read as what text stands on, runs of one line together", () => {
    const run = (x: number, y: number, width: number, transform = [11, 0, 0, 11, x, y]) => ({
      transform,
      width,
      height: 11,
    });
    const { baselines, text } = linesOfText(
      [run(70, 700, 100), run(180, 700.2, 50), run(70, 600, 30), run(500, 300, 80, [0, 11, -11, 0, 500, 300])],
      viewport,
    );
    expect(baselines).toEqual([
      { axis: "y", at: 142, from: 70, to: 230 },
      { axis: "y", at: 242, from: 70, to: 100 },
    ]);
    expect(text).toMatchObject({ x: 70, width: 160 });
    expect(linesOfText([], viewport)).toEqual({ baselines: [], text: null });
  });
});
