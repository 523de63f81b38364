/** Places on a page that wait for something to be filled in, by their geometry alone. Pure. */
import type { Bounds } from "../whiteout.ts";
import type { Letter, PageContent, Rectangle, Rule } from "./page-content.ts";
import { boundsOfLetters, type Phrase, phrasesOf, type TextLine } from "./text-lines.ts";

export type BlankKind = "filler" | "dots" | "rule" | "frame" | "cell" | "comb" | "check";
/** `bounds` is where something can be written; `inside` is a label that stands in the frame itself. */
export type Blank = { kind: BlankKind; bounds: Bounds; cells: number | null; inside: Phrase | null };

/** `frames` are all rectangles of the page, those of tables too. */
export type Blanks = { blanks: Blank[]; around: Surroundings; frames: Bounds[] };
/** A page without what stands for blanks. */
export type Surroundings = { phrases: Phrase[]; letters: Letter[] };

/** Characters of fonts that draw an empty square to tick. */
const SQUARES = /^[\u2610\u25a1\u25a2\u25fb\u25fd\u2b1c\u274f-\u2752\uf06f\uf071\uf072\uf0a8\uf0a3]$/;
const BRACKETS = /\[[ _]{1,3}\]/g;
const FILLERS = /_(?: ?_){2,}|(?:[.\u2026] ?){8,}|\u2026{3,}/g;
/** What dots lead to in tables of contents and lists of prices. */
const LED_TO = /^\s*(?:[$€£]?\s*\d+(?![\d.]*[).])|[ivxlc]{1,5}\s*$)/i;
/** Too many to be those of a form: a drawing. */
const MAX_RULES = 1500;
const MAX_FRAMES = 3000;
const MAX_FOUND = 1000;
/** Points: ends that differ less meet. */
const MEETS = 2;

/** What may still be spent on the pages of a file: comparisons of two things on a page. */
export type Effort = { left: number };
const NOTHING: Blanks = { blanks: [], around: { phrases: [], letters: [] }, frames: [] };

/** Everything that may be a blank, not yet looked at for what it means. */
export function blanksOf(content: PageContent, lines: readonly TextLine[], effort: Effort): Blanks {
  const upright = lines.filter(({ turn }) => turn === 0);
  const { fillers, squares, spent } = inText(upright);
  const phrases = upright.flatMap((line) => phrasesOf(without(line, spent)));
  const letters = content.letters.filter((letter) => !spent.has(letter) && letter.text.trim() !== "");
  const around = { phrases, letters };
  const shapes = content.rules.length + content.rectangles.length;
  const cost = shapes * (letters.length + shapes) + (fillers.length + squares.length + shapes) * phrases.length;
  // One busy page does not use up what the others need.
  if (cost > effort.left) return NOTHING;
  effort.left -= cost;
  const rules = joined(content.rules);
  const standing = content.rules.filter(({ x0, x1 }) => x0 === x1);
  const frames = framesOf(content.rectangles, rules, standing);
  const found = [
    ...(frames.length > MAX_FRAMES ? [] : combs(frames, around)),
    ...squares,
    ...(frames.length > MAX_FRAMES ? [] : [...checkFrames(frames, around), ...cellsAndFrames(frames, around)]),
    ...fillers,
    ...ruleBlanks(rules, standing, frames, around),
  ];
  return found.length > MAX_FOUND ? NOTHING : { blanks: withoutOverlaps(found), around, frames };
}

