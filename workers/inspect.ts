/** What is this PDF, and can revisions be appended to it? Runs on hostile input: every cost has a bound. */
import { activeContentWarnings, decideActiveContent } from "./active-content.ts";
import { coveredPages } from "./annotations.ts";
import { findActiveContent, mayHoldActiveContent } from "./pdf/active-content.ts";
import { type ObjectSource, type PdfDict, PdfError } from "./pdf/objects.ts";
import type { PdfFile, PdfPage } from "./pdf/reader.ts";
import type { InspectCode, PageBox, TaskResult, Tasks, Warning, WorkerFailure } from "./protocol.ts";
import { countSignatures, type Fit, fitForSealing, holdsSignature, Refusal, withoutActiveContent } from "./repair.ts";
import { displayedSize } from "./stamp.ts";

type Input = Tasks["inspect"]["input"];

const MAX_FIELDS = 20_000;
const HEADER_WITHIN = 1024;

/**
 * Accepts what can be appended to and sealed as it is; what cannot is written anew when its objects can be read (warning
 * `repaired`) or decrypted with the empty password (warning `decrypted`), and so is what holds active content that is to
 * be removed. Everything else is refused with a reason.
 */
export async function inspect(input: Input): Promise<TaskResult<"inspect">> {
  try {
    const head = Buffer.from(input.pdf.buffer, input.pdf.byteOffset, Math.min(input.pdf.length, HEADER_WITHIN));
    if (!head.includes("%PDF-")) throw new PdfError("not-a-pdf", "no PDF header");
    const fit = await fitForSealing(input);
    const form = fit.file.dict(fit.file.catalog.get("AcroForm"));
    if (form && fit.file.resolve(form.get("XFA")) !== null) {
      return refused("xfa", "This is an XFA form, which only Adobe's own programs can draw. Print it to PDF first.");
    }
    const { file, pages, rewritten, warnings } = await withActiveContentDecided(fit, input);
    const fields = countFields(file, file.dict(file.catalog.get("AcroForm")));
    warnings.push(...contentWarnings(file, fields));
    warnings.push(...coveredPages(file, pages));
    const value = {
      pageCount: pages.length,
      pages: pages.map(pageBox),
      hasFormFields: fields > 0,
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

function refused(code: InspectCode, message: string): { ok: false; error: WorkerFailure<InspectCode> } {
  return { ok: false, error: { code, message } };
}

/** A document that others signed is never altered: what would be removed is warned of. */
async function withActiveContentDecided(fit: Fit, { activeContent, maxPages }: Input): Promise<Fit> {
  const { file } = fit;
  const found = mayHoldActiveContent(file) ? findActiveContent(file) : new Map();
  if (found.size === 0) return fit;
  const decision = decideActiveContent(found, activeContent, holdsSignature(file));
  const warnings = activeContentWarnings(found, decision);
  if (decision.removed.size === 0) return { ...fit, warnings: [...fit.warnings, ...warnings] };
  const without = await withoutActiveContent(fit, decision.removed, maxPages);
  return { ...without, warnings: [...without.warnings, ...warnings] };
}

function pageBox(page: PdfPage): PageBox {
  const { width, height } = displayedSize(page);
  const round = (length: number): number => Math.round(length * 1000) / 1000;
  return { page: page.index + 1, width: round(width), height: round(height), rotation: page.rotate };
}

/** Counts form fields; a tree that is too large or cyclic is counted as far as it goes. */
function countFields(source: ObjectSource, form: PdfDict | null): number {
  let count = 0;
  const queue = [...(source.array(form?.get("Fields")) ?? [])];
  const seen = new Set<PdfDict>();
  for (let next = queue.pop(); next && seen.size < MAX_FIELDS; next = queue.pop()) {
    const field = source.dict(next);
    if (!field || seen.has(field)) continue;
    seen.add(field);
    // Without a name it is only a widget of the field above it.
    if (field.has("T")) count++;
    for (const kid of source.array(field.get("Kids")) ?? []) queue.push(kid);
  }
  return count;
}

function contentWarnings(file: PdfFile, fields: number): Warning[] {
  const warnings: Warning[] = [];
  const signatures = countSignatures(file);
  if (signatures > 0) {
    const message = "The document is already signed; stamping pages ends the validity of that signature.";
    warnings.push({ code: "already-signed", message, count: signatures });
  }
  if (fields > 0) {
    const message = "The document has form fields of its own; they are kept, but recipients do not fill them in.";
    warnings.push({ code: "form-fields", message, count: fields });
  }
  if (file.dict(file.catalog.get("Collection"))) {
    warnings.push({ code: "portfolio", message: "This is a portfolio; only its cover pages are used." });
  }
  return warnings;
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
