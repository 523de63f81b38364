/** What all proposals have in common: ids, boxes, texts within the limits of templates. */
import type { PdfPage } from "../pdf/reader.ts";
import type { Box } from "../protocol.ts";
import { displayedSize } from "../stamp.ts";
import type { Bounds } from "../whiteout.ts";

/** The role of fields that name none. */
export const DEFAULT_ROLE = "Signer 1";
const MAX_ID = 64;
/** Points: what is smaller in one direction cannot be filled in. */
const SMALLEST = 2;
const LETTERS: Readonly<Record<string, string>> = {
  ä: "ae",
  ö: "oe",
  ü: "ue",
  Ä: "Ae",
  Ö: "Oe",
  Ü: "Ue",
  ß: "ss",
};

/** Gives out ids that are unique and made of names: the same names in the same order give the same ids. */
export class Ids {
  readonly #taken = new Set<string>();
  /** By word the number that its last id has: thousands of fields may bear one name. */
  readonly #counts = new Map<string, number>();

  /** @param fallback when nothing of the name can stand in an id */
  take(name: string, fallback: string): string {
    const word = slug(name) || fallback;
    for (let count = (this.#counts.get(word) ?? 0) + 1; ; count++) {
      // Not as the editor numbers fields that people place.
      const suffix = count === 1 ? "" : `_${count}`;
      const id = word.slice(0, MAX_ID - suffix.length).replace(/-+$/, "") + suffix;
      if (this.#taken.has(id)) continue;
      this.#taken.add(id);
      this.#counts.set(word, count);
      return id;
    }
  }
}

function slug(name: string): string {
  const latin = name
    .slice(0, 400)
    .replace(/[äöüÄÖÜß]/g, (letter) => LETTERS[letter] ?? letter)
    .normalize("NFKD")
    .replace(/\p{M}/gu, "");
  return latin
    .replace(/[^A-Za-z0-9_]+/g, "-")
    .replace(/^[^A-Za-z]+/, "")
    .replace(/-+$/, "")
    .slice(0, MAX_ID);
}

/** Within the page and rounded to hundredths of a point; null for what is not on the page or too small. */
export function boxOn(page: PdfPage, { x0, y0, x1, y1 }: Bounds): Box | null {
  const { width, height } = displayedSize(page);
  const round = (value: number): number => Math.round(value * 100) / 100;
  const [left, top] = [round(Math.max(0, x0)), round(Math.max(0, y0))];
  const [right, bottom] = [Math.min(width, x1), Math.min(height, y1)];
  const box = { page: page.index + 1, x: left, y: top, width: round(right - left), height: round(bottom - top) };
  return box.width >= SMALLEST && box.height >= SMALLEST ? box : null;
}

/** One line for people to read, at most `limit` characters; undefined when nothing is left. */
export function lineOfText(text: string | null | undefined, limit: number): string | undefined {
  const line = (text ?? "")
    .replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim()
    .slice(0, limit)
    .trim();
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(line) ? line : undefined;
}

/** The area that two boxes share over the area of the first, 0 to 1. */
export function covered(inner: Box, by: Box): number {
  if (inner.page !== by.page) return 0;
  const across = Math.min(inner.x + inner.width, by.x + by.width) - Math.max(inner.x, by.x);
  const down = Math.min(inner.y + inner.height, by.y + by.height) - Math.max(inner.y, by.y);
  const area = inner.width * inner.height;
  return across > 0 && down > 0 && area > 0 ? (across * down) / area : 0;
}
