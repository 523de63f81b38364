/** Whether all readers find the same pages in a document, and a page tree anew for one in which they do not. */
import { name, type ObjectSource, PdfDict, type PdfObject, PdfRef } from "./objects.ts";
import { INHERITED, type PdfPage } from "./pages.ts";

type Document = ObjectSource & { catalog: PdfDict };

/** As `walkPages` bears it. */
const MAX_DEPTH = 500;

/**
 * Whether the page tree leaves no room (ISO 32000-1 §7.7.3): a root with /Kids, every /Count the number of pages below,
 * every page there, turned by a right angle, and a child of the node that it inherits from. Readers differ in which of
 * two contradicting statements they believe, and new pages are counted from what the root says.
 * @throws PdfError when an object cannot be read
 */
export function isSoundTree(source: Document): boolean {
  const root = source.catalog.get("Pages");
  if (!(root instanceof PdfRef)) return false;
  const node = source.resolve(root);
  if (!(node instanceof PdfDict) || !isBranch(source, node)) return false;
  return (pagesUnder(source, root, node, { seen: new Set([root.num]), given: [], depth: 0 }) ?? 0) > 0;
}

const isBranch = (source: Document, node: PdfDict): boolean =>
  source.array(node.get("Kids")) !== null && source.name(node.get("Type")) !== "Page";

type Walk = {
  seen: Set<number>;
  /** What the nodes above give to pages. */
  given: readonly string[];
  depth: number;
};

/** The number of pages below a branch; null when something contradicts itself. */
function pagesUnder(source: Document, ref: PdfRef, branch: PdfDict, { seen, given, depth }: Walk): number | null {
  if (depth > MAX_DEPTH || !isRightAngle(source, branch)) return null;
  const own = INHERITED.filter((key) => (branch.get(key) ?? null) !== null);
  const below: Walk = { seen, given: own.length > 0 ? [...given, ...own] : given, depth: depth + 1 };
  let count = 0;
  for (const kid of source.array(branch.get("Kids")) ?? []) {
    if (!(kid instanceof PdfRef) || seen.has(kid.num)) return null;
    seen.add(kid.num);
    const node = source.resolve(kid);
    if (!(node instanceof PdfDict) || !inheritsRightly(node, ref, below.given)) return null;
    const pages = isBranch(source, node) ? pagesUnder(source, kid, node, below) : pageAlone(source, node);
    if (pages === null) return null;
    count += pages;
  }
  return source.number(branch.get("Count")) === count ? count : null;
}

const pageAlone = (source: Document, node: PdfDict): 1 | null =>
  source.name(node.get("Type")) !== "Pages" && isRightAngle(source, node) ? 1 : null;

const isRightAngle = (source: Document, node: PdfDict): boolean => (source.number(node.get("Rotate")) ?? 0) % 90 === 0;

/** Some readers look for what a page lacks in the node that it names as its parent, others in the one that lists it. */
function inheritsRightly(node: PdfDict, parent: PdfRef, given: readonly string[]): boolean {
  const named = node.get("Parent");
  if (given.length === 0 || (named instanceof PdfRef && named.num === parent.num)) return true;
  return given.every((key) => (node.get(key) ?? null) !== null);
}

/**
 * One flat page tree of these pages: what is to be put in place of the objects with these numbers. `root` is a number that
 * the document does not use; the catalog's /Pages must be made to refer to it.
 */
export function flatTree(pages: readonly PdfPage[], root: PdfRef): Map<PdfRef, PdfDict> {
  const changed = new Map<PdfRef, PdfDict>();
  for (const page of pages) changed.set(page.ref, standalone(page, root));
  const kids: PdfObject[] = pages.map(({ ref }) => ref);
  const tree: [string, PdfObject][] = [
    ["Type", name("Pages")],
    ["Kids", kids],
    ["Count", kids.length],
  ];
  return changed.set(root, new PdfDict(tree));
}

/** A page with everything written out that it inherits, and without what makes it look like a tree of its own. */
function standalone(page: PdfPage, parent: PdfRef): PdfDict {
  const own = page.dict.clone().set("Type", name("Page")).set("Parent", parent).delete("Kids").delete("Count");
  for (const [key, value] of page.attributes) own.set(key, value);
  return own.set("Rotate", page.rotate);
}
