/** A revision that holds a signature still to be filled in (ISO 32000-1 §12.8): seals and document timestamps alike. */
import type { Hash } from "node:crypto";
import { name, PdfDict, PdfError, type PdfObject, PdfRaw, type PdfRef, textString } from "../pdf/objects.ts";
import { Parser } from "../pdf/parser.ts";
import { type Base, dropPermissions, type Revision } from "../pdf/revision.ts";
import { type SignatureField, signatureOf } from "./fields.ts";
import type { FileBytes } from "./verify.ts";

export type Placeholder = {
  /** Everything of the signature dictionary but /ByteRange and /Contents. */
  entries: readonly (readonly [string, PdfObject])[];
  fieldName: string;
  /** Bytes reserved for the DER in /Contents. */
  capacity: number;
  /**
   * Leaves the form as it is found, as all seals did until November 2026. Since then the first signature gives it defaults
   * for fonts and text where it has none: with a form that lacks them, PDFium draws no free text without an appearance.
   */
  bareForm?: boolean | undefined;
};

export type PreparedSignature = {
  /** SHA-256 of everything that /ByteRange covers. */
  digest: Buffer;
  capacity: number;
  /** What the next revision stands on. */
  base: Base;
  /** The revision's bytes with `der` in /Contents; call once, `der` at most `capacity` bytes. */
  close: (der: Uint8Array) => Buffer;
  /** The closed signature as it can be read back out of the bytes. */
  reopen: () => { field: SignatureField; file: FileBytes };
};

const BYTE_RANGE_WIDTH = 48;
const HEX_DIGITS = Buffer.from("0123456789abcdef", "latin1");
// Annotation flags print and locked (Table 165): nothing to show, nothing to move.
const PRINT_AND_LOCKED = 4 + 128;
const SIGNATURES_EXIST_AND_APPEND_ONLY = 3;

/**
 * Adds the signature field with an invisible widget on the first page and closes the revision around an empty
 * /Contents. `prefix` has hashed everything that the revision stands on; it stays usable.
 * @throws PdfError `damaged` when the document has no page.
 */
export function prepareSignature(revision: Revision, placeholder: Placeholder, prefix: Hash): PreparedSignature {
  const { tail, object, open, behind, base } = laidOut(revision, placeholder);
  const start = revision.base.length;
  const digest = prefix.copy().update(tail.subarray(0, open)).update(tail.subarray(behind)).digest();
  const close = (der: Uint8Array): Buffer => filled(tail, open, der);
  const reopen = () => {
    const budget = { objects: 1_000_000, scan: 0, inflate: 0 };
    const { object: found } = new Parser(tail, object, budget).indirect(() => null);
    const field = signatureOf(revision, placeholder.fieldName, revision.dict(found) ?? new PdfDict());
    return { field, file: bytesBehind(prefix, start, tail) };
  };
  return { digest, capacity: placeholder.capacity, base, close, reopen };
}

/** The same revision as it was written once with `contents`; for comparison, so that nothing is hashed. */
export function signatureRevision(
  revision: Revision,
  placeholder: Omit<Placeholder, "capacity">,
  contents: Uint8Array,
): { bytes: Buffer; base: Base } {
  const { tail, open, base } = laidOut(revision, { ...placeholder, capacity: contents.length });
  return { bytes: filled(tail, open, contents), base };
}

function filled(tail: Buffer, open: number, der: Uint8Array): Buffer {
  for (let index = 0, at = open + 1; index < der.length; index++) {
    const byte = der[index] ?? 0;
    tail[at++] = HEX_DIGITS[byte >> 4] ?? 0;
    tail[at++] = HEX_DIGITS[byte & 15] ?? 0;
  }
  return tail;
}

let emptied: PdfRaw | null = null;

/** Nearly all signatures of an installation have room for the same. */
function emptyContents(capacity: number): PdfRaw {
  if (emptied?.bytes.length !== capacity * 2 + 2) {
    emptied = new PdfRaw(Buffer.from(`<${"0".repeat(capacity * 2)}>`, "latin1"));
  }
  return emptied;
}

