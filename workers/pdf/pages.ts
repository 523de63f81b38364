/** The page tree (ISO 32000-1 §7.7.3) with inherited attributes resolved and boxes normalised. */
import { type ObjectSource, PdfDict, PdfError, type PdfObject, PdfRef } from "./objects.ts";

/** [left, bottom, right, top] in default user space units. */
export type Rectangle = readonly [number, number, number, number];

export type PdfPage = {
  /** 0-based */
  index: number;
  ref: PdfRef;
  /** The page's own dictionary, without what it inherits. */
  dict: PdfDict;
  mediaBox: Rectangle;
  /** Cut to the media box; the media box when absent or empty. */
  cropBox: Rectangle;
  rotate: 0 | 90 | 180 | 270;
  /** Own or inherited; null when there are none. */
  resources: PdfDict | null;
  /** What pages inherit, as it is written in the page or above it. */
  attributes: ReadonlyMap<string, PdfObject>;
  /** Size of a unit in 1/72 inch (§14.11.6.. /UserUnit), 1 by default. */
  userUnit: number;
};

export const INHERITED = ["Resources", "MediaBox", "CropBox", "Rotate"] as const;
const MAX_DEPTH = 512;
const MAX_NODES = 1_000_000;
const MAX_PARENTS = 16;
const LETTER: Rectangle = [0, 0, 612, 792];

type Inherited = ReadonlyMap<string, PdfObject>;
type Frame = { kids: PdfObject[]; next: number; inherited: Inherited };

/**
 * Yields the pages in order. Every node is visited at most once, so a cyclic tree ends in an error.
 * @throws PdfError `damaged` or `too-complex`.
 */
export function* walkPages(source: ObjectSource & { catalog: PdfDict }): Generator<PdfPage> {
  const root = source.catalog.get("Pages");
  if (!(root instanceof PdfRef)) throw new PdfError("damaged", "no page tree");
  const seen = new Set<number>();
  const stack: Frame[] = [{ kids: [root], next: 0, inherited: new Map() }];
  let index = 0;
  for (let frame = stack.at(-1); frame; frame = stack.at(-1)) {
    if (frame.next >= frame.kids.length) {
      stack.pop();
      continue;
    }
    const ref = frame.kids[frame.next++];
    if (!(ref instanceof PdfRef)) throw new PdfError("damaged", "a page is not a reference");
    if (seen.has(ref.num)) throw new PdfError("damaged", "the page tree holds a node twice");
    seen.add(ref.num);
    if (seen.size > MAX_NODES) throw new PdfError("too-complex", "too many pages");
    const node = source.resolve(ref);
    // Readers skip a missing page; so does this one.
    if (!(node instanceof PdfDict)) continue;
    const inherited = new Map(frame.inherited);
    for (const key of INHERITED) {
      const own = node.get(key);
      if (own !== undefined && own !== null) inherited.set(key, own);
    }
    const kids = source.name(node.get("Type")) === "Page" ? null : source.array(node.get("Kids"));
    if (kids) {
      if (stack.length > MAX_DEPTH) throw new PdfError("too-complex", "page tree too deep");
      stack.push({ kids, next: 0, inherited });
    } else yield pageOf(source, ref, node, inherited, index++);
  }
}

/**
 * Every page that a document holds, in the order of its objects, for one whose page tree names none.
 * @throws PdfError `too-complex`
 */
export function loosePages(source: ObjectSource & { objects: () => Iterable<[PdfRef, PdfObject]> }): PdfPage[] {
  const pages: PdfPage[] = [];
  for (const [ref, object] of source.objects()) {
    if (!(object instanceof PdfDict) || source.name(object.get("Type")) !== "Page") continue;
    if (pages.length === MAX_NODES) throw new PdfError("too-complex", "too many pages");
    pages.push(pageOf(source, ref, object, inheritedBy(source, object), pages.length));
  }
  return pages;
}

/** What a page has and what the nodes have that it names above it. */
function inheritedBy(source: ObjectSource, page: PdfDict): Inherited {
  const inherited = new Map<string, PdfObject>();
  let node: PdfDict | null = page;
  for (let level = 0; node && level < MAX_PARENTS; level++) {
    for (const key of INHERITED) {
      const own = node.get(key) ?? null;
      if (own !== null && !inherited.has(key)) inherited.set(key, own);
    }
    node = source.dict(node.get("Parent"));
  }
  return inherited;
}

function pageOf(source: ObjectSource, ref: PdfRef, dict: PdfDict, inherited: Inherited, index: number): PdfPage {
  const mediaBox = rectangle(source, inherited.get("MediaBox")) ?? LETTER;
  const crop = rectangle(source, inherited.get("CropBox"));
  // Readers differ in what they make of other angles; most take them for none.
  const turn = source.number(inherited.get("Rotate")) ?? 0;
  const turns = turn % 90 === 0 ? turn / 90 : 0;
  const userUnit = source.number(dict.get("UserUnit")) ?? 1;
  return {
    index,
    ref,
    dict,
    mediaBox,
    cropBox: (crop && intersection(crop, mediaBox)) ?? mediaBox,
    rotate: ([0, 90, 180, 270] as const)[((turns % 4) + 4) % 4] ?? 0,
    resources: source.dict(inherited.get("Resources")),
    attributes: inherited,
    userUnit: userUnit > 0 ? userUnit : 1,
  };
}

function rectangle(source: ObjectSource, object: PdfObject | undefined): Rectangle | null {
  const items = source.array(object);
  if (!items || items.length < 4) return null;
  const [a, b, c, d] = items.slice(0, 4).map((item) => source.number(item));
  if (typeof a !== "number" || typeof b !== "number" || typeof c !== "number" || typeof d !== "number") return null;
  const box: Rectangle = [Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)];
  return box[2] > box[0] && box[3] > box[1] ? box : null;
}

function intersection(a: Rectangle, b: Rectangle): Rectangle | null {
  const box: Rectangle = [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
  return box[2] > box[0] && box[3] > box[1] ? box : null;
}
