/**
 * Takes out of a page's content what lies under its white-outs. What was there before stays in the earlier revision of
 * the file, as everything does: a white-out is no redaction.
 */
import { type Edit, type Operation, readOperations, spliced } from "./pdf/content-stream.ts";
import { PdfDict, PdfError, type PdfObject, type PdfRef, PdfString } from "./pdf/objects.ts";
import type { PdfFile, PdfPage } from "./pdf/reader.ts";
import type { Revision } from "./pdf/revision.ts";
import { ByteWriter, writeObject } from "./pdf/serialize.ts";
import type { Glyph } from "./pdf/text-line.ts";
import { type Allowance, ContentWalk, type Matrix, multiply, type Show } from "./pdf/text-places.ts";
import type { Box, Drawing, Warning } from "./protocol.ts";

/** The new content of a page, null where nothing was taken out, and warnings where something had to stay. */
type Removal = { contents: PdfRef | null; warnings: Warning[] };

export type Bounds = { x0: number; y0: number; x1: number; y1: number };
/** Of a white-out, or of a text that goes without being painted over. `left`: something under it stays in the page. */
type Area = Bounds & { painted: boolean; left: boolean };

const DECODE_LIMIT = 32 * 1024 * 1024;
const WORK_LIMIT = 12_000_000;
/** Keys of a property list whose text readers put in the place of what is shown (ISO 32000-1 §14.9). */
const REPLACEMENTS = ["ActualText", "Alt", "E"];

/**
 * Prepares the removal for all white-outs among `drawings`, and of the text in `removals`. The returned function works on one page: it adds the new
 * content to `revision` and leaves it to the caller to set it. Time and memory are bounded for all pages together; what
 * is not understood for certain stays and is warned of, with the number of white-outs that it concerns.
 */
export function whiteoutRemover(
  revision: Revision,
  file: PdfFile,
  drawings: readonly Drawing[],
  removals: readonly Box[] = [],
): (page: PdfPage) => Removal {
  const allowance: Allowance = { budget: { objects: WORK_LIMIT, scan: 0, inflate: 0 }, decode: DECODE_LIMIT };
  const walk = new ContentWalk(file, allowance);
  const areas = areasByPage(drawings, removals);
  return (page) => {
    const own = areas.get(page.index + 1);
    if (!own) return { contents: null, warnings: [] };
    let contents: PdfRef | null = null;
    try {
      const bytes = contentOf(file, page, walk);
      const remover = new Remover(own, allowance);
      remover.leaveAnnotations(file, page);
      const edits = remover.edits(bytes, page, walk);
      if (edits.length > 0) contents = revision.addStream(new PdfDict(), spliced(bytes, edits), true);
    } catch (error) {
      if (!(error instanceof PdfError)) throw error;
      for (const area of own) area.left = true;
    }
    return { contents, warnings: warningsOf(page.index + 1, own) };
  };
}

function warningsOf(page: number, areas: readonly Area[]): Warning[] {
  const covered = areas.filter(({ left, painted }) => left && painted).length;
  const seen = areas.filter(({ left, painted }) => left && !painted).length;
  const message = "A white-out covers what is under it, but some of that could not be taken out of the page.";
  const stays = "A field tag could not be taken out of the page and stays visible; cover it with a white-out.";
  return [
    ...(covered > 0 ? [{ code: "text-under-whiteout", message, page, count: covered }] : []),
    ...(seen > 0 ? [{ code: "tag-left", message: stays, page, count: seen }] : []),
  ];
}

/** The white-outs of each page; those over an earlier drawing leave that where it is. */
function areasByPage(drawings: readonly Drawing[], removals: readonly Box[]): Map<number, Area[]> {
  const areas = new Map<number, Area[]>();
  for (const { page, x, y, width, height } of removals) {
    listOf(areas, page).push({ x0: x, y0: y, x1: x + width, y1: y + height, painted: false, left: false });
  }
  const earlier = new Map<number, Bounds[]>();
  for (const drawing of drawings) {
    const { page, x, y, width, height } = drawing;
    const bounds = { x0: x, y0: y, x1: x + width, y1: y + height };
    if (drawing.kind === "whiteout") {
      const left = earlier.get(page)?.some((other) => overlap(bounds, other, 1)) ?? false;
      listOf(areas, page).push({ ...bounds, painted: true, left });
    } else listOf(earlier, page).push(bounds);
  }
  return areas;
}

function listOf<T>(lists: Map<number, T[]>, page: number): T[] {
  const list = lists.get(page) ?? [];
  lists.set(page, list);
  return list;
}

/** All of a page's content streams as one. @throws PdfError */
export function contentOf(file: PdfFile, page: PdfPage, walk: ContentWalk): Uint8Array {
  const contents = file.resolve(page.dict.get("Contents"));
  const parts: Uint8Array[] = [];
  for (const item of Array.isArray(contents) ? contents : [contents]) {
    const stream = file.stream(item);
    if (stream) parts.push(walk.decode(stream), Buffer.from("\n"));
  }
  return Buffer.concat(parts);
}

