/**
 * Walks through content and tells where its text and pictures stand: graphics state (ISO 32000-1 §8.4), text state and
 * text matrices (§9.3, §9.4), fonts by their metrics, forms by recursion.
 */
import { type Operation, readOperations, shownParts } from "./content-stream.ts";
import { type DecodingSource, type FontMetrics, fontMetrics, UNKNOWN_FONT } from "./font-metrics.ts";
import { type PdfDict, PdfError, type PdfObject, type PdfStream } from "./objects.ts";
import type { Budget } from "./parser.ts";
import { advanceOf, type Glyph, glyphsOf, type Parts, type TextState } from "./text-line.ts";

/** [a b c d e f] as in `cm`: x' = a x + c y + e, y' = b x + d y + f. */
export type Matrix = readonly [number, number, number, number, number, number];

/** Text that one operator shows. It stands within the rectangle from..to, low..high of the space that `matrix` maps. */
export type Show = {
  operation: Operation;
  parts: Parts;
  font: FontMetrics;
  /** In text space. */
  size: number;
  matrix: Matrix;
  from: number;
  to: number;
  low: number;
  high: number;
  /** Each glyph with its place; null when only the rectangle is known, and that only roughly. */
  glyphs: (() => Glyph[]) | null;
  /** The glyphs are outlines that nothing else depends on. */
  removable: boolean;
};

/** What the walk meets. `depth` is 0 for the content itself and more within forms. */
type Visitor = {
  show: (show: Show, depth: number) => void;
  /** A picture: the unit square under `matrix`. */
  image: (operation: Operation, matrix: Matrix, depth: number) => void;
  /** A form with its bounding box, which clips it; true to walk through it. */
  form: (operation: Operation, matrix: Matrix, box: readonly number[] | null, depth: number) => boolean;
  /** BMC, BDC (with a property list that is a resource) and EMC. */
  marked: (operation: Operation, properties: PdfDict | null, depth: number) => void;
  /** Every operation, after what it changes, with the matrix that it works under. */
  operation?: (operation: Operation, matrix: Matrix, depth: number) => void;
};

/** What may still be spent on walks that share it; see `Budget`. `decode` is in bytes. */
export type Allowance = { budget: Budget; decode: number };

type State = TextState & { matrix: Matrix; leading: number; rise: number; mode: number };

const MAX_FORMS = 12;
const MAX_SAVES = 10_000;

/** `left` first, then `right`. */
export function multiply(left: Matrix, right: Matrix): Matrix {
  const [a, b, c, d, e, f] = left;
  const [g, h, i, j, k, l] = right;
  return [a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + l];
}

/** Walks through content streams of one file. Fonts and forms are read once. */
export class ContentWalk {
  readonly #source: DecodingSource;
  readonly #allowance: Allowance;
  readonly #fonts = new Map<PdfDict, FontMetrics>();
  readonly #forms = new Map<PdfStream, Operation[]>();

  constructor(source: DecodingSource, allowance: Allowance) {
    this.#source = source;
    this.#allowance = allowance;
  }

  /** @throws PdfError `damaged`, `unsupported` or `too-complex` when the content cannot be understood for certain. */
  run(operations: readonly Operation[], resources: PdfDict | null, matrix: Matrix, visitor: Visitor): void {
    new Run({ walk: this, source: this.#source, allowance: this.#allowance, visitor }, resources, {
      ...TEXT,
      matrix,
    }).all(operations);
  }

  /** Decodes a stream within the allowance. @throws PdfError */
  decode(stream: PdfStream): Uint8Array {
    const bytes = this.#source.decode(stream, this.#allowance.decode);
    this.#allowance.decode -= bytes.length;
    if (this.#allowance.decode < 0) throw new PdfError("too-complex", "too much content");
    return bytes;
  }

  form(stream: PdfStream): Operation[] {
    const known = this.#forms.get(stream) ?? readOperations(this.decode(stream), this.#allowance.budget);
    this.#forms.set(stream, known);
    return known;
  }

  font(dict: PdfDict | null): FontMetrics {
    if (!dict) return UNKNOWN_FONT;
    const known = this.#fonts.get(dict) ?? fontMetrics(this.#source, dict, this.#allowance.budget);
    this.#fonts.set(dict, known);
    return known;
  }
}

const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];
const TEXT = { font: UNKNOWN_FONT, size: 0, charSpace: 0, wordSpace: 0, scale: 1, leading: 0, rise: 0, mode: 0 };

