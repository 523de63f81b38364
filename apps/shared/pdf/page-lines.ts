import { OPS } from "pdfjs-dist/legacy/build/pdf.mjs";

/** Lines of a page that a person would place fields by: rules, edges of boxes, and what text stands on. Pure. */

type Rect = { x: number; y: number; width: number; height: number };
/** A level line (`axis` y) or an upright one (x), in points from the top left of the page as displayed. */
export type PageLine = { axis: "x" | "y"; at: number; from: number; to: number };
export type PageLines = {
  rules: PageLine[];
  baselines: PageLine[];
  /** Around all text of the page; null when it has none. */
  text: Rect | null;
};

type Matrix = readonly number[];
const unmoved: Matrix = [1, 0, 0, 1, 0, 0];
/** In points. Nothing shorter is a rule, nothing thicker is one line. */
const [shortest, thickest] = [12, 3];
/** A page of a large table has this many; more are a drawing. */
const mostRules = 600;

function product(outer: Matrix, inner: Matrix): Matrix {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = outer;
  const [g = 1, h = 0, i = 0, j = 1, k = 0, l = 0] = inner;
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

const applied = ([a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]: Matrix, x: number, y: number): [number, number] => [
  a * x + c * y + e,
  b * x + d * y + f,
];

const isMatrix = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length === 6 && value.every((number) => typeof number === "number");

/**
 * Rules and edges of boxes that a page's operators draw.
 * @param viewport from the page's own space to points as displayed
 */
export function rulesOf(
  operators: { fnArray: readonly number[]; argsArray: readonly unknown[] },
  viewport: Matrix,
  page: { width: number; height: number },
): PageLine[] {
  const found = new Map<string, PageLine>();
  const stack: Matrix[] = [];
  let matrix = unmoved;
  for (let index = 0; index < operators.fnArray.length && found.size < mostRules; index += 1) {
    const operator = operators.fnArray[index];
    const args = operators.argsArray[index];
    const given: readonly unknown[] = Array.isArray(args) ? args : [];
    if (operator === OPS.save) stack.push(matrix);
    else if (operator === OPS.restore || operator === OPS.paintFormXObjectEnd) matrix = stack.pop() ?? matrix;
    else if (operator === OPS.transform && isMatrix(given)) matrix = product(matrix, given);
    else if (operator === OPS.paintFormXObjectBegin) {
      stack.push(matrix);
      if (isMatrix(given[0])) matrix = product(matrix, given[0]);
    } else if (operator === OPS.constructPath && isDrawn(given[0])) {
      for (const box of boxesOf(given[1], product(viewport, matrix))) {
        for (const line of linesOfBox(box, page))
          found.set(`${line.axis}${Math.round(line.at * 2)} ${Math.round(line.from)}`, line);
      }
    }
  }
  return [...found.values()];
}

const drawing: readonly number[] = [
  OPS.stroke,
  OPS.closeStroke,
  OPS.fill,
  OPS.eoFill,
  OPS.fillStroke,
  OPS.eoFillStroke,
  OPS.closeFillStroke,
  OPS.closeEOFillStroke,
];
/** What only clips is not seen. */
const isDrawn = (operator: unknown) => typeof operator === "number" && drawing.includes(operator);

/** How many numbers follow each step of a path: move, line, two curves, close. */
const lengths = [2, 2, 6, 4, 0];

/** The boxes around the parts of a path that have only level and upright lines. */
function boxesOf(data: unknown, matrix: Matrix): Rect[] {
  const [path] = Array.isArray(data) ? data : [];
  if (!(path instanceof Float32Array)) return [];
  const boxes: Rect[] = [];
  let points: [number, number][] = [];
  let straight = true;
  const finish = () => {
    if (points.length > 1 && straight && isSquare(points)) boxes.push(around(points));
    points = [];
    straight = true;
  };
  for (let at = 0; at < path.length; ) {
    const step = path[at] ?? 0;
    const length = lengths[step];
    if (length === undefined) return boxes;
    if (step === 0) finish();
    if (step === 2 || step === 3) straight = false;
    if (step <= 1) points.push(applied(matrix, path[at + 1] ?? 0, path[at + 2] ?? 0));
    at += 1 + length;
  }
  finish();
  return boxes;
}

const isSquare = (points: readonly [number, number][]) =>
  points.every(([x, y], index) => {
    const [nextX, nextY] = points[(index + 1) % points.length] ?? [x, y];
    return Math.abs(x - nextX) < 0.5 || Math.abs(y - nextY) < 0.5;
  });

function around(points: readonly (readonly [number, number])[]): Rect {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

/** A thin box is one line; another has four. One as large as the page is its background. */
function linesOfBox(box: Rect, page: { width: number; height: number }): PageLine[] {
  const { x, y, width, height } = box;
  if (width > page.width * 0.97 && height > page.height * 0.97) return [];
  const level = (at: number): PageLine => ({ axis: "y", at, from: x, to: x + width });
  const upright = (at: number): PageLine => ({ axis: "x", at, from: y, to: y + height });
  if (height <= thickest) return width >= shortest ? [level(y + height / 2)] : [];
  if (width <= thickest) return height >= shortest ? [upright(x + width / 2)] : [];
  // A tick box is a box, too.
  if (width < shortest / 2 || height < shortest / 2) return [];
  return [level(y), level(y + height), upright(x), upright(x + width)];
}

type Run = { transform: readonly number[]; width: number; height: number };

/** What the level text of a page stands on, and the box around it all. */
export function linesOfText(runs: readonly Run[], viewport: Matrix): Pick<PageLines, "baselines" | "text"> {
  const baselines = new Map<number, PageLine>();
  const corners: [number, number][] = [];
  for (const { transform, width, height } of runs) {
    const [along, aside] = product(viewport, transform);
    if (along === undefined || aside === undefined || along <= 0 || Math.abs(aside) > 0.01 * along) continue;
    const [x, y] = applied(viewport, transform[4] ?? 0, transform[5] ?? 0);
    corners.push([x, y - height], [x + width, y]);
    const key = Math.round(y);
    const before = baselines.get(key);
    const [from, to] = [Math.min(before?.from ?? x, x), Math.max(before?.to ?? x, x + width)];
    baselines.set(key, { axis: "y", at: before?.at ?? y, from, to });
  }
  return { baselines: [...baselines.values()], text: corners.length > 0 ? around(corners) : null };
}
