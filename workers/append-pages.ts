/** Adds the pages of one PDF behind those of another as one revision, for the certificate of completion. */
import { importPages } from "./pdf/import.ts";
import { PdfError } from "./pdf/objects.ts";
import { openPdf } from "./pdf/reader.ts";
import { beginRevision } from "./pdf/revision.ts";
import type { TaskResult, Tasks } from "./protocol.ts";
import { drawFailure } from "./stamp.ts";

/** Appends all pages of `pages` behind the last page of `pdf`, which stays byte for byte the beginning of the output. */
export function appendPages(input: Tasks["appendPages"]["input"]): TaskResult<"appendPages"> {
  try {
    const file = openPdf(input.pdf);
    const revision = beginRevision(file);
    const added = importPages(revision, openPdf(input.pages));
    return { ok: true, value: { pdf: revision.finish(), pageCount: file.pages().length + added } };
  } catch (error) {
    if (error instanceof PdfError) return { ok: false, error: drawFailure(error) };
    throw error;
  }
}
