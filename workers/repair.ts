/** Makes of an upload a file that revisions can be appended to: as it is, written anew, or not at all. */
import { type ActiveKind, activeContentRemover } from "./pdf/active-content.ts";
import { requireContent } from "./pdf/content.ts";
import { type ObjectSource, PdfDict, PdfError, type PdfObject, PdfRef, PdfStream } from "./pdf/objects.ts";
import { isSoundTree } from "./pdf/page-tree.ts";
import { loosePages, walkPages } from "./pdf/pages.ts";
import { openPdf, PdfFile, type PdfPage } from "./pdf/reader.ts";
import { Objects, rewritePdf, withPages } from "./pdf/rewrite.ts";
import { ScannedPdf } from "./pdf/scan.ts";
import type { InspectCode, Tasks, Warning, WorkerFailure } from "./protocol.ts";
import { canBeSignature, claimsToSign, signatureFields } from "./seal/fields.ts";
import { trySealing } from "./seal/trial.ts";
import { displayedSize } from "./stamp.ts";

/** A file that revisions can be appended to and that can be sealed. */
export type Fit = {
  file: PdfFile;
  pages: PdfPage[];
  /** The bytes that count when they are not the upload's. */
  rewritten: Uint8Array | null;
  warnings: Warning[];
};

type Document = ObjectSource & { catalog: PdfDict };

/** Points; some 70 metres. Readers reckon with single precision, and no page is larger. */
const MAX_PLACE = 200_000;

const MISSING_CONTENT = "missing-content";

/** What is refused with a reason of its own. */
export class Refusal extends Error {
  readonly failure: WorkerFailure<InspectCode>;
  constructor(code: InspectCode, message: string, detail?: Record<string, string | number>) {
    super(message);
    this.failure = { code, message, ...(detail && { detail }) };
  }
}

/**
 * The upload as it is when it can be appended to and sealed; else written anew when its objects can be read (warning
 * `repaired`) or decrypted with the empty password (`decrypted`).
 * @throws PdfError, Refusal
 */
export async function fitForSealing({ pdf, maxPages }: Tasks["inspect"]["input"]): Promise<Fit> {
  try {
    const file = openPdf(pdf);
    if (!file.encrypted) {
      const pages = readablePages(file, maxPages);
      if (await isFit(file, pages)) {
        return { file, pages, rewritten: null, warnings: missingContent(file, pages) };
      }
      const found = pages.length > 0 ? pages : loosePages(file);
      requireParts(file, found);
      return await writtenAnew(file, file.trailer, { pages: found, maxPages, warning: REPAIRED });
    }
  } catch (error) {
    if (!(error instanceof PdfError) || error.code === "too-complex") throw error;
  }
  return await rebuilt(pdf, maxPages);
}

/** The same file without active content of these kinds; nothing of it is left in the bytes. @throws PdfError, Refusal */
export async function withoutActiveContent(
  { file, pages, warnings }: Fit,
  removed: ReadonlySet<ActiveKind>,
  maxPages: number,
): Promise<Fit> {
  const made = await writtenAnew(file, file.trailer, { pages, maxPages, removed, warning: null });
  return { ...made, warnings: [...warnings.filter(({ code }) => code !== MISSING_CONTENT), ...made.warnings] };
}

async function rebuilt(pdf: Uint8Array, maxPages: number): Promise<Fit> {
  const scanned = new ScannedPdf(pdf);
  const tree = scanned.catalog.get("Pages");
  const listed = scanned.dict(tree) && tree instanceof PdfRef ? [...walkPages(scanned)] : [];
  const pages = listed.length > 0 ? listed : loosePages(scanned);
  for (const page of pages) requireSound(scanned, page);
  requireParts(scanned, pages);
  const warning = scanned.wasEncrypted ? DECRYPTED : REPAIRED;
  return await writtenAnew(scanned, scanned.trailer, { pages, maxPages, warning });
}

const DECRYPTED = {
  code: "decrypted",
  message: "The file was encrypted without a password; it is kept without encryption.",
};
const REPAIRED = {
  code: "repaired",
  message: "The file was damaged and has been repaired; please check that every page is there.",
};