/** Runs of underscores and dots, and squares, among the text. */
function inText(lines: readonly TextLine[]): { fillers: Blank[]; squares: Blank[]; spent: Set<Letter> } {
  const fillers: Blank[] = [];
  const squares: Blank[] = [];
  const spent = new Set<Letter>();
  const take = (line: TextLine, from: number, to: number): Letter[] => {
    const own = line.letters.slice(from, to).filter((letter) => letter !== null);
    for (const letter of own) spent.add(letter);
    return own;
  };
  for (const line of lines) {
    for (const match of line.text.matchAll(FILLERS)) {
      const after = line.text.slice(match.index + match[0].length);
      if (!match[0].startsWith("_") && LED_TO.test(after)) continue;
      const own = take(line, match.index, match.index + match[0].trimEnd().length);
      const { x0, x1 } = boundsOfLetters(own);
      // Dots far apart lead the eye to what stands at the end of the line.
      if (!match[0].startsWith("_") && (x1 - x0) / own.length > 0.55 * line.size) continue;
      const height = Math.max(11, 1.2 * line.size);
      const bounds = { x0, x1, y0: line.down - height, y1: line.down + 2 };
      const kind = match[0].startsWith("_") ? "filler" : "dots";
      if (x1 - x0 >= 12) fillers.push({ kind, bounds, cells: null, inside: null });
    }
    const square = (own: Letter[]): void => {
      const { x0, x1 } = boundsOfLetters(own);
      const side = Math.min(Math.max(0.8 * line.size, x1 - x0), 1.2 * line.size);
      const bounds = { x0, x1: x0 + side, y0: line.down - 0.85 * side, y1: line.down + 0.15 * side };
      squares.push({ kind: "check", bounds, cells: null, inside: null });
    };
    for (const [index, letter] of line.letters.entries())
      if (letter && SQUARES.test(letter.text)) square(take(line, index, index + 1));
    for (const match of line.text.matchAll(BRACKETS)) square(take(line, match.index, match.index + match[0].length));
  }
  return { fillers, squares, spent };
}

function without(line: TextLine, spent: ReadonlySet<Letter>): TextLine {
  let text = "";
  const letters: (Letter | null)[] = [];
  for (const [index, letter] of line.letters.entries()) {
    if (letter && spent.has(letter)) continue;
    text += line.text[index] ?? "";
    letters.push(letter);
  }
  return { ...line, text, letters };
}

/** Lying rules; those that are drawn in pieces as one. */
function joined(rules: readonly Rule[]): Rule[] {
  const lying = rules.filter(({ y0, y1, thickness }) => y0 === y1 && thickness <= 3);
  const result: Rule[] = [];
  for (const rule of lying.toSorted((a, b) => a.y0 - b.y0 || a.x0 - b.x0)) {
    const before = result.findLast(
      (other) => Math.abs(other.y0 - rule.y0) < 1 && rule.x0 - other.x1 < 3 && rule.x0 >= other.x0 - 1,
    );
    if (before && result.length - result.indexOf(before) < 40) before.x1 = Math.max(before.x1, rule.x1);
    else result.push({ ...rule });
  }
  return result;
}

/** Rectangles that are drawn as such or by four lines, each once. */
function framesOf(rectangles: readonly Rectangle[], rules: readonly Rule[], standing: readonly Rule[]): Bounds[] {
  const frames: Bounds[] = [];
  const seen = new Set<string>();
  const add = ({ x0, y0, x1, y1 }: Bounds): void => {
    const key = [x0, y0, x1, y1].map((side) => Math.round(side / 1.5)).join(" ");
    if (seen.has(key)) return;
    seen.add(key);
    frames.push({ x0, y0, x1, y1 });
  };
  for (const rectangle of rectangles) if (rectangle.framed) add(rectangle);
  if (rules.length > MAX_RULES || standing.length > MAX_RULES) return frames;
  const sides = standing.toSorted((a, b) => a.x0 - b.x0);
  for (const [index, left] of sides.entries()) {
    const height = left.y1 - left.y0;
    if (height < 5 || height > 250) continue;
    const right = sides
      .slice(index + 1)
      .find((other) => other.x0 - left.x0 > 4 && other.y0 <= left.y0 + MEETS && other.y1 >= left.y1 - MEETS);
    if (!right) continue;
    const spans = (rule: Rule, y: number): boolean =>
      Math.abs(rule.y0 - y) <= MEETS && rule.x0 <= left.x0 + MEETS && rule.x1 >= right.x0 - MEETS;
    const levels = rules.filter(
      (rule) => spans(rule, rule.y0) && rule.y0 >= left.y0 - MEETS && rule.y0 <= left.y1 + MEETS,
    );
    const ys = [...new Set(levels.map(({ y0 }) => Math.round(y0 * 2) / 2))].sort((a, b) => a - b);
    for (const [at, y0] of ys.entries()) {
      const y1 = ys[at + 1];
      if (y1 !== undefined && y1 - y0 >= 5) add({ x0: left.x0, x1: right.x0, y0, y1 });
    }
  }
  return frames;
}

const widthOf = ({ x0, x1 }: Bounds): number => x1 - x0;
const heightOf = ({ y0, y1 }: Bounds): number => y1 - y0;
const lettersIn = ({ letters }: Surroundings, { x0, y0, x1, y1 }: Bounds): Letter[] =>
  letters.filter(({ bounds }) => {
    const [x, y] = [(bounds.x0 + bounds.x1) / 2, bounds.y0 * 0.6 + bounds.y1 * 0.4];
    return x > x0 && x < x1 && y > y0 && y < y1;
  });

