import type { OverlayItem } from "../../../../../../server/features/templates/contract.ts";
import { freeId } from "../../canvas/items.ts";
import { changeItem, type Draft, groupOf, partnerOf, removeItem } from "../model.ts";
import type { Colors } from "./colors.ts";
import { type FontLook, lookOf, type Run, type TextLine } from "./text-lines.ts";

/** A line of the document in other words: a white-out over it and a text in its place, which belong together. Pure. */

type TextItem = Extract<OverlayItem, { type: "text" }>;

/** The text that stands in the place of a line, if it was replaced. */
export function replacementOf(draft: Draft, page: number, line: TextLine): TextItem | undefined {
  const middle = { x: line.x + line.width / 2, y: line.baseline - line.ascent / 2 };
  for (const item of draft.items) {
    if (item.type !== "whiteout" || item.page !== page || item.group === undefined) continue;
    const covers =
      item.x <= middle.x && middle.x <= item.x + item.width && item.y <= middle.y && middle.y <= item.y + item.height;
    const text = covers ? partnerOf(draft, item) : undefined;
    if (text?.type === "text") return text;
  }
  return undefined;
}

/** The line with this text: replaced, replaced anew, or as it was when the text is the original one. */
export function replaceLine(
  draft: Draft,
  page: number,
  line: TextLine,
  text: string,
  how: { font: FontLook | undefined; colors: Colors },
): Draft {
  const present = replacementOf(draft, page, line);
  if (present)
    return text === (present.original ?? line.text)
      ? removeItem(draft, present.id)
      : changeItem(draft, present.id, { text });
  if (text === line.text) return draft;
  const group = freeGroup(draft);
  const taken = new Set(draft.items.map(({ id }) => id));
  const { face, isBold, isItalic } = lookOf(how.font ?? { name: "", family: "" });
  const { background, ink } = how.colors;
  const items: OverlayItem[] = [
    ...draft.items,
    {
      id: freeId(taken, "whiteout"),
      type: "whiteout",
      ...(background === "#ffffff" ? {} : { color: background }),
      group,
      ...coverOf(page, line),
    },
    {
      id: freeId(taken, "text"),
      type: "text",
      text,
      group,
      original: line.text,
      ...boxOf(page, line),
      ...(face === "Noto Sans" ? {} : { face }),
      size: rounded(line.size),
      ...(ink === "#000000" ? {} : { color: ink }),
      ...(isBold ? { weight: "bold" } : {}),
      ...(isItalic ? { italic: true } : {}),
      ...(line.isRtl ? { align: "right" } : {}),
      lineHeight: 1.2,
      baseline: rounded(line.ascent + above),
    },
  ];
  return { ...draft, items };
}

/** Points that the box of a text reaches beyond its letters. */
const above = 1;

/** Room of a line, and a little beside it: letters may reach over their advance. */
const coverOf = (page: number, line: TextLine) => ({
  page,
  x: rounded(Math.max(0, line.x - 0.6)),
  y: rounded(Math.max(0, line.baseline - line.ascent)),
  width: rounded(line.width + 1.2),
  height: rounded(line.ascent + line.descent),
});

/** Where the other text goes: as far as there is room, since our face may be wider. A line from the right ends where it ended. */
const boxOf = (page: number, line: TextLine) => ({
  page,
  x: rounded(line.x),
  y: rounded(Math.max(0, line.baseline - line.ascent - above)),
  width: rounded(line.isRtl ? line.width : line.room),
  height: rounded(line.ascent + line.descent + 2 * above),
});

const rounded = (points: number) => Math.round(points * 100) / 100;

function freeGroup({ items }: Draft): string {
  const taken = new Set(items.map(groupOf));
  let number = 1;
  while (taken.has(`line-${number}`)) number += 1;
  return `line-${number}`;
}

type Area = { x: number; y: number; width: number; height: number };

/** The texts of the draft that lie on a white-out, at least in part. */
export function textsOn(draft: Draft, cover: Area & { page: number }): string[] {
  return draft.items.flatMap((item) => {
    const isApart =
      item.page !== cover.page ||
      item.x > cover.x + cover.width ||
      item.x + item.width < cover.x ||
      item.y > cover.y + cover.height ||
      item.y + item.height < cover.y;
    return item.type === "text" && !isApart ? [item.text] : [];
  });
}

/**
 * Whether text is still there under a white-out after the service has taken out what it could.
 * @param runs of the page with the white-outs and texts of the draft applied
 * @param texts that the draft itself puts there
 */
export function isLeftUnder(box: Area, runs: readonly Run[], texts: readonly string[]): boolean {
  const letters = (text: string) => text.normalize("NFKC").replace(/\s+/g, "");
  const own = texts.map(letters);
  const begun = runs.filter(({ matrix: [, , , , x = 0, y = 0] }) => {
    return x >= box.x - 1 && x < box.x + box.width && y >= box.y && y <= box.y + box.height;
  });
  const found = begun.map(({ text }) => letters(text));
  // Ours is part of what we wrote, and there once.
  if (found.join("").length > own.join("").length) return true;
  return begun.some(({ matrix, width }, index) => {
    const isInside = (matrix[4] ?? 0) + width <= box.x + box.width + 1;
    return isInside && !own.some((text) => text.includes(found[index] ?? ""));
  });
}
