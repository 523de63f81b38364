/** What is this PDF, and can revisions be appended to it? Runs on hostile input: every cost has a bound. */
import { type ObjectSource, PdfDict, PdfError, type PdfObject, PdfRef } from "./pdf/objects.ts";
import { walkPages } from "./pdf/pages.ts";
import { openPdf, type PdfFile, type PdfPage } from "./pdf/reader.ts";
import { rewritePdf } from "./pdf/rewrite.ts";
import { ScannedPdf } from "./pdf/scan.ts";
import type { InspectCode, PageBox, TaskResult, Tasks, Warning, WorkerFailure } from "./protocol.ts";
import { signatureFields } from "./seal/fields.ts";
import { trySealing } from "./seal/trial.ts";
import { displayedSize } from "./stamp.ts";

type Input = Tasks["inspect"]["input"];
/** A file that revisions can be appended to, and whether it had to be written anew for that. */
type Opened = { file: PdfFile; pages: PdfPage[]; rewritten: Uint8Array | null; warnings: Warning[] };

const HEADER_WITHIN = 1024;
const MAX_FIELDS = 20_000;

/**
 * Accepts what can be appended to as it is; what cannot is written anew when its objects can be read (warning
 * `repaired`) or decrypted with the empty password (warning `decrypted`). Everything else is refused with a reason.
 */
export function inspect(input: Input): TaskResult<"inspect"> {
  try {
    const { file, pages, rewritten, warnings } = opened(input);
    const form = file.dict(file.catalog.get("AcroForm"));
    if (form && file.resolve(form.get("XFA")) !== null) {
      return refused("xfa", "This is an XFA form, which only Adobe's own programs can draw. Print it to PDF first.");
    }
    const fields = fieldsOf(file, form);
    const known = new Set(warnings.map(({ code }) => code));
    warnings.push(...contentWarnings(file, form, fields).filter(({ code }) => !known.has(code)));
    const value = {
      pageCount: pages.length,
      pages: pages.map(pageBox),
      hasFormFields: fields.count > 0,
      warnings,
      pdf: rewritten,
    };
    return { ok: true, value };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, error: error.failure };
    if (error instanceof PdfError) return refused(codeOf(error), reasonOf(error));
    throw error;
  }
}

class Refusal extends Error {
  readonly failure: WorkerFailure<InspectCode>;
  constructor(failure: WorkerFailure<InspectCode>) {
    super(failure.message);
    this.failure = failure;
  }
}

function refused(code: InspectCode, message: string): { ok: false; error: WorkerFailure<InspectCode> } {
  return { ok: false, error: { code, message } };
}

function opened({ pdf, maxPages }: Input): Opened {
  const head = Buffer.from(pdf.buffer, pdf.byteOffset, Math.min(pdf.length, HEADER_WITHIN));
  if (!head.includes("%PDF-")) throw new PdfError("not-a-pdf", "no PDF header");
  try {
    const file = openPdf(pdf);
    if (!file.encrypted) {
      const pages = readablePages(file, maxPages);
      if (isFit(file)) return { file, pages, rewritten: null, warnings: [] };
      return rewritten(file, file.trailer, maxPages, REPAIRED);
    }
  } catch (error) {
    if (!(error instanceof PdfError) || error.code === "too-complex") throw error;
  }
  return rebuilt(pdf, maxPages);
}

function rebuilt(pdf: Uint8Array, maxPages: number): Opened {
  const scanned = new ScannedPdf(pdf);
  for (const page of walkPages(scanned)) requireSound(scanned, page);
  return rewritten(scanned, scanned.trailer, maxPages, scanned.wasEncrypted ? DECRYPTED : REPAIRED);
}

const DECRYPTED = {
  code: "decrypted",
  message: "The file was encrypted without a password; it is kept without encryption.",
};
const REPAIRED = {
  code: "repaired",
  message: "The file was damaged and has been repaired; please check that every page is there.",
};

/** Written anew from what its pages reach. The signatures in it, which that breaks, are taken out. */
function rewritten(source: Source, trailer: PdfDict, maxPages: number, warning: Warning): Opened {
  for (const page of walkPages(source)) requireParts(source, page);
  const fields = [...signatureFields(source)];
  const pdf = rewritePdf(source, trailer, new Set(fields.map(({ field }) => field)));
  const file = openPdf(pdf);
  const pages = readablePages(file, maxPages);
  if (!file.isSelfContained()) throw new PdfError("damaged", "its objects contradict each other");
  trySealing(file);
  const warnings: Warning[] = [warning];
  if (fields.length > 0) {
    const message = "The document was already signed; its signatures could not be kept and were taken out.";
    warnings.push({ code: "already-signed", message, count: fields.length });
  }
  return { file, pages, rewritten: pdf, warnings };
}

type Source = ObjectSource & { catalog: PdfDict };

/** Whether revisions can be appended to the file and be sealed, now and later. */
function isFit(file: PdfFile): boolean {
  try {
    if (!file.isSelfContained()) return false;
    trySealing(file);
    return true;
  } catch (error) {
    if (error instanceof PdfError) return false;
    throw error;
  }
}

