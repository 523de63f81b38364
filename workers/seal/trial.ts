/** Whether a document can be sealed, and the seal be verified and renewed: tried without keys, so that no seal fails later. */
import { createHash } from "node:crypto";
import { name, PdfError, type PdfObject } from "../pdf/objects.ts";
import { openPdf, type PdfFile } from "../pdf/reader.ts";
import { type Base, beginRevision } from "../pdf/revision.ts";
import { addToStore, storedData } from "./dss.ts";
import { coverage, findSignatures } from "./fields.ts";
import { type Holding, laterChanges } from "./later-changes.ts";
import { signatureRevision } from "./placeholder.ts";
import { verifySealedPdf } from "./verify.ts";

// What a file may bring along; the verifier bears several times as much, so that room is left for what is added here.
const MAX_FIELDS = 50_000;
const MAX_SIGNATURES = 32;
const MAX_STORED = 500;

/**
 * Appends a seal, validation data and a document timestamp, none of them signed, and looks at the result as the verifier
 * does.
 * @throws PdfError when the document stands in the way of any of that
 */
export function trySealing(file: PdfFile): void {
  const signatures = findSignatures(file, MAX_FIELDS);
  if (signatures.length > MAX_SIGNATURES) throw new PdfError("too-complex", "too many signatures");
  if (signatures.some((one) => one.byteRange.length > 0 && coverage(one, file.length) < 0)) {
    throw new PdfError("damaged", "a signature speaks of bytes that are not there");
  }
  const stored = storedData(file, file.catalog);
  if (stored.certificates.length + stored.lists.length > MAX_STORED) {
    throw new PdfError("too-complex", "too much in the document security store");
  }
  const { bytes, holding } = unsigned(file);
  // No hash is looked at.
  const digest = (): Buffer => createHash("sha256").digest();
  const between = (start: number, end: number): Uint8Array => bytes.subarray(start, end);
  const { problems } = verifySealedPdf(bytes, NOBODY, { length: bytes.length, between, digest });
  const [problem] = problems.filter((one) => one !== "no-seal");
  if (problem) throw new PdfError("damaged", `a seal on it could not be verified: ${problem}`);
  const [first] = holding.keys();
  if (laterChanges(openPdf(bytes), first ?? 0, holding).includes("other")) {
    throw new PdfError("damaged", "a seal on it could not be extended");
  }
}

const NOBODY = { trusted: [], at: "2000-01-01T00:00:00.000Z" };

/** The file as it would be at level B-LTA, and where its signatures end. */
function unsigned(file: PdfFile): { bytes: Buffer; holding: Map<number, Holding> } {
  const tails: Uint8Array[] = [file.bytes];
  const holding = new Map<number, Holding>();
  let base: Base = file;
  const append = (made: { bytes: Buffer; base: Base }): void => {
    tails.push(made.bytes);
    base = made.base;
  };
  const sign = (field: string, kind: Holding["kind"], subFilter: string): void => {
    const entries: [string, PdfObject][] = [["SubFilter", name(subFilter)]];
    append(signatureRevision(beginRevision(base), { entries, fieldName: field }, Buffer.alloc(16)));
    holding.set(base.length, { field, kind });
  };
  sign("Signet trial", "seal", "ETSI.CAdES.detached");
  const revision = beginRevision(base);
  addToStore(revision, { certificates: [Buffer.from("certificate")], lists: [Buffer.from("list")] });
  append(revision.finish());
  sign("Signet trial T1", "document-timestamp", "ETSI.RFC3161");
  return { bytes: Buffer.concat(tails), holding };
}
