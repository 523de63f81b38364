import { translator } from "../../../../shared/i18n.ts";
import { type Alignment, aligned, type Distribution, distributed, madeEqual, type SameSize } from "./align.ts";
import { inside, leastSide } from "./boxes.ts";
import { pasted, readItems, writeItems } from "./clipboard.ts";
import {
  assigned,
  beside,
  chosen,
  copiedToPages,
  type Items,
  inReadingOrder,
  type SizeOf,
  shifted,
  withBoxes,
  withCopies,
  without,
} from "./items.ts";
import { sayMoved, sayResized, subject } from "./words.ts";

/** What can be done to the chosen items, each said aloud. */

export type Stage = {
  items: Items;
  selected: readonly string[];
  roles: readonly string[];
  /** The role that new fields are for. */
  role: string;
  pages: number;
  /** The page that is looked at. */
  page: number;
  sizeOf: SizeOf;
  select: (ids: readonly string[]) => void;
  /** @param kind changes of one kind that follow each other are undone together */
  change: (items: Items, kind: string | null) => void;
  announce: (words: string) => void;
  /** Shows the item and gives it the focus. */
  show: (id: string) => void;
};

export type Actions = ReturnType<typeof actionsOn>;

/** @param stage read when something is done */
export function actionsOn(stage: () => Stage) {
  const t = translator("templates");
  const on = () => {
    const now = stage();
    return { ...now, picked: chosen(now.items, now.selected) };
  };
  /** New items are the chosen ones. */
  const added = (made: { items: Items; ids: string[] } | null, say: (made: Items) => string) => {
    const { announce, change, select, show } = stage();
    if (made === null) return announce(t("canvas.tooMany"));
    if (made.ids.length === 0) return;
    change(made.items, null);
    select(made.ids);
    announce(say(chosen(made.items, made.ids)));
    const [first] = made.ids;
    if (first !== undefined) show(first);
  };
  const together = (change: (picked: Items, sizeOf: SizeOf) => Items, least: number, words: string) => {
    const { items, picked, sizeOf, change: keep, announce } = on();
    if (picked.length < least) return announce(t("canvas.chooseMore", { count: least }));
    keep(withBoxes(items, [...change(picked, sizeOf)]), null);
    announce(words);
  };
  const count = () => stage().selected.length;

  return {
    move(x: number, y: number): void {
      const { items, picked, selected, sizeOf, change, announce } = on();
      const moved = shifted(picked, { x, y, pages: 0 }, sizeOf);
      change(withBoxes(items, moved), `move ${selected.join(" ")}`);
      announce(sayMoved(t, moved));
    },
    resize(x: number, y: number): void {
      const { items, picked, selected, sizeOf, change, announce } = on();
      const grown = picked.map((item) => {
        const size = sizeOf(item.page);
        const most = (side: number | undefined, from: number) => (side === undefined ? 20_000 : side - from);
        const width = Math.min(most(size?.width, item.x), Math.max(leastSide, item.width + x));
        const height = Math.min(most(size?.height, item.y), Math.max(leastSide, item.height + y));
        return inside({ ...item, width, height }, size);
      });
      change(withBoxes(items, grown), `resize ${selected.join(" ")}`);
      const [first] = grown;
      if (first) announce(sayResized(t, first));
    },
    remove(): void {
      const { items, picked, selected, select, change, announce } = on();
      if (picked.length === 0) return;
      change(without(items, selected), null);
      select([]);
      announce(t("canvas.removed", { what: subject(t, picked) }));
    },
    duplicate(): void {
      const { items, picked, sizeOf } = on();
      const made = withCopies(items, picked, (item) => beside(items, item, sizeOf));
      added(made, (copies) => t("canvas.duplicated", { what: subject(t, copies) }));
    },
    copyToPages(pages: readonly number[]): void {
      const { items, selected, sizeOf, change, announce } = stage();
      const made = copiedToPages(items, selected, pages, sizeOf);
      if (made !== null) change(made.items, null);
      announce(
        made === null
          ? t("canvas.tooMany")
          : t("canvas.copiedToPages", { count: made.ids.length, pages: pages.length }),
      );
    },
    assign(role: string): void {
      const { items, picked, selected, change, announce } = on();
      change(assigned(items, selected, role), null);
      announce(t("canvas.assigned", { count: picked.length, role }));
    },
    align: (how: Alignment) =>
      together((picked, sizeOf) => aligned(picked, how, sizeOf), 2, t(`canvas.aligned.${how}`, { count: count() })),
    distribute: (how: Distribution) =>
      together(
        (picked, sizeOf) => distributed(picked, how, sizeOf),
        3,
        t(`canvas.distributed.${how}`, { count: count() }),
      ),
    equal: (what: SameSize) =>
      together((picked, sizeOf) => madeEqual(picked, what, sizeOf), 2, t(`canvas.equal.${what}`, { count: count() })),
    /** All of the page that is looked at. */
    selectAll(): void {
      const { items, page, select, announce } = stage();
      const all = inReadingOrder(items.filter((item) => item.page === page));
      select(all.map(({ id }) => id));
      announce(t("canvas.selected", { count: all.length }));
    },
    /** The next or previous item in reading order. @returns false at the end, where the focus goes on */
    step(by: 1 | -1): boolean {
      const { items, selected, page, select, show } = stage();
      const order = inReadingOrder(items);
      const at = order.findIndex(({ id }) => id === selected.at(-1));
      const next =
        at !== -1 ? order[at + by] : by > 0 ? (order.find((item) => item.page >= page) ?? order[0]) : undefined;
      if (!next) return false;
      select([next.id]);
      show(next.id);
      return true;
    },
    /** @returns what belongs on the clipboard; null when nothing is chosen */
    copied(): string | null {
      const { picked, announce } = on();
      if (picked.length === 0) return null;
      announce(t("canvas.copied", { what: subject(t, picked) }));
      return writeItems(picked);
    },
    /** @returns whether the text was written by `copied` */
    paste(text: string): boolean {
      const copied = readItems(text);
      if (copied === null) return false;
      const { items, ...at } = stage();
      added(pasted(items, copied, at), (made) => t("canvas.pasted", { what: subject(t, made), page: at.page }));
      return true;
    },
  };
}