/** A page whose content, fonts or pictures were lost must not be signed as if it had none. */
function requireParts(source: ObjectSource, page: PdfPage): void {
  const contents = source.resolve(page.dict.get("Contents"));
  const needed = [page.dict.get("Contents"), ...(Array.isArray(contents) ? contents : [])];
  for (const kind of ["Font", "XObject"]) needed.push(...(source.dict(page.resources?.get(kind))?.map.values() ?? []));
  if (needed.some((object) => object instanceof PdfRef && source.get(object) === null)) {
    throw new PdfError("damaged", `parts of page ${page.index + 1} are missing`);
  }
}

function requireSound(source: ScannedPdf, page: PdfPage): void {
  const contents = source.resolve(page.dict.get("Contents"));
  for (const item of Array.isArray(contents) ? contents : [contents]) {
    const stream = source.stream(item);
    if (stream && !source.isSound(stream)) throw new PdfError("damaged", `page ${page.index + 1} cannot be read`);
  }
}

/** Every page, with what drawing it needs within reach. @throws Refusal for none or too many. */
function readablePages(file: PdfFile, maxPages: number): PdfPage[] {
  const pages: PdfPage[] = [];
  for (const page of walkPages(file)) {
    if (pages.length === maxPages) {
      const message = `The document has more than ${maxPages} pages.`;
      throw new Refusal({ code: "too-many-pages", message, detail: { maxPages } });
    }
    const contents = file.resolve(page.dict.get("Contents"));
    if (Array.isArray(contents)) for (const item of contents) file.resolve(item);
    for (const entry of page.resources?.map.values() ?? []) file.resolve(entry);
    requireList(file, page.dict.get("Annots"), `the annotations of page ${page.index + 1}`);
    pages.push(page);
  }
  if (pages.length === 0) throw new Refusal({ code: "no-pages", message: "The document has no pages." });
  const form = file.resolve(file.catalog.get("AcroForm"));
  if (form !== null && !(form instanceof PdfDict)) throw new PdfError("damaged", "its form is not a dictionary");
  requireList(file, form?.get("Fields"), "the fields of its form");
  return pages;
}

/** Readers differ in what they make of anything else, and the seal puts a list in its place. */
function requireList(file: PdfFile, object: PdfObject | undefined, what: string): void {
  const value = file.resolve(object);
  if (value !== null && !Array.isArray(value)) throw new PdfError("damaged", `${what} are not a list`);
}

function pageBox(page: PdfPage): PageBox {
  const { width, height } = displayedSize(page);
  const round = (length: number): number => Math.round(length * 1000) / 1000;
  return { page: page.index + 1, width: round(width), height: round(height), rotation: page.rotate };
}

type Fields = { count: number; signed: number };

/** Counts form fields and filled signature fields; a tree that is too large or cyclic is counted as far as it goes. */
function fieldsOf(source: ObjectSource, form: PdfDict | null): Fields {
  const fields: Fields = { count: 0, signed: 0 };
  const queue = (source.array(form?.get("Fields")) ?? []).map((object) => ({ object, type: "" }));
  const seen = new Set<PdfDict>();
  for (let next = queue.pop(); next && seen.size < MAX_FIELDS; next = queue.pop()) {
    const field = source.dict(next.object);
    if (!field || seen.has(field)) continue;
    seen.add(field);
    const type = source.name(field.get("FT")) ?? next.type;
    // Without a name it is only a widget of the field above it.
    if (field.has("T")) fields.count++;
    if (type === "Sig" && source.resolve(field.get("V")) !== null) fields.signed++;
    for (const kid of source.array(field.get("Kids")) ?? []) queue.push({ object: kid, type });
  }
  return fields;
}

function contentWarnings(file: PdfFile, form: PdfDict | null, fields: Fields): Warning[] {
  const warnings: Warning[] = [];
  const flags = file.number(form?.get("SigFlags")) ?? 0;
  if (fields.signed > 0 || (flags & 1) === 1 || file.dict(file.catalog.get("Perms"))) {
    const message = "The document is already signed; stamping pages ends the validity of that signature.";
    warnings.push({ code: "already-signed", message, count: Math.max(1, fields.signed) });
  }
  if (fields.count > 0) {
    const message = "The document has form fields of its own; they are kept, but recipients do not fill them in.";
    warnings.push({ code: "form-fields", message, count: fields.count });
  }
  if (hasScript(file)) {
    warnings.push({ code: "active-content", message: "The document holds scripts; they are never run here." });
  }
  if (file.dict(file.catalog.get("Collection"))) {
    warnings.push({ code: "portfolio", message: "This is a portfolio; only its cover pages are used." });
  }
  return warnings;
}

function hasScript(file: PdfFile): boolean {
  const action = file.dict(file.catalog.get("OpenAction"));
  return (
    file.name(action?.get("S")) === "JavaScript" || file.dict(file.catalog.get("Names"))?.has("JavaScript") === true
  );
}

function codeOf(error: PdfError): InspectCode {
  return error.code === "unsupported" ? "damaged" : error.code;
}

function reasonOf(error: PdfError): string {
  switch (error.code) {
    case "not-a-pdf":
      return "This is not a PDF file.";
    case "encrypted":
      return "The PDF is protected by a password. Remove the protection and upload it again.";
    case "too-complex":
      return `The PDF is too complex to be handled safely: ${error.message}.`;
    default:
      return `The PDF is damaged and could not be repaired: ${error.message}.`;
  }
}
