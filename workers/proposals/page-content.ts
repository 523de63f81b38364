/** What stands on a page, in points from the top left corner of the page as displayed: letters, rules and rectangles. */
import { type Operation, readOperations } from "../pdf/content-stream.ts";
import { PdfError } from "../pdf/objects.ts";
import type { PdfFile, PdfPage } from "../pdf/reader.ts";
import { type Allowance, ContentWalk, type Matrix, type Show } from "../pdf/text-places.ts";
import { type Bounds, boundsOf, contentOf, toDisplay } from "../whiteout.ts";

/**
 * A letter. `along` and `down` are its place for whoever reads it upright: from `from` to `to` along the line, whose
 * baseline is `down`. `turn` counts the quarters by which its line is turned clockwise.
 */
export type Letter = {
  text: string;
  turn: 0 | 1 | 2 | 3;
  from: number;
  to: number;
  down: number;
  /** Points. */
  size: number;
  bounds: Bounds;
};
/** Of a letter whose place is only roughly known. */
export type Blur = { bounds: Bounds };
/** An axis-parallel line, as a rectangle without area along its middle. */
export type Rule = { x0: number; y0: number; x1: number; y1: number; thickness: number };
/** A rectangle that is drawn. `shade` is the brightness of its filling, 0 to 1, null without one. */
export type Rectangle = Bounds & { framed: boolean; shade: number | null };
export type PageContent = { letters: Letter[]; blurs: Blur[]; rules: Rule[]; rectangles: Rectangle[] };

const DECODE_LIMIT = 48 * 1024 * 1024;
const WORK_LIMIT = 10_000_000;
/** Of a page, and of a file. */
const MAX_LETTERS = 30_000;
const MAX_ALL_LETTERS = 1_000_000;
const MAX_SHAPES = 10_000;
const MAX_ALL_SHAPES = 200_000;
const MAX_POINTS = 64;
const MAX_STATES = 256;
/** Points: a filled rectangle that is thinner is a line. */
const THIN = 2.5;
/** Points: corners that differ less are in one line. */
const STRAIGHT = 0.6;
/** Cosine of the angle up to which a line counts as level: two degrees. */
const LEVEL = 0.9994;
/** Lines brighter than this are not seen on paper. */
const INVISIBLE = 0.97;

/** Reads pages of one file; what all of them together may cost is bounded. */
export class PageReader {
  readonly #file: PdfFile;
  readonly #allowance: Allowance = {
    budget: { objects: WORK_LIMIT, scan: 0, inflate: 0 },
    decode: DECODE_LIMIT,
  };
  readonly #walk: ContentWalk;
  #letters = MAX_ALL_LETTERS;
  #shapes = MAX_ALL_SHAPES;

  constructor(file: PdfFile) {
    this.#file = file;
    this.#walk = new ContentWalk(file, this.#allowance);
  }

  /** Null for content that cannot be understood for certain, or that is too much. */
  read(page: PdfPage): PageContent | null {
    if (this.#letters < 0 || this.#shapes < 0) return null;
    try {
      const collector = new Collector();
      const operations = readOperations(contentOf(this.#file, page, this.#walk), this.#allowance.budget);
      this.#walk.run(operations, page.resources, toDisplay(page), {
        show: (show) => collector.show(show),
        image: () => {},
        form: () => true,
        marked: () => {},
        operation: (operation, matrix, depth) => collector.operation(operation, matrix, depth),
      });
      const { letters, blurs, rules, rectangles } = collector.content;
      this.#letters -= letters.length + blurs.length;
      this.#shapes -= rules.length + rectangles.length;
      return collector.content;
    } catch (error) {
      if (error instanceof PdfError) return null;
      throw error;
    }
  }
}

type Paint = { fill: number; stroke: number; width: number };
type Point = readonly [x: number, y: number];
type Path = { points: Point[]; curved: boolean; closed: boolean };

class Collector {
  readonly content: PageContent = { letters: [], blurs: [], rules: [], rectangles: [] };
  /** By depth: the paint in force, and what `q` saved. */
  readonly #paints: { now: Paint; saved: Paint[] }[] = [{ now: { fill: 0, stroke: 0, width: 1 }, saved: [] }];
  #paths: Path[] = [];

