/** Letters of a page put together to lines, as people read them. */
import type { Bounds } from "../whiteout.ts";
import type { Letter } from "./page-content.ts";

/**
 * One line of text. `letters` has, for each character of `text`, the letter that it comes from, null for spaces that stand
 * for a gap.
 */
export type TextLine = {
  text: string;
  letters: (Letter | null)[];
  turn: Letter["turn"];
  /** Points; of most of its letters. */
  size: number;
  /** The baseline, for whoever reads it upright. */
  down: number;
};
/** A part of a line that no wide gap divides. */
export type Phrase = { text: string; bounds: Bounds; size: number; down: number; letters: Letter[] };

/** Ems between letters: what is more is a space, and what is much more begins another phrase. */
const SPACE = 0.2;
const GAP = 1.3;
/** Ems that two letters of one line may differ in height. */
const LEVEL = 0.3;

/** The lines of a page, from the top, each way of turning on its own. */
export function textLines(letters: readonly Letter[]): TextLine[] {
  const lines: TextLine[] = [];
  for (const turn of [0, 1, 2, 3] as const) {
    const own = letters.filter((letter) => letter.turn === turn).sort((a, b) => a.down - b.down || a.from - b.from);
    let level: Letter[] = [];
    for (const letter of own) {
      const first = level[0];
      if (first && letter.down - first.down > LEVEL * Math.max(2, Math.min(first.size, letter.size))) {
        lines.push(lineOf(level, turn));
        level = [];
      }
      level.push(letter);
    }
    if (level.length > 0) lines.push(lineOf(level, turn));
  }
  return lines;
}

function lineOf(level: readonly Letter[], turn: Letter["turn"]): TextLine {
  const sorted = level.toSorted((a, b) => a.from - b.from);
  const letters: (Letter | null)[] = [];
  let text = "";
  let last: Letter | null = null;
  for (const letter of sorted) {
    // Bold type is often made by showing the same letter twice.
    if (last && last.text === letter.text && letter.from - last.from < 0.1 * letter.size && letter.text.trim() !== "")
      continue;
    const gap = last ? letter.from - last.to : 0;
    if (last && gap > SPACE * letter.size && !text.endsWith(" ") && !letter.text.startsWith(" ")) {
      text += " ";
      letters.push(null);
    }
    text += letter.text;
    for (let i = 0; i < letter.text.length; i++) letters.push(letter);
    last = letter;
  }
  const sizes = sorted.map(({ size }) => size).sort((a, b) => a - b);
  return { text, letters, turn, size: sizes[sizes.length >> 1] ?? 0, down: level[0]?.down ?? 0 };
}

/** The phrases of a line, from left to right. */
export function phrasesOf(line: TextLine): Phrase[] {
  const phrases: Phrase[] = [];
  let text = "";
  let own: Letter[] = [];
  let last: Letter | null = null;
  const end = (): void => {
    const seen = own.filter((letter) => letter.text.trim() !== "");
    if (seen.length > 0) {
      const size = Math.max(...seen.map((letter) => letter.size));
      phrases.push({ text: text.trim(), bounds: boundsOfLetters(seen), size, down: line.down, letters: seen });
    }
    text = "";
    own = [];
  };
  for (const [index, letter] of line.letters.entries()) {
    if (!letter) text += " ";
    else {
      if (last && letter !== last && letter.text.trim() !== "") {
        if (letter.from - last.to > GAP * letter.size) end();
      }
      if (letter !== own.at(-1)) own.push(letter);
      text += line.text[index] ?? "";
      if (letter.text.trim() !== "") last = letter;
    }
  }
  end();
  return phrases;
}

export function boundsOfLetters(letters: readonly Letter[]): Bounds {
  const bounds = { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };
  for (const { bounds: own } of letters) {
    bounds.x0 = Math.min(bounds.x0, own.x0);
    bounds.y0 = Math.min(bounds.y0, own.y0);
    bounds.x1 = Math.max(bounds.x1, own.x1);
    bounds.y1 = Math.max(bounds.y1, own.y1);
  }
  return bounds;
}