type Surroundings = { walk: ContentWalk; source: DecodingSource; allowance: Allowance; visitor: Visitor };
type Handler = (operation: Operation) => void;

/** One content stream, with the state of its walk. */
class Run {
  readonly #in: Surroundings;
  readonly #resources: PdfDict | null;
  readonly #depth: number;
  readonly #saved: State[] = [];
  readonly #handlers: ReadonlyMap<string, Handler>;
  #state: State;
  #line: Matrix = IDENTITY;
  /** How far the pen is from the start of the line, at least and at most. */
  #pen: [number, number] = [0, 0];
  #inText = false;

  constructor(surroundings: Surroundings, resources: PdfDict | null, state: State, depth = 0) {
    this.#in = surroundings;
    this.#resources = resources;
    this.#state = state;
    this.#depth = depth;
    this.#handlers = new Map(Object.entries({ ...this.#graphics(), ...this.#text() }));
  }

  all(operations: readonly Operation[]): void {
    for (const operation of operations) {
      this.#spend(1);
      this.#handlers.get(operation.operator)?.(operation);
      this.#in.visitor.operation?.(operation, this.#state.matrix, this.#depth);
    }
  }

  #spend(units: number): void {
    this.#in.allowance.budget.objects -= units;
    if (this.#in.allowance.budget.objects < 0) throw new PdfError("too-complex", "too much content");
  }

  #graphics(): Record<string, Handler> {
    const marked: Handler = (operation) => {
      const list = this.#in.source.dict(this.#resource("Properties", operation.operands[1]));
      this.#in.visitor.marked(operation, list, this.#depth);
    };
    return {
      q: () => {
        if (this.#saved.push({ ...this.#state }) > MAX_SAVES)
          throw new PdfError("too-complex", "too many saved states");
      },
      Q: () => {
        this.#state = this.#saved.pop() ?? damaged("a restore without a save");
      },
      cm: (operation) => {
        this.#state.matrix = multiply(matrixOf(operation), this.#state.matrix);
      },
      gs: (operation) => this.#external(operation),
      Do: (operation) => this.#object(operation),
      BI: (operation) => this.#in.visitor.image(operation, this.#state.matrix, this.#depth),
      BMC: marked,
      BDC: marked,
      EMC: marked,
    };
  }