class Remover {
  readonly #areas: readonly Area[];
  /** Only these cover more than text. */
  readonly #whiteouts: readonly Area[];
  readonly #allowance: Allowance;
  readonly #edits = new Map<Operation, Edit>();
  /** Marked content that is open, with its property list where that is a resource. */
  readonly #marked: { operation: Operation; properties: PdfDict | null }[] = [];

  constructor(areas: readonly Area[], allowance: Allowance) {
    this.#areas = areas;
    this.#whiteouts = areas.filter(({ painted }) => painted);
    this.#allowance = allowance;
  }

  /** @throws PdfError when the content cannot be understood. */
  edits(bytes: Uint8Array, page: PdfPage, walk: ContentWalk): Edit[] {
    walk.run(readOperations(bytes, this.#allowance.budget), page.resources, toDisplay(page), {
      show: (show, depth) => this.#show(show, depth),
      image: (operation, matrix, depth) => {
        const bounds = boundsOf(matrix, [0, 0, 1, 1]);
        if (!this.#dropped(operation, bounds, depth)) this.#leave(bounds);
      },
      form: (operation, matrix, box, depth) => {
        const bounds = box && boundsOf(matrix, box);
        if (!bounds) return true;
        return !this.#dropped(operation, bounds, depth) && this.#under(bounds, 0).length > 0;
      },
      marked: (operation, properties, depth) => {
        if (depth > 0) return;
        if (operation.operator === "EMC") this.#marked.pop();
        else this.#marked.push({ operation, properties });
      },
    });
    return [...this.#edits.values()];
  }

  /** What annotations show (form fields, notes) is no part of the content; links and pop-ups show nothing. */
  leaveAnnotations(file: PdfFile, page: PdfPage): void {
    for (const item of file.array(page.dict.get("Annots")) ?? []) {
      const annotation = file.dict(item);
      const subtype = file.name(annotation?.get("Subtype"));
      const rectangle = file.array(annotation?.get("Rect"))?.map((side) => file.number(side) ?? 0);
      if (!annotation?.has("AP") || subtype === "Link" || subtype === "Popup" || rectangle?.length !== 4) continue;
      this.#leave(boundsOf(toDisplay(page), rectangle));
    }
  }

  /** The areas that these bounds reach into by more than `slack` points. */
  #under(bounds: Bounds, slack: number, areas = this.#areas): Area[] {
    this.#allowance.budget.objects -= 1 + (areas.length >> 3);
    if (this.#allowance.budget.objects < 0) throw new PdfError("too-complex", "too much under white-outs");
    return areas.filter((area) => overlap(area, bounds, slack));
  }

  #leave(bounds: Bounds, slack = 1, areas = this.#whiteouts): void {
    for (const area of this.#under(bounds, slack, areas)) area.left = true;
  }

  /** Takes a picture or form out when an area covers all of it. */
  #dropped(operation: Operation, bounds: Bounds, depth: number): boolean {
    if (depth > 0 || !this.#under(bounds, 0, this.#whiteouts).some((area) => covers(area, bounds, 0.5))) return false;
    this.#replace(operation, Buffer.alloc(0));
    this.#unsay(bounds);
    return true;
  }

  #show(show: Show, depth: number): void {
    const { matrix, low, high } = show;
    const bounds = boundsOf(matrix, [show.from, low, show.to, high]);
    const areas = this.#under(bounds, 0);
    if (areas.length === 0) return;
    const core = (from: number, to: number): Bounds => {
      const inset = (to - from) * 0.15;
      return boundsOf(matrix, [from + inset, low + (high - low) * 0.12, to - inset, low + (high - low) * 0.75]);
    };
    const glyphs = show.glyphs?.() ?? null;
    if (!glyphs) {
      this.#leave(core(show.from, show.to), 0, this.#areas);
      return;
    }
    this.#allowance.budget.objects -= glyphs.length * areas.length;
    // The room of a line is more than the ink of most of its glyphs.
    const slack = Math.min(1, 0.1 * Math.hypot(matrix[2], matrix[3]) * (high - low));
    const removable = show.removable && depth === 0;
    const gone = new Set<Glyph>();
    for (const glyph of glyphs) {
      const place = boundsOf(matrix, [glyph.from, low, glyph.to, high]);
      if (removable && areas.some((area) => covers(area, place, slack))) gone.add(glyph);
      else if (!glyph.blank) this.#leave(core(glyph.from, glyph.to), 0, this.#areas);
    }
    if (gone.size === 0) return;
    this.#replace(show.operation, withoutGlyphs(show, glyphs, gone));
    this.#unsay(bounds);
  }

  /** Text that stands for the whole of a marked sequence would tell what was taken out of it. */
  #unsay(bounds: Bounds): void {
    for (const { operation, properties } of this.#marked) {
      if (properties && REPLACEMENTS.some((key) => properties.has(key))) this.#leave(bounds);
      const [tag, list] = operation.operands;
      if (tag === undefined || !(list instanceof PdfDict) || !REPLACEMENTS.some((key) => list.has(key))) continue;
      const rest = list.clone();
      for (const key of REPLACEMENTS) rest.delete(key);
      this.#replace(operation, written([tag, rest], "BDC"));
    }
  }

