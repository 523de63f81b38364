/** Brings pages of another PDF into a revision: as form XObjects to draw with, or as pages of their own. */
import { name, PdfDict, PdfError, type PdfObject, PdfRef, PdfStream } from "./objects.ts";
import { flatTree, isSoundTree } from "./page-tree.ts";
import { walkPages } from "./pages.ts";
import type { PdfFile, PdfPage } from "./reader.ts";
import type { Revision } from "./revision.ts";

/**
 * Copies page `pageIndex` (0-based) of `source` into `revision` as a form XObject and returns its reference.
 * The form's own space is the page as displayed: origin at the lower left, size of the crop box after rotation, in
 * points; the page's /Rotate and the crop box's offset are undone by its /Matrix. Objects that several pages share
 * (fonts, pictures) are copied once per revision and source.
 * @throws PdfError `damaged` when the page does not exist or its content cannot be read.
 */
export function importPageAsForm(revision: Revision, source: PdfFile, pageIndex: number): PdfRef {
  const page = source.page(pageIndex);
  if (!page) throw new PdfError("damaged", `page ${pageIndex} does not exist`);
  const copier = copierOf(revision, source);
  const form = new PdfDict([
    ["Type", name("XObject")],
    ["Subtype", name("Form")],
    ["BBox", [...page.cropBox]],
    ["Matrix", displayMatrix(page)],
    ["Resources", copier.copy(page.resources ?? new PdfDict())],
  ]);
  const group = page.dict.get("Group");
  if (group !== undefined) form.set("Group", copier.copy(group));
  const content = contentOf(source, page);
  for (const key of ["Filter", "DecodeParms"]) {
    const value = content.dict.get(key);
    if (value !== undefined) form.set(key, copier.copy(value));
  }
  const ref = revision.addStream(form, content.raw);
  copier.drain();
  return ref;
}

/**
 * Appends every page of `source` behind the last page of the revision's document and returns how many. A page tree that
 * readers take differently is replaced by a flat one first: earlier versions accepted uploads with such trees.
 * Links within the imported pages keep working; form fields and the structure tree stay behind.
 * @throws PdfError `damaged` when either page tree cannot be read.
 */
export function importPages(revision: Revision, source: PdfFile): number {
  const treeRef = soundTree(revision);
  const tree = revision.dict(treeRef);
  const kids = revision.array(tree?.get("Kids"));
  if (!tree || !kids) throw new PdfError("damaged", "no page tree");
  const pages = source.pages();
  const copier = copierOf(revision, source);
  const node = revision.reserve();
  const refs = pages.map((page) => copier.adopt(page.ref));
  pages.forEach((page, index) => {
    const ref = refs[index];
    if (ref) revision.set(ref, pageCopy(source, page, node, copier));
  });
  const branch = new PdfDict([
    ["Type", name("Pages")],
    ["Parent", treeRef],
    ["Kids", refs],
    ["Count", refs.length],
  ]);
  revision.set(node, branch);
  const count = revision.number(tree.get("Count")) ?? 0;
  revision.set(
    treeRef,
    tree
      .clone()
      .set("Kids", [...kids, node])
      .set("Count", count + refs.length),
  );
  copier.drain();
  return refs.length;
}

/** The root of the document's page tree, of a new one where need be. */
function soundTree(revision: Revision): PdfRef {
  const known = revision.catalog.get("Pages");
  if (known instanceof PdfRef && isSoundTree(revision)) return known;
  const pages = [...walkPages(revision)];
  const root = revision.reserve();
  for (const [ref, object] of flatTree(pages, root)) revision.set(ref, object);
  revision.set(revision.base.catalogRef, revision.catalog.clone().set("Pages", root));
  return root;
}

/** Everything inheritable is written out, so that nothing leaks in from the document's own tree. */
function pageCopy(source: PdfFile, page: PdfPage, parent: PdfRef, copier: Copier): PdfDict {
  const copy = new PdfDict([
    ["Type", name("Page")],
    ["Parent", parent],
    ["MediaBox", [...page.mediaBox]],
    ["CropBox", [...page.cropBox]],
    ["Rotate", page.rotate],
    ["Resources", copier.copy(page.resources ?? new PdfDict())],
  ]);
  for (const key of ["Contents", "Group", "UserUnit", "Tabs"]) {
    const value = page.dict.get(key);
    if (value !== undefined) copy.set(key, copier.copy(value));
  }
  const links = (source.array(page.dict.get("Annots")) ?? []).filter(
    (annotation) => source.name(source.dict(annotation)?.get("Subtype")) === "Link",
  );
  if (links.length > 0)
    copy.set(
      "Annots",
      links.map((link) => copier.copy(link)),
    );
  return copy;
}