/** Whether two frames have most of a side in common. */
function adjoins(a: Bounds, b: Bounds): boolean {
  const beside = Math.abs(a.x1 - b.x0) <= MEETS || Math.abs(b.x1 - a.x0) <= MEETS;
  const above = Math.abs(a.y1 - b.y0) <= MEETS || Math.abs(b.y1 - a.y0) <= MEETS;
  const across = Math.min(a.x1, b.x1) - Math.max(a.x0, b.x0);
  const down = Math.min(a.y1, b.y1) - Math.max(a.y0, b.y0);
  return (
    (beside && down > 0.5 * Math.min(heightOf(a), heightOf(b))) ||
    (above && across > 0.5 * Math.min(widthOf(a), widthOf(b)))
  );
}

/** Rows of equal small frames: one character each. */
function combs(frames: Bounds[], around: Surroundings): Blank[] {
  const small = frames.filter((frame) => {
    const [width, height] = [widthOf(frame), heightOf(frame)];
    return width >= 6 && width <= 32 && height >= 8 && height <= 40;
  });
  const blanks: Blank[] = [];
  const used = new Set<Bounds>();
  for (const first of small.toSorted((a, b) => a.x0 - b.x0)) {
    if (used.has(first)) continue;
    const row = [first];
    for (let last: Bounds | undefined = first; last; ) {
      const here: Bounds = last;
      const next = small.find(
        (other) =>
          other !== here &&
          other.x0 - here.x1 > -MEETS &&
          other.x0 - here.x1 <= 4 &&
          Math.abs(other.y0 - here.y0) <= MEETS &&
          Math.abs(widthOf(other) - widthOf(here)) <= 0.15 * widthOf(here),
      );
      if (next) row.push(next);
      last = next;
    }
    if (row.length < 4 || row.length > 50) continue;
    const bounds = { x0: first.x0, y0: first.y0, x1: row.at(-1)?.x1 ?? first.x1, y1: first.y1 };
    for (const frame of row) used.add(frame);
    if (lettersIn(around, bounds).length === 0) blanks.push({ kind: "comb", bounds, cells: row.length, inside: null });
  }
  for (const frame of used) frames.splice(frames.indexOf(frame), 1);
  return blanks;
}

function checkFrames(frames: Bounds[], around: Surroundings): Blank[] {
  const found = frames.filter((frame) => {
    const [width, height] = [widthOf(frame), heightOf(frame)];
    const square =
      width >= 5.5 && width <= 20 && height >= 5.5 && height <= 20 && Math.abs(width - height) <= 0.3 * height;
    return square && lettersIn(around, frame).length === 0;
  });
  // A drop shadow or a second outline is the same box.
  const outer = found.filter(
    (frame) => !found.some((other) => other !== frame && holds(other, frame) && !holds(frame, other)),
  );
  const alone = outer.filter((frame) => frames.filter((other) => other !== frame && adjoins(frame, other)).length < 2);
  return alone.map((bounds) => ({ kind: "check", bounds, cells: null, inside: null }));
}

const holds = (outer: Bounds, inner: Bounds): boolean =>
  inner.x0 >= outer.x0 - 1 && inner.y0 >= outer.y0 - 1 && inner.x1 <= outer.x1 + 1 && inner.y1 <= outer.y1 + 1;