  #replace(operation: Operation, bytes: Uint8Array): void {
    this.#edits.set(operation, { start: operation.start, end: operation.end, bytes });
  }
}

/** The operator again, with numbers in the place of the glyphs that are gone, so that all others stay where they are. */
function withoutGlyphs({ operation, parts }: Show, glyphs: readonly Glyph[], gone: ReadonlySet<Glyph>): Uint8Array {
  const items: PdfObject[] = [];
  let moved = 0;
  const move = (): void => {
    const rounded = Math.round(moved * 1000) / 1000;
    if (rounded !== 0) items.push(rounded);
    moved = 0;
  };
  let next = 0;
  for (const [index, part] of parts.entries()) {
    if (typeof part === "number") {
      moved += part;
      continue;
    }
    let kept: number[] = [];
    const keep = (): void => {
      if (kept.length > 0) items.push(new PdfString(Uint8Array.from(kept), part.hex));
      kept = [];
    };
    for (let glyph = glyphs[next]; glyph?.part === index; glyph = glyphs[++next]) {
      if (gone.has(glyph)) {
        keep();
        moved += glyph.adjustment;
      } else {
        move();
        kept.push(...part.bytes.subarray(glyph.at, glyph.at + glyph.bytes));
      }
    }
    keep();
  }
  move();
  const [word, char] = operation.operands.slice(-3);
  const before = operation.operator === '"' ? [written([word ?? 0], "Tw"), written([char ?? 0], "Tc")] : [];
  if (operation.operator === '"' || operation.operator === "'") before.push(Buffer.from("T* "));
  return Buffer.concat([...before, written([items], "TJ")]);
}

function written(operands: readonly PdfObject[], operator: string): Uint8Array {
  const out = new ByteWriter();
  for (const operand of operands) {
    writeObject(out, operand);
    out.text(" ");
  }
  return out.text(`${operator}\n`).finish();
}

/** From the page's user space to points from the top left corner of the page as displayed. */
export function toDisplay({ cropBox: [x0, y0, x1, y1], rotate, userUnit: u }: PdfPage): Matrix {
  const scale: Matrix = [u, 0, 0, u, 0, 0];
  switch (rotate) {
    case 90:
      return multiply([0, 1, 1, 0, -y0, -x0], scale);
    case 180:
      return multiply([-1, 0, 0, 1, x1, -y0], scale);
    case 270:
      return multiply([0, -1, -1, 0, y1, x1], scale);
    default:
      return multiply([1, 0, 0, -1, -x0, y1], scale);
  }
}

/** The bounds of a rectangle (two opposite corners) under a matrix. */
export function boundsOf([a, b, c, d, e, f]: Matrix, [x0 = 0, y0 = 0, x1 = 0, y1 = 0]: readonly number[]): Bounds {
  const xs = [a * x0 + c * y0 + e, a * x1 + c * y0 + e, a * x0 + c * y1 + e, a * x1 + c * y1 + e];
  const ys = [b * x0 + d * y0 + f, b * x1 + d * y0 + f, b * x0 + d * y1 + f, b * x1 + d * y1 + f];
  const bounds = { x0: Math.min(...xs), y0: Math.min(...ys), x1: Math.max(...xs), y1: Math.max(...ys) };
  if (!Object.values(bounds).every(Number.isFinite)) throw new PdfError("damaged", "a place without end");
  return bounds;
}

const covers = (area: Bounds, inner: Bounds, slack: number): boolean =>
  inner.x0 >= area.x0 - slack &&
  inner.y0 >= area.y0 - slack &&
  inner.x1 <= area.x1 + slack &&
  inner.y1 <= area.y1 + slack;

/** Do they share more than `slack` in both directions? A thing smaller than that is judged by its middle. */
function overlap(a: Bounds, b: Bounds, slack: number): boolean {
  const deep = (a0: number, a1: number, b0: number, b1: number): boolean =>
    Math.min(a1, b1) - Math.max(a0, b0) > Math.min(slack, (b1 - b0) / 2, (a1 - a0) / 2);
  return deep(a.x0, a.x1, b.x0, b.x1) && deep(a.y0, a.y1, b.y0, b.y1);
}
