/** How a sealed file is altered: bytes in place, and revisions that somebody else appends. */
import { PdfDict, PdfRef } from "../../../workers/pdf/objects.ts";
import { openPdf } from "../../../workers/pdf/reader.ts";
import { beginRevision, type Revision } from "../../../workers/pdf/revision.ts";

export function appended(pdf: Uint8Array, change: (revision: Revision) => void): Buffer {
  const revision = beginRevision(openPdf(pdf));
  change(revision);
  return Buffer.concat([pdf, revision.finish().bytes]);
}

export function pageOf(file: Pick<Revision["base"], "page">) {
  const page = file.page(0);
  if (!page) throw new Error("no page");
  return page;
}

export function contentOf(file: Pick<Revision["base"], "page" | "array">): PdfRef {
  const contents = pageOf(file).dict.get("Contents");
  const [ref] = contents instanceof PdfRef ? [contents] : (file.array(contents) ?? []);
  if (!(ref instanceof PdfRef)) throw new Error("no content");
  return ref;
}

export const writing = (text: string): Buffer => Buffer.from(`BT /F1 30 Tf 50 400 Td (${text}) Tj ET`);

export function changed(pdf: Buffer, index: number, to: (byte: number) => number): Buffer {
  const copy = Buffer.from(pdf);
  copy[index] = to(copy[index] ?? 0);
  return copy;
}
export const otherDigit = (byte: number): number => (byte === 0x30 ? 0x31 : 0x30);
export const flip = (byte: number): number => byte ^ 1;

/** The field of our seal, and its signature dictionary. */
export function sealOf(revision: Revision): { field: PdfRef; value: PdfRef; dict: PdfDict } {
  const fields = revision.array(revision.dict(revision.catalog.get("AcroForm"))?.get("Fields")) ?? [];
  for (const field of fields) {
    const value = revision.dict(field)?.get("V");
    const dict = value instanceof PdfRef ? revision.dict(value) : null;
    if (field instanceof PdfRef && value instanceof PdfRef && dict?.has("ByteRange")) return { field, value, dict };
  }
  throw new Error("no signature");
}

export function setForm(revision: Revision, change: (form: PdfDict) => PdfDict): void {
  const form = revision.catalog.get("AcroForm");
  const next = change(revision.dict(form)?.clone() ?? new PdfDict());
  if (form instanceof PdfRef) revision.set(form, next);
  else revision.set(revision.base.catalogRef, revision.catalog.clone().set("AcroForm", next));
}