/** Frames with nothing in them but perhaps a label at their top or left; those that adjoin others are cells. */
function cellsAndFrames(frames: readonly Bounds[], around: Surroundings): Blank[] {
  const blanks: Blank[] = [];
  for (const frame of frames) {
    const [width, height] = [widthOf(frame), heightOf(frame)];
    if (width < 32 || height < 10 || height > 220) continue;
    if (
      frames.some(
        (other) => other !== frame && holds(frame, other) && widthOf(other) * heightOf(other) < 0.9 * width * height,
      )
    )
      continue;
    const kind = frames.some((other) => other !== frame && adjoins(frame, other)) ? "cell" : "frame";
    const inset = { x0: frame.x0 + 1, y0: frame.y0 + 1, x1: frame.x1 - 1, y1: frame.y1 - 1 };
    const within = lettersIn(around, frame);
    if (within.length === 0) {
      blanks.push({ kind, bounds: inset, cells: null, inside: null });
      continue;
    }
    const labels = around.phrases.filter(
      ({ bounds }) =>
        bounds.x0 >= frame.x0 - 1 &&
        bounds.x1 <= frame.x1 + 1 &&
        bounds.y0 >= frame.y0 - 3 &&
        bounds.y1 <= frame.y1 + 3,
    );
    const [label] = labels;
    if (!label || labels.length > 1 || label.letters.length < within.length) continue;
    const below = frame.y1 - label.down - 0.25 * label.size;
    const small = label.size <= (kind === "cell" ? 8 : 9.5);
    if (small && label.down < frame.y0 + 0.5 * height && below >= 10)
      blanks.push({ kind, bounds: { ...inset, y0: label.down + 0.25 * label.size }, cells: null, inside: label });
    else if (label.text.endsWith(":") && label.bounds.x1 < frame.x0 + 0.6 * width && frame.x1 - label.bounds.x1 >= 40)
      blanks.push({ kind, bounds: { ...inset, x0: label.bounds.x1 + 2 }, cells: null, inside: label });
  }
  return blanks;
}

/** Rules with room above them, which are no part of a grid and underline nothing. */
function ruleBlanks(
  rules: readonly Rule[],
  standing: readonly Rule[],
  frames: readonly Bounds[],
  around: Surroundings,
): Blank[] {
  if (rules.length > MAX_RULES) return [];
  const uprights = [
    ...standing,
    ...frames.flatMap(({ x0, x1, y0, y1 }) => [x0, x1].map((x) => ({ x0: x, x1: x, y0, y1 }))),
  ];
  const blanks: Blank[] = [];
  for (const { x0, x1, y0: y } of rules) {
    if (x1 - x0 < 30) continue;
    const inGrid = uprights.some(
      (side) =>
        side.x0 >= x0 - MEETS &&
        side.x0 <= x1 + MEETS &&
        side.y0 <= y + MEETS &&
        side.y1 >= y - MEETS &&
        side.y1 - side.y0 > 4,
    );
    if (inGrid) continue;
    const above = around.letters.filter(
      ({ bounds, down }) => bounds.x1 > x0 + 1 && bounds.x0 < x1 - 1 && down <= y + 1.5 && down > y - 40,
    );
    // A label may stand on the beginning of its own rule.
    const onRule = above.filter(({ down }) => down > y - 9);
    const reach = Math.max(x0, ...onRule.map(({ bounds }) => bounds.x1));
    const begin = onRule.length === 0 ? x0 : reach + 3;
    if (onRule.length > 0 && (reach - x0 > 0.6 * (x1 - x0) || x1 - begin < 40)) continue;
    if (onRule.length > 0 && !/[:：]$/.test(textOf(onRule))) continue;
    const over = above.filter(({ bounds, down }) => bounds.x1 > begin && down <= y - 9);
    const lines = rules.filter((rule) => rule.y0 < y - 2 && rule.y0 > y - 40 && rule.x1 > begin && rule.x0 < x1);
    const free = Math.min(
      28,
      ...over.map(({ down, size }) => y - down - 0.2 * size),
      ...lines.map((rule) => y - rule.y0 - 1),
    );
    if (free < 8) continue;
    blanks.push({ kind: "rule", bounds: { x0: begin, x1, y0: y - free, y1: y - 0.5 }, cells: null, inside: null });
  }
  return blanks;
}

const textOf = (letters: readonly Letter[]): string =>
  letters
    .toSorted((a, b) => a.from - b.from)
    .map(({ text }) => text)
    .join("")
    .trim();

/** The first of those that lie on one another. */
function withoutOverlaps(blanks: readonly Blank[]): Blank[] {
  const kept: Blank[] = [];
  for (const blank of blanks) {
    const { bounds } = blank;
    const taken = kept.some(({ bounds: other }) => {
      const across = Math.min(bounds.x1, other.x1) - Math.max(bounds.x0, other.x0);
      const down = Math.min(bounds.y1, other.y1) - Math.max(bounds.y0, other.y0);
      const smaller = Math.min(widthOf(bounds) * heightOf(bounds), widthOf(other) * heightOf(other));
      return across > 0 && down > 0 && across * down > 0.3 * smaller;
    });
    if (!taken) kept.push(blank);
  }
  return kept;
}