  show(show: Show): void {
    const { matrix, low, high, font } = show;
    const glyphs = show.glyphs?.() ?? null;
    if (!glyphs) {
      this.#keep(this.content.blurs, { bounds: boundsOf(matrix, [show.from, low, show.to, high]) }, MAX_LETTERS);
      return;
    }
    const turn = turnOf(matrix);
    const size = Math.abs(show.size) * Math.hypot(matrix[2], matrix[3]);
    for (const { code, from, to } of glyphs) {
      const text = font.text(code);
      if (turn === null || text === "") {
        const bounds = boundsOf(matrix, [from, low, to, high]);
        if (text.trim() !== "" || text === "") this.#keep(this.content.blurs, { bounds }, MAX_LETTERS);
        continue;
      }
      const [start, end] = [upright(turn, applied(matrix, from, 0)), upright(turn, applied(matrix, to, 0))];
      // The line is level, so two corners tell where it is.
      const bounds = between(applied(matrix, from, low), applied(matrix, to, high));
      const letter = { text, turn, from: start[0], to: end[0], down: start[1], size, bounds };
      this.#keep(this.content.letters, letter, MAX_LETTERS);
    }
  }

  operation({ operator, operands }: Operation, matrix: Matrix, depth: number): void {
    const paint = this.#paintAt(depth);
    const numbers = operands.filter((operand) => typeof operand === "number");
    const at = (index: number): Point => applied(matrix, numbers[index] ?? 0, numbers[index + 1] ?? 0);
    const current = this.#paths.at(-1);
    switch (operator) {
      case "q":
        if (paint.saved.length < MAX_STATES) paint.saved.push({ ...paint.now });
        return;
      case "Q":
        paint.now = paint.saved.pop() ?? paint.now;
        return;
      case "w":
        paint.now.width = (numbers[0] ?? 1) * Math.hypot(matrix[0], matrix[1]);
        return;
      case "g":
      case "rg":
      case "k":
      case "sc":
      case "scn":
        paint.now.fill = brightness(numbers);
        return;
      case "G":
      case "RG":
      case "K":
      case "SC":
      case "SCN":
        paint.now.stroke = brightness(numbers);
        return;
      case "cs":
        paint.now.fill = 0;
        return;
      case "CS":
        paint.now.stroke = 0;
        return;
      case "m":
        this.#begin([at(0)], false);
        return;
      case "l":
        if (current && current.points.length < MAX_POINTS) current.points.push(at(0));
        return;
      case "c":
      case "v":
      case "y":
        if (current) current.curved = true;
        return;
      case "h":
        if (current) current.closed = true;
        return;
      case "re": {
        const [x = 0, y = 0, width = 0, height = 0] = numbers;
        const corner = (u: number, v: number): Point => applied(matrix, x + u, y + v);
        this.#begin([corner(0, 0), corner(width, 0), corner(width, height), corner(0, height)], true);
        return;
      }
      default:
        if (operator in PAINTS) this.#paint(PAINTS[operator] ?? "", paint.now);
    }
  }

  #paintAt(depth: number): { now: Paint; saved: Paint[] } {
    this.#paints.length = Math.min(this.#paints.length, depth + 1);
    let last = this.#paints.at(-1);
    while (!last || this.#paints.length <= depth) {
      last = { now: { ...(last?.now ?? { fill: 0, stroke: 0, width: 1 }) }, saved: [] };
      this.#paints.push(last);
    }
    return last;
  }

  #begin(points: Point[], closed: boolean): void {
    this.#keep(this.#paths, { points, curved: false, closed }, MAX_SHAPES);
  }

  /** `how` holds `f` when the paths are filled, `s` when they are stroked, `h` when they are closed first. */
  #paint(how: string, { fill, stroke, width }: Paint): void {
    const strokes = how.includes("s") && stroke < INVISIBLE;
    const fills = how.includes("f");
    for (const path of this.#paths) {
      if (path.curved || (!strokes && !fills)) continue;
      if (how.includes("h")) path.closed = true;
      const box = rectangleOf(path);
      if (box) this.#rectangle(box, { strokes, shade: fills ? fill : null, width });
      else if (strokes) this.#lines(path, width);
    }
    this.#paths = [];
  }

  #rectangle(box: Bounds, { strokes, shade, width }: { strokes: boolean; shade: number | null; width: number }): void {
    const [across, down] = [box.x1 - box.x0, box.y1 - box.y0];
    if (Math.min(across, down) <= THIN) {
      if (!strokes && (shade === null || shade >= INVISIBLE)) return;
      const [x, y] = [(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2];
      const thickness = Math.min(across, down) + (strokes ? width : 0);
      const rule = across >= down ? { ...box, y0: y, y1: y } : { ...box, x0: x, x1: x };
      if (Math.max(across, down) > THIN) this.#keep(this.content.rules, { ...rule, thickness }, MAX_SHAPES);
    } else this.#keep(this.content.rectangles, { ...box, framed: strokes, shade }, MAX_SHAPES);
  }

  #lines({ points, closed }: Path, thickness: number): void {
    const ends = closed && points[0] ? [...points, points[0]] : points;
    for (const [index, [x1, y1]] of ends.entries()) {
      const before = ends[index - 1];
      if (!before) continue;
      const [x0, y0] = before;
      const flat = Math.abs(y1 - y0) <= STRAIGHT;
      const steep = Math.abs(x1 - x0) <= STRAIGHT;
      if (flat === steep) continue;
      const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
      const rule = flat
        ? { x0: Math.min(x0, x1), x1: Math.max(x0, x1), y0: y, y1: y }
        : { x0: x, x1: x, y0: Math.min(y0, y1), y1: Math.max(y0, y1) };
      this.#keep(this.content.rules, { ...rule, thickness }, MAX_SHAPES);
    }
  }

  #keep<T>(list: T[], item: T, most: number): void {
    if (list.push(item) > most) throw new PdfError("too-complex", "too much on a page");
  }
}