  #text(): Record<string, Handler> {
    const set = (key: "charSpace" | "wordSpace" | "leading" | "rise" | "mode" | "scale", factor = 1): Handler => {
      return (operation) => {
        this.#state[key] = last(operation) * factor;
      };
    };
    const nextLine = (): void => this.#moveBy(0, -this.#state.leading);
    return {
      BT: () => {
        this.#inText = true;
        this.#moveTo(IDENTITY);
      },
      ET: () => {
        this.#inText = false;
      },
      Tf: (operation) => {
        this.#setFont(this.#resource("Font", operation.operands.at(-2)), last(operation));
      },
      Tc: set("charSpace"),
      Tw: set("wordSpace"),
      Tz: set("scale", 0.01),
      TL: set("leading"),
      Ts: set("rise"),
      Tr: set("mode"),
      Tm: (operation) => this.#moveTo(matrixOf(operation)),
      Td: (operation) => this.#moveBy(last(operation, 2), last(operation)),
      TD: (operation) => {
        this.#state.leading = -last(operation);
        this.#moveBy(last(operation, 2), last(operation));
      },
      "T*": nextLine,
      Tj: (operation) => this.#show(operation),
      TJ: (operation) => this.#show(operation),
      "'": (operation) => {
        nextLine();
        this.#show(operation);
      },
      '"': (operation) => {
        this.#state.wordSpace = last(operation, 3);
        this.#state.charSpace = last(operation, 2);
        nextLine();
        this.#show(operation);
      },
    };
  }

  #moveTo(line: Matrix): void {
    this.#line = line;
    this.#pen = [0, 0];
  }
  #moveBy(x: number, y: number): void {
    this.#moveTo(multiply([1, 0, 0, 1, x, y], this.#line));
  }

  #show(operation: Operation): void {
    const parts = shownParts(operation.operands.at(-1)) ?? damaged("text that is not a string");
    const state = { ...this.#state };
    const [start] = this.#pen;
    let [low, high] = this.#pen;
    let [from, to] = this.#pen;
    let certain = this.#inText && low === high && state.size !== 0;
    for (const part of parts) {
      this.#spend(typeof part === "number" ? 1 : 1 + (part.bytes.length >> 2));
      const advance = advanceOf(state, part);
      certain &&= advance.certain;
      low += advance.least;
      high += advance.most;
      from = Math.min(from, low);
      to = Math.max(to, high);
    }
    this.#pen = [low, high];
    const { font, size, rise, mode } = state;
    const edges = [rise + font.descent * size, rise + font.ascent * size];
    const glyphs = (): Glyph[] => {
      for (const part of parts) this.#spend(typeof part === "number" ? 1 : part.bytes.length);
      return glyphsOf(state, parts, start);
    };
    const place = { from, to, low: Math.min(...edges), high: Math.max(...edges) };
    const matrix = multiply(this.#line, state.matrix);
    // Modes above 3 add the glyphs to the clipping path (§9.3.6).
    const removable = certain && font.outline && [0, 1, 2, 3].includes(mode);
    const show = { operation, parts, font, size, matrix, ...place, glyphs: certain ? glyphs : null, removable };
    this.#in.visitor.show(show, this.#depth);
  }

  #resource(category: string, key: PdfObject | undefined): PdfObject | undefined {
    const resourceName = this.#in.source.name(key);
    if (resourceName === null) return undefined;
    return this.#in.source.dict(this.#resources?.get(category))?.get(resourceName);
  }

  #setFont(font: PdfObject | undefined, size: number): void {
    this.#state.font = this.#in.walk.font(this.#in.source.dict(font));
    this.#state.size = size;
  }

  /** Graphics state parameters may set the font as well (§8.4.5). */
  #external(operation: Operation): void {
    const dict = this.#in.source.dict(this.#resource("ExtGState", operation.operands.at(-1)));
    if (!dict?.has("Font")) return;
    const [font, size] = this.#in.source.array(dict.get("Font")) ?? [];
    this.#setFont(font, this.#in.source.number(size) ?? 0);
  }

  #object(operation: Operation): void {
    const stream = this.#in.source.stream(this.#resource("XObject", operation.operands.at(-1)));
    const type = this.#in.source.name(stream?.dict.get("Subtype"));
    if (!stream || type === "Image") {
      if (stream) this.#in.visitor.image(operation, this.#state.matrix, this.#depth);
    } else if (type === "Form") this.#form(operation, stream);
  }

  #form(operation: Operation, stream: PdfStream): void {
    const [a, b, c, d, e, f] = this.#numbers(stream.dict.get("Matrix")) ?? IDENTITY;
    const matrix = multiply([a ?? 1, b ?? 0, c ?? 0, d ?? 1, e ?? 0, f ?? 0], this.#state.matrix);
    const box = this.#numbers(stream.dict.get("BBox"));
    if (!this.#in.visitor.form(operation, matrix, box?.length === 4 ? box : null, this.#depth)) return;
    if (this.#depth === MAX_FORMS) throw new PdfError("too-complex", "forms nested too deeply");
    const resources = this.#in.source.dict(stream.dict.get("Resources")) ?? this.#resources;
    new Run(this.#in, resources, { ...this.#state, matrix }, this.#depth + 1).all(this.#in.walk.form(stream));
  }

  #numbers(object: PdfObject | undefined): number[] | null {
    const items = this.#in.source.array(object)?.map((item) => this.#in.source.number(item) ?? Number.NaN);
    return items?.every(Number.isFinite) ? items : null;
  }
}

function damaged(message: string): never {
  throw new PdfError("damaged", message);
}

/** The operand that is `back`th from the end, a number. @throws PdfError `damaged` */
function last({ operator, operands }: Operation, back = 1): number {
  const value = operands.at(-back);
  return typeof value === "number" ? value : damaged(`${operator} without its number`);
}

function matrixOf(operation: Operation): Matrix {
  const at = (back: number): number => last(operation, back);
  return [at(6), at(5), at(4), at(3), at(2), at(1)];
}