type Anew = {
  pages: PdfPage[];
  maxPages: number;
  warning: Warning | null;
  removed?: ReadonlySet<ActiveKind>;
};

/** Written anew from what its pages reach. The signatures in it, which that breaks, are taken out. */
async function writtenAnew(source: Document, trailer: PdfDict, anew: Anew): Promise<Fit> {
  if (anew.pages.length === 0) throw new Refusal("no-pages", "The document has no pages.");
  const signed = new Set([...signatureFields(source)].map(({ field }) => field));
  const ended = countSignatures(source);
  const sound = hasSoundTree(source) ? source : withPages(source, trailer.get("Root"), anew.pages);
  const document = isMarkedSigned(sound) ? unmarked(sound, trailer.get("Root")) : sound;
  const withoutActive = activeContentRemover(document, anew.removed ?? new Set());
  const pdf = rewritePdf(document, trailer, (dict, ofStream) => {
    const left = withoutActive(dict, ofStream);
    return signed.has(dict) ? left.clone().delete("V") : left;
  });
  const file = openPdf(pdf);
  const pages = readablePages(file, anew.maxPages);
  if (!file.isSelfContained()) throw new PdfError("damaged", "its objects contradict each other");
  if (!isSoundTree(file)) throw new PdfError("damaged", "its page tree contradicts itself");
  await trySealing(file, pages.length);
  const warnings = anew.warning ? [anew.warning] : [];
  if (ended > 0) {
    const message = "The document was already signed; its signatures could not be kept and were removed.";
    warnings.push({ code: "signatures-removed", message, count: ended });
  }
  warnings.push(...missingContent(file, pages));
  return { file, pages, rewritten: pdf, warnings };
}

function hasSoundTree(source: Document): boolean {
  try {
    return isSoundTree(source);
  } catch (error) {
    if (error instanceof PdfError) return false;
    throw error;
  }
}

/** Whether the document says of itself that others signed it, be it without a signature: anybody can write that. */
function isMarkedSigned(source: Document): boolean {
  const flags = source.number(source.dict(source.catalog.get("AcroForm"))?.get("SigFlags")) ?? 0;
  return (flags & 1) === 1 || source.dict(source.catalog.get("Perms")) !== null;
}

/** How many signatures the file says that it holds, as values of signature fields or, without any, as usage rights. @throws PdfError */
export const countSignatures = (source: Document): number =>
  countValues(source, (value) => claimsToSign(source, value));

/**
 * Whether a change would end a signature of the file. Neither a flag nor a dictionary that only looks like one counts: anybody
 * could keep their scripts with it.
 * @throws PdfError
 */
export const holdsSignature = (file: PdfFile): boolean => countValues(file, (value) => canBeSignature(file, value)) > 0;

function countValues(source: Document, counts: (value: PdfDict) => boolean): number {
  const inFields = [...signatureFields(source)].filter(({ value }) => counts(value)).length;
  // A certification is the value of a field as well.
  if (inFields > 0) return inFields;
  const rights = [...(source.dict(source.catalog.get("Perms"))?.map.values() ?? [])];
  return rights.map((right) => source.dict(right)).filter((value) => value !== null && counts(value)).length;
}

/** Says nothing any more of signatures that are gone. */
function unmarked(source: Document, catalog: PdfObject | undefined): Document {
  if (!(catalog instanceof PdfRef)) return source;
  const changed = source.catalog.clone().delete("Perms");
  const form = source.resolve(changed.get("AcroForm"));
  if (form instanceof PdfDict) changed.set("AcroForm", form.clone().delete("SigFlags"));
  return Object.assign(new Objects([[catalog, changed]], source), { catalog: changed });
}

/** Whether revisions can be appended to the file and be sealed, now and later. */
async function isFit(file: PdfFile, pages: readonly PdfPage[]): Promise<boolean> {
  try {
    if (!isSoundTree(file) || !file.isSelfContained() || !pages.every((page) => endsClearly(file, page))) return false;
    await trySealing(file, pages.length);
    return true;
  } catch (error) {
    if (error instanceof PdfError) return false;
    throw error;
  }
}