/** Table 60: what painting operators do to the path. */
const PAINTS: Readonly<Record<string, string>> = {
  S: "s",
  s: "sh",
  f: "f",
  F: "f",
  "f*": "f",
  B: "fs",
  "B*": "fs",
  b: "fsh",
  "b*": "fsh",
  n: "",
};

const applied = ([a, b, c, d, e, f]: Matrix, x: number, y: number): Point => [a * x + c * y + e, b * x + d * y + f];

const between = ([ax, ay]: Point, [bx, by]: Point): Bounds => ({
  x0: Math.min(ax, bx),
  y0: Math.min(ay, by),
  x1: Math.max(ax, bx),
  y1: Math.max(ay, by),
});

/** The quarters by which text is turned; null for slanting and mirrored lines. */
function turnOf([a, b, c, d]: Matrix): Letter["turn"] | null {
  const [along, up] = [Math.hypot(a, b), Math.hypot(c, d)];
  // The page's y grows downwards, so upright text has a negative determinant.
  if (along === 0 || up === 0 || a * d - b * c >= 0) return null;
  if (a / along > LEVEL) return 0;
  if (b / along > LEVEL) return 1;
  if (a / along < -LEVEL) return 2;
  return b / along < -LEVEL ? 3 : null;
}

/** A point of the page in the coordinates of text that is turned so. */
export function upright(turn: Letter["turn"], [x, y]: Point): Point {
  switch (turn) {
    case 1:
      return [y, -x];
    case 2:
      return [-x, -y];
    case 3:
      return [-y, x];
    default:
      return [x, y];
  }
}

/** A rectangle without slanting sides; null for every other path. */
function rectangleOf({ points, closed }: Path): Bounds | null {
  const [first, , , , fifth] = points;
  const back = fifth !== undefined && first !== undefined && Math.hypot(fifth[0] - first[0], fifth[1] - first[1]) < 1;
  const corners = points.length === 5 && back ? points.slice(0, 4) : points;
  if (corners.length !== 4 || !(closed || back)) return null;
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  const box = { x0: Math.min(...xs), y0: Math.min(...ys), x1: Math.max(...xs), y1: Math.max(...ys) };
  if (!Object.values(box).every(Number.isFinite)) return null;
  const onEdge = (value: number, ...edges: number[]): boolean =>
    edges.some((edge) => Math.abs(edge - value) <= STRAIGHT);
  return corners.every(([x, y]) => onEdge(x, box.x0, box.x1) && onEdge(y, box.y0, box.y1)) ? box : null;
}

/** 0 for black to 1 for white, of one, three or four components; patterns and others count as black. */
function brightness(components: readonly number[]): number {
  const [first = 0, second = 0, third = 0, fourth = 0] = components;
  if (components.length === 1) return first;
  if (components.length === 3) return 0.3 * first + 0.59 * second + 0.11 * third;
  if (components.length === 4) return Math.max(0, 1 - fourth - (0.3 * first + 0.59 * second + 0.11 * third));
  return 0;
}
