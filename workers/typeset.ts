/**
 * Typesets with Typst. User text goes in only as JSON data; markup comes only from the templates in `typst/`.
 * Each text names the fonts that it needs, and the fewer there are to look through, the faster it is set: so a thread
 * keeps a compiler for the body font, one for Latin faces and one for every shipped font. Fonts load when first used.
 */
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { NodeCompiler } from "@myriaddreamin/typst-ts-node-compiler";
import { bodyFont, fontFamilies, fontsWithParts, signatureFonts, textFonts } from "./fonts.ts";
import { silenceParts } from "./typst/components.ts";
import { fontFolder } from "./typst/coverage.ts";

export type TypesetInput = {
  template: "overlay.typ" | "certificate.typ";
  /** Read by the template as `data.json`. */
  data: unknown;
  /** The fonts that its texts name. */
  fonts: ReadonlySet<string>;
  /** Pictures by the name under which the template reads them; PNG, JPEG or SVG. */
  files?: ReadonlyMap<string, Uint8Array>;
};
export type Typeset = {
  pdf: Uint8Array;
  pageCount: number;
  /** Values of the template's metadata labelled <note>, in document order. */
  notes: unknown[];
};

const WORKSPACE = join(import.meta.dirname, "typst");
const DOCUMENTS_PER_COLLECTION = 20;
/** The typesetter keeps what it set until so many evictions went by in which nothing used it. Each looks at all that is kept. */
const EVICTIONS_SURVIVED = 2;
const DOCUMENTS_PER_EVICTION = 8;

/** From the fewest fonts to all. */
const SELECTIONS = [
  new Set([bodyFont]),
  new Set(textFonts),
  new Set(fontFamilies.map(({ family }) => family)),
] as const;
const compilers = new Map<ReadonlySet<string>, NodeCompiler>();
let collect: (() => void) | null = null;
let sinceCollection = 0;
let sinceEviction = 0;

/**
 * Compiles one template to PDF, byte for byte the same for the same input.
 * Failing to compile is a defect of a template and throws; hostile data cannot cause it.
 */
export async function typeset(input: TypesetInput): Promise<Typeset> {
  const compiler = compilerFor(input.fonts);
  const data = JSON.stringify(input.data);
  // As a file: with inputs of its own each document would get a standard library of its own.
  const files = [["data.json", Buffer.from(data)] as const, ...(input.files ?? [])];
  const paths = files.map(([name, bytes]) => {
    const path = join(WORKSPACE, name);
    compiler.mapShadow(path, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    return path;
  });
  try {
    const compiled = compiler.compile({ mainFilePath: join(WORKSPACE, input.template) });
    const document = compiled.result;
    if (!document) throw new Error(`${input.template}: ${JSON.stringify(compiled.takeError()?.shortDiagnostics)}`);
    const drawn = compiler.pdf(document, { pdfTags: false });
    const pdf = lettersInParts(input.fonts, data) ? silenceParts(drawn) : drawn;
    const notes: unknown = compiler.query(document, { selector: "<note>", field: "value" });
    return { pdf, pageCount: document.numOfPages, notes: Array.isArray(notes) ? notes : [] };
  } finally {
    for (const path of paths) compiler.unmapShadow(path);
    if (++sinceEviction >= DOCUMENTS_PER_EVICTION) {
      sinceEviction = 0;
      compiler.evictCache(EVICTIONS_SURVIVED);
    }
    await releaseDocuments();
  }
}

/** Whether a letter may be drawn with several glyphs: in some scripts, and in handwriting with rare accents. */
function lettersInParts(fonts: ReadonlySet<string>, data: string): boolean {
  if (fontsWithParts.some((font) => fonts.has(font))) return true;
  return signatureFonts.some((font) => fonts.has(font)) && /[\u0300-\u036f\u1e00-\u1eff]/.test(data);
}

function compilerFor(fonts: ReadonlySet<string>): NodeCompiler {
  const selection = SELECTIONS.find((candidate) => [...fonts].every((font) => candidate.has(font))) ?? SELECTIONS[2];
  const known = compilers.get(selection);
  if (known) return known;
  const families = fontFamilies.filter(({ family }) => selection.has(family));
  const fontPaths = families.flatMap((family) => family.styles.map((style) => fontFolder(family, style)));
  const compiler = NodeCompiler.create({ workspace: WORKSPACE, fontArgs: [{ fontPaths }] });
  compilers.set(selection, compiler);
  return compiler;
}

/**
 * A compiled document is native memory (about 1 MB) that V8 does not see and so does not hurry to free. The turns of
 * the event loop before and after let finalizers run.
 */
async function releaseDocuments(): Promise<void> {
  if (++sinceCollection < DOCUMENTS_PER_COLLECTION) return;
  sinceCollection = 0;
  collect ??= exposedGc();
  await turn();
  collect();
  await turn();
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function exposedGc(): () => void {
  setFlagsFromString("--expose-gc");
  const gc: unknown = runInNewContext("gc");
  if (typeof gc !== "function") return () => {};
  return () => {
    gc();
  };
}
