/** Finds the signature fields of a PDF (ISO 32000-1 §12.7.4.5, §12.8). */
import {
  type ObjectSource,
  type PdfDict,
  PdfError,
  type PdfObject,
  PdfRef,
  PdfString,
  textOf,
} from "../pdf/objects.ts";
import type { PdfFile } from "../pdf/reader.ts";

export type SignatureField = {
  /** Fully qualified field name. */
  name: string;
  subFilter: string;
  byteRange: number[];
  contents: Uint8Array;
  signerName: string | null;
  reason: string | null;
  location: string | null;
  /** ISO 8601, from /M. */
  claimedAt: string | null;
};

const MAX_FIELDS = 100_000;
const noName: Named | null = null;
// Each costs a hash over the file.
const MAX_SIGNATURES = 64;

/**
 * The filled signature fields, those that cover less of the file first; of more than 64 those that cover most of it. One
 * that speaks of bytes behind the file's end covers nothing.
 * @throws PdfError
 */
export function findSignatures(file: PdfFile, maxFields = MAX_FIELDS): SignatureField[] {
  const found = [...signatureFields(file, maxFields)].map(({ name, value }) => {
    return { name, value, end: coverage({ byteRange: byteRangeOf(file, value) }, file.length) };
  });
  const kept = found.sort((a, b) => a.end - b.end).slice(-MAX_SIGNATURES);
  return kept.map(({ name, value }) => signatureOf(file, name(), value));
}

/** The number of bytes up to the end of what is signed; -1 when that is no part of a file of this length. */
export function coverage({ byteRange }: Pick<SignatureField, "byteRange">, length: number): number {
  const end = (byteRange[2] ?? 0) + (byteRange[3] ?? 0);
  return Number.isSafeInteger(end) && end >= 0 && end <= length ? end : -1;
}

/** A field's own part of its name, and the field that it stands in. */
type Named = { own: PdfString; above: Named | null };

/** Longer than any that people or programs give. */
const MAX_NAME_BYTES = 64 * 1024;

/** @throws PdfError when it is too long */
function nameOf(named: Named | null): string {
  const parts: string[] = [];
  let length = 0;
  for (let next = named; next; next = next.above) {
    length += next.own.bytes.length;
    if (length > MAX_NAME_BYTES) throw new PdfError("too-complex", "the name of a field is too long");
    parts.push(textOf(next.own));
  }
  return parts
    .reverse()
    .filter((part) => part !== "")
    .join(".");
}

/**
 * Every field that holds a signature, with the dictionary that it is the value of. Its fully qualified name is made when it is asked
 * for: fields within fields would make names of all their lengths together.
 * @throws PdfError
 */
export function* signatureFields(
  file: ObjectSource & { catalog: PdfDict },
  maxFields = MAX_FIELDS,
): Generator<{ field: PdfDict; name: () => string; value: PdfDict }> {
  const form = file.dict(file.catalog.get("AcroForm"));
  const seen = new Set<number>();
  const waiting = (file.array(form?.get("Fields")) ?? []).map((field) => ({ field, above: noName, type: "" }));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (next.field instanceof PdfRef && seen.has(next.field.num)) continue;
    if (seen.size + waiting.length > maxFields) throw new PdfError("too-complex", "too many form fields");
    const field = file.dict(next.field);
    // A reference with a wrong generation leads to nothing, and must not pass for a visit to the field that has the number.
    if (!field) continue;
    if (next.field instanceof PdfRef) seen.add(next.field.num);
    const own = file.string(field.get("T"));
    const named = own && own.bytes.length > 0 ? { own, above: next.above } : next.above;
    const type = file.name(field.get("FT")) ?? next.type;
    const value = file.dict(field.get("V"));
    if (type === "Sig" && value) yield { field, name: () => nameOf(named), value };
    for (const kid of file.array(field.get("Kids")) ?? []) waiting.push({ field: kid, above: named, type });
  }
}

/** Whether a dictionary says that it signs bytes, rightly or not. */
export const claimsToSign = (file: ObjectSource, value: PdfDict): boolean => byteRangeOf(file, value).length > 0;

/**
 * Whether a dictionary can be a signature of this file: it leaves out nothing but its own contents (ISO 32000-1 §12.8.1), which
 * are DER. Whether the signature verifies is another question.
 */
export function canBeSignature(file: PdfFile, value: PdfDict): boolean {
  const byteRange = byteRangeOf(file, value);
  const [start, before = -1, after = -1] = byteRange;
  if (byteRange.length !== 4 || start !== 0 || before < 0 || coverage({ byteRange }, file.length) <= after)
    return false;
  const contents = contentsOf(file.resolve(value.get("Contents")));
  if (!DER_TAGS.has(contents[0] ?? 0) || after - before < 2 * contents.length) return false;
  const begins = Buffer.from(contents.subarray(0, COMPARED)).toString("hex");
  const gap = Buffer.from(file.bytes.subarray(before, before + 1 + begins.length)).toString("latin1");
  return gap.replace("<", "").toLowerCase().startsWith(begins);
}

/** Of a CMS message, and of the bare signature of `adbe.x509.rsa_sha1`. */
const DER_TAGS: ReadonlySet<number> = new Set([0x30, 0x04]);
/** Bytes: enough to tell one signature from another. */
const COMPARED = 32;

/** A signature dictionary as the value of the field of this name. */
export function signatureOf(file: ObjectSource, name: string, dict: PdfDict): SignatureField {
  const text = (key: string): string | null => {
    const string = file.string(dict.get(key));
    return string && textOf(string);
  };
  return {
    name,
    subFilter: file.name(dict.get("SubFilter")) ?? "",
    byteRange: byteRangeOf(file, dict),
    contents: contentsOf(file.resolve(dict.get("Contents"))),
    signerName: text("Name"),
    reason: text("Reason"),
    location: text("Location"),
    claimedAt: dateOf(text("M")),
  };
}

const byteRangeOf = (file: ObjectSource, dict: PdfDict): number[] =>
  (file.array(dict.get("ByteRange")) ?? []).map((item) => numberOr(file.resolve(item)));

const numberOr = (object: PdfObject): number => (typeof object === "number" ? object : -1);
const contentsOf = (object: PdfObject): Uint8Array => (object instanceof PdfString ? object.bytes : new Uint8Array());

/** ISO 8601 from a PDF date (§7.9.4); null when it is none. */
function dateOf(text: string | null): string | null {
  const match = /^D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-])(\d\d)'?(\d\d)?'?)?/.exec(text ?? "");
  if (!match) return null;
  const [, year, month = "01", day = "01", hour = "00", minute = "00", second = "00", sign, h = "00", m = "00"] = match;
  const zone = sign ? `${sign}${h}:${m}` : "Z";
  const at = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