/** Behind content whose end readers see in different places, some of them would not draw a stamp. */
const endsClearly = (file: PdfFile, page: PdfPage): boolean =>
  contentsOf(file, page).every((content) => file.stream(content)?.hasTrueLength ?? true);

/** A page whose content, fonts or pictures were lost must not be signed as if it had none. @throws PdfError */
function requireParts(source: ObjectSource, pages: readonly PdfPage[]): void {
  for (const page of pages) {
    const needed = contentsOf(source, page);
    for (const kind of ["Font", "XObject"])
      needed.push(...(source.dict(page.resources?.get(kind))?.map.values() ?? []));
    const lost = needed.some(
      (object) => object instanceof PdfRef && source.get(object) === null && !wasTakenOff(source, object),
    );
    if (lost) throw new PdfError("damaged", `parts of page ${page.index + 1} are missing`);
  }
}

/** A cross-reference that calls an object free says what readers show: a page without it. One that does not list it may be damaged. */
const wasTakenOff = (source: ObjectSource, ref: PdfRef): boolean => source instanceof PdfFile && source.isFreed(ref);

function contentsOf(source: ObjectSource, page: PdfPage): PdfObject[] {
  const own = page.dict.get("Contents") ?? null;
  const contents = source.resolve(own);
  if (Array.isArray(contents)) return contents;
  return own === null ? [] : [own];
}

/** Pages that lack a part of their content: readers show them without it, and so they are signed. */
function missingContent(source: ObjectSource, pages: readonly PdfPage[]): Warning[] {
  return pages.flatMap((page) => {
    const missing = contentsOf(source, page).filter((item) => !(source.resolve(item) instanceof PdfStream)).length;
    if (missing === 0) return [];
    const number = page.index + 1;
    const message = `A part of the content of page ${number} was deleted from the file; the page is shown without it.`;
    return [{ code: MISSING_CONTENT, message, page: number, count: missing }];
  });
}

function requireSound(source: ScannedPdf, page: PdfPage): void {
  for (const item of contentsOf(source, page)) {
    const stream = source.stream(item);
    if (stream && !source.isSound(stream)) throw new PdfError("damaged", `page ${page.index + 1} cannot be read`);
  }
}

/** Every page of the tree, with what drawing it needs within reach. @throws PdfError; Refusal for too many or too large */
function readablePages(file: PdfFile, maxPages: number): PdfPage[] {
  const pages: PdfPage[] = [];
  if (!file.dict(file.catalog.get("Pages"))) return pages;
  for (const page of walkPages(file)) {
    if (pages.length === maxPages) {
      throw new Refusal("too-many-pages", `The document has more than ${maxPages} pages.`, { maxPages });
    }
    requireMeasure(page);
    const contents = file.resolve(page.dict.get("Contents"));
    if (Array.isArray(contents)) for (const item of contents) file.resolve(item);
    requireContent(file, page);
    for (const entry of page.resources?.map.values() ?? []) file.resolve(entry);
    requireList(file, page.dict.get("Annots"), `the annotations of page ${page.index + 1}`);
    pages.push(page);
  }
  const form = file.resolve(file.catalog.get("AcroForm"));
  if (form !== null && !(form instanceof PdfDict)) throw new PdfError("damaged", "its form is not a dictionary");
  requireList(file, form?.get("Fields"), "the fields of its form");
  return pages;
}

function requireMeasure(page: PdfPage): void {
  const { width, height } = displayedSize(page);
  if (Math.max(width, height, ...page.mediaBox.map(Math.abs)) <= MAX_PLACE) return;
  const message = `Page ${page.index + 1} is too large: at most ${MAX_PLACE} points are possible.`;
  throw new Refusal("page-too-large", message, { page: page.index + 1 });
}

/** Readers differ in what they make of anything else, and the seal puts a list in its place. */
function requireList(file: PdfFile, object: PdfObject | undefined, what: string): void {
  const value = file.resolve(object);
  if (value !== null && !Array.isArray(value)) throw new PdfError("damaged", `${what} are not a list`);
}