/** From the page's user space to the displayed page with its lower left corner at the origin. */
function displayMatrix({ cropBox: [x0, y0, x1, y1], rotate }: PdfPage): number[] {
  switch (rotate) {
    case 90:
      return [0, -1, 1, 0, -y0, x1];
    case 180:
      return [-1, 0, 0, -1, x1, y1];
    case 270:
      return [0, 1, -1, 0, y1, -x0];
    default:
      return [1, 0, 0, 1, -x0, -y0];
  }
}

/** A page's content as one stream: as stored when it is one already, else decoded and joined (§7.7.3.3). */
function contentOf(source: PdfFile, page: PdfPage): PdfStream {
  const contents = source.resolve(page.dict.get("Contents"));
  if (contents instanceof PdfStream) return contents;
  const parts: Uint8Array[] = [];
  for (const item of source.array(contents) ?? []) {
    const stream = source.stream(item);
    if (stream) parts.push(source.decode(stream), Buffer.from("\n"));
  }
  return new PdfStream(new PdfDict(), Buffer.concat(parts));
}

// Structure and document level links that make no sense away from their document.
const LEFT_BEHIND = new Set(["StructParent", "StructParents", "PieceInfo"]);
const MAX_DEPTH = 256;

const copiers = new WeakMap<Revision, Map<PdfFile, Copier>>();

function copierOf(revision: Revision, source: PdfFile): Copier {
  if (source.encrypted) throw new PdfError("encrypted", "cannot import from an encrypted file");
  const known = copiers.get(revision) ?? new Map<PdfFile, Copier>();
  copiers.set(revision, known);
  const copier = known.get(source) ?? new Copier(revision, source);
  known.set(source, copier);
  return copier;
}

/** Copies object graphs; each source object once, references by a work list so that depth of chains does not matter. */
class Copier {
  readonly #revision: Revision;
  readonly #source: PdfFile;
  readonly #copied = new Map<number, PdfRef>();
  #waiting: { from: PdfRef; to: PdfRef }[] = [];

  constructor(revision: Revision, source: PdfFile) {
    this.#revision = revision;
    this.#source = source;
  }

  /** A number for a source object that the caller writes himself. */
  adopt(from: PdfRef): PdfRef {
    const to = this.#revision.reserve();
    this.#copied.set(from.num, to);
    return to;
  }

  /** The copy of a value; what it refers to follows in `drain`. */
  copy(object: PdfObject, depth = 0): PdfObject {
    if (depth > MAX_DEPTH) throw new PdfError("too-complex", "objects nested too deeply");
    if (object instanceof PdfRef) return this.#ref(object);
    if (Array.isArray(object)) return object.map((item) => this.copy(item, depth + 1));
    if (object instanceof PdfDict) return this.#dict(object, depth);
    if (object instanceof PdfStream) return new PdfStream(this.#dict(object.dict, depth), object.raw);
    return object;
  }

  /** Writes everything that copied values refer to. */
  drain(): void {
    for (let next = this.#waiting.pop(); next; next = this.#waiting.pop()) {
      this.#revision.set(next.to, this.copy(this.#source.get(next.from)));
    }
  }

  #ref(from: PdfRef): PdfObject {
    const known = this.#copied.get(from.num);
    if (known) return known;
    // A page that was not adopted, or the tree above it, would drag the whole source along.
    const type = this.#source.name(this.#source.dict(from)?.get("Type"));
    if (type === "Page" || type === "Pages" || type === "Catalog") return null;
    const to = this.adopt(from);
    this.#waiting.push({ from, to });
    return to;
  }

  #dict(source: PdfDict, depth: number): PdfDict {
    const copy = new PdfDict();
    for (const [key, value] of source.map) {
      if (!LEFT_BEHIND.has(key))
        copy.set(key, key === "Length" ? this.#source.resolve(value) : this.copy(value, depth + 1));
    }
    return copy;
  }
}