function laidOut(revision: Revision, placeholder: Placeholder) {
  const signature = revision.add(
    // First these two, so that nothing written by people can be mistaken for them.
    new PdfDict([
      ["ByteRange", new PdfRaw(Buffer.alloc(BYTE_RANGE_WIDTH, 0x20))],
      ["Contents", emptyContents(placeholder.capacity)],
      ...placeholder.entries,
    ]),
  );
  addField(revision, signature, placeholder);
  dropPermissions(revision);
  const start = revision.base.length;
  const { bytes: tail, offsets, base } = revision.finish();
  const object = (offsets.get(signature.num) ?? 0) - start;
  const rangeAt = tail.indexOf("/ByteRange ", object, "latin1") + "/ByteRange ".length;
  const open = tail.indexOf("/Contents <", rangeAt, "latin1") + "/Contents ".length;
  const behind = open + placeholder.capacity * 2 + 2;
  const range = `[0 ${start + open} ${start + behind} ${tail.length - behind}]`;
  tail.write(range.padEnd(BYTE_RANGE_WIDTH), rangeAt, "latin1");
  return { tail, object, open, behind, base };
}

/** What `prefix` has hashed, and the tail behind it; only the tail can be read. */
function bytesBehind(prefix: Hash, start: number, tail: Buffer): FileBytes {
  const between = (from: number, to: number): Uint8Array => {
    if (from < start) throw new RangeError("the signature begins before its revision");
    return tail.subarray(from - start, to - start);
  };
  return {
    length: start + tail.length,
    between,
    digest([, length = 0, resume = 0, rest = 0], algorithm) {
      if (algorithm !== "sha256") throw new RangeError("the file is hashed with SHA-256 only");
      return prefix
        .copy()
        .update(between(start, length))
        .update(between(resume, resume + rest))
        .digest();
    },
  };
}

function addField(revision: Revision, signature: PdfRef, { fieldName, bareForm }: Placeholder): void {
  const page = revision.base.page(0);
  if (!page) throw new PdfError("damaged", "no page to put the signature field on");
  const field = revision.add(
    new PdfDict([
      ["Type", name("Annot")],
      ["Subtype", name("Widget")],
      ["FT", name("Sig")],
      ["T", textString(fieldName)],
      ["V", signature],
      ["Rect", [0, 0, 0, 0]],
      ["F", PRINT_AND_LOCKED],
      ["P", page.ref],
    ]),
  );
  // Never into an object that these refer to: whatever else refers to it would be changed too. A stream is no dictionary.
  const pageDict = dictAt(revision, page.ref) ?? page.dict;
  const annotations = [...(revision.array(pageDict.get("Annots")) ?? []), field];
  revision.set(page.ref, pageDict.clone().set("Annots", annotations));

  const { catalog } = revision;
  const form = dictAt(revision, catalog.get("AcroForm")) ?? new PdfDict();
  const flags = revision.number(form.get("SigFlags")) ?? 0;
  const extended = form
    .clone()
    .set("Fields", [...(revision.array(form.get("Fields")) ?? []), field])
    .set("SigFlags", flags | SIGNATURES_EXIST_AND_APPEND_ONLY);
  // Behind a signature nothing is touched that need not be.
  if (!bareForm && flags === 0) giveDefaults(revision, extended);
  revision.set(revision.base.catalogRef, catalog.clone().set("AcroForm", extended));
}

/** The form's default resources and appearance (ISO 32000-1 §12.7.2), as far as it lacks them. No font: it would have to be embedded. */
function giveDefaults(revision: Revision, form: PdfDict): void {
  const resources = dictAt(revision, form.get("DR")) ?? new PdfDict();
  if (!dictAt(revision, resources.get("Font"))) form.set("DR", resources.clone().set("Font", new PdfDict()));
  if (!revision.string(form.get("DA"))) form.set("DA", textString("/Helv 0 Tf 0 g"));
}

function dictAt(revision: Revision, object: PdfObject | undefined): PdfDict | null {
  const value = revision.resolve(object);
  return value instanceof PdfDict ? value : null;
}
