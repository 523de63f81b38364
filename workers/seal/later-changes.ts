/**
 * What was appended behind a signature, and whether it may be there: validation data, document timestamps and further
 * seals under the same trust change nothing that a reader sees; everything else does, or might.
 *
 * Readers of PDF differ wherever the format leaves room: keys that stand twice, numbers that come alive, entries that
 * overlap. So nothing is compared by its meaning: each revision is written anew from its parts, in the one way in which it
 * is written here, and must come out byte for byte. That way of writing is therefore part of the format of sealed files.
 */
import { PdfError, textOf } from "../pdf/objects.ts";
import type { PdfFile } from "../pdf/reader.ts";
import { beginRevision } from "../pdf/revision.ts";
import { addToStore, storedData } from "./dss.ts";
import { signatureRevision } from "./placeholder.ts";

export type LaterChange = "validation-data" | "document-timestamp" | "seal" | "other";

/** A signature that was judged and holds. */
export type Holding = { field: string; kind: "seal" | "document-timestamp" };

/** Each is read with all that stand before it. */
const MAX_REVISIONS = 200;

/**
 * Compares the file with its state at the signature's end. `holding` are the signatures that hold, by where they end.
 * @throws PdfError when either cannot be read
 */
function changesBehind(file: PdfFile, end: number, holding: ReadonlyMap<number, Holding>): LaterChange[] {
  if (end === file.length) return [];
  const found = new Set<LaterChange>();
  let then = file.earlier(end);
  for (let count = 0; then.length < file.length; count++) {
    const next = count < MAX_REVISIONS ? nextState(file, then) : null;
    const kind = next && changeBetween(then, next, holding.get(next.length));
    if (!next || !kind) return ["other"];
    found.add(kind);
    then = next;
  }
  return [...found];
}

/** As `changesBehind`; what cannot be compared counts as another change. */
export function laterChanges(...args: Parameters<typeof changesBehind>): LaterChange[] {
  try {
    return changesBehind(...args);
  } catch (error) {
    if (error instanceof PdfError) return ["other"];
    throw error;
  }
}

/** Whether nothing but validation data was appended: nobody signed it. */
export function isOnlyValidationData(file: PdfFile, end: number): boolean {
  return laterChanges(file, end, new Map()).every((change) => change === "validation-data");
}

/** The file as it was when the revision behind `then` had been written; null when it does not go on from there. */
function nextState(file: PdfFile, then: PdfFile): PdfFile | null {
  const startXref = file.sectionBehind(then.startXref);
  if (startXref === null || startXref < then.length) return null;
  const view = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.length);
  const mark = `startxref\n${startXref}\n%%EOF\n`;
  const found = view.indexOf(mark, startXref, "latin1");
  return found < 0 ? null : file.earlier(found + mark.length);
}

function changeBetween(then: PdfFile, next: PdfFile, signed: Holding | undefined): LaterChange | null {
  const added = next.bytes.subarray(then.length);
  if (signed && isSignature(added, then, next, signed)) return signed.kind;
  const revision = beginRevision(then);
  if (!addToStore(revision, storedData(next, next.catalog))) return null;
  return revision.finish().bytes.equals(added) ? "validation-data" : null;
}

/** Whether `added` is what is appended for the newest field's signature, or was before November 2026, and that is the one judged. */
function isSignature(added: Uint8Array, then: PdfFile, next: PdfFile, signed: Holding): boolean {
  const field = next.dict(next.array(next.dict(next.catalog.get("AcroForm"))?.get("Fields"))?.at(-1));
  const title = next.string(field?.get("T"));
  const signature = next.dict(field?.get("V"));
  const contents = next.string(signature?.get("Contents"));
  if (!title || textOf(title) !== signed.field || !signature || !contents) return false;
  const entries = [...signature.map].filter(([key]) => key !== "ByteRange" && key !== "Contents");
  return [false, true].some((bareForm) => {
    const placeholder = { entries, fieldName: signed.field, bareForm };
    return signatureRevision(beginRevision(then), placeholder, contents.bytes).bytes.equals(added);
  });
}
