/** Verifies the seals of a PDF: no trust in whoever made them, no network, nothing but the file and the anchors given. */
import { createHash } from "node:crypto";
import { PdfError } from "../pdf/objects.ts";
import { openPdf } from "../pdf/reader.ts";
import { keyKind, OID } from "./algorithms.ts";
import { type Certificate, chainTo, maySeal, parseCertificate, subjectOf } from "./certificate.ts";
import { encodeSignedData, parseSignedData, type SignedData, singleAttribute } from "./cms.ts";
import { DerError } from "./der.ts";
import { findSignatures, type SignatureField } from "./fields.ts";
import { hasStray, type SignerProblem, signerProblems } from "./signer-check.ts";
import { type TimestampReport, verifyTimestamp } from "./timestamp-verify.ts";

export type SignatureProblem =
  | SignerProblem
  /** /ByteRange does not cover exactly everything but /Contents. */
  | "byte-range-wrong"
  /** Something else than zeros fills the rest of /Contents. */
  | "padding-changed"
  /** /SubFilter is none that is verified here. */
  | "unknown-format"
  | "malformed"
  /** The CMS holds more or other bytes than its parts call for. */
  | "cms-not-canonical"
  /** A CMS signing-time stands where /M already states the time (EN 319 142-1). */
  | "signing-time-present"
  | "stray-certificate"
  | "may-not-seal"
  /** No chain to a trusted certificate that was valid at the time of the seal. */
  | "untrusted"
  | "timestamp-invalid";

export type SignatureReport = {
  field: string;
  subFilter: string;
  kind: "seal" | "document-timestamp" | "other";
  name: string | null;
  reason: string | null;
  location: string | null;
  /** /M, ISO 8601: what the signer claims. */
  claimedAt: string | null;
  byteRange: number[];
  /** The revision that the signature closes ends here (bytes). */
  coveredTo: number;
  coversWholeFile: boolean;
  certificate: { subject: string; issuer: string; sha256: string; validFrom: string; validTo: string } | null;
  level: "B-B" | "B-T" | null;
  timestamp: TimestampReport | null;
  /**
   * Somebody else's, made before the seal: part of what was sealed. Nobody here vouches for it, so that its problems say
   * nothing about the seal.
   */
  foreign: boolean;
  /** Empty when the signature holds. */
  problems: SignatureProblem[];
};

export type SealReport = {
  /** Every seal under the trusted certificates holds, and one of them covers the whole file. */
  valid: boolean;
  sha256: string;
  size: number;
  problems: ("not-a-pdf" | "damaged" | "encrypted" | "too-complex" | "no-seal" | "bytes-after-seal")[];
  /** In the order in which they were added. */
  signatures: SignatureReport[];
};

export type VerifyTrust = {
  /** DER certificates trusted as anchors for seals. */
  trusted: readonly Uint8Array[];
  /** For timestamp authorities; the same as `trusted` when absent. */
  trustedTimestamp?: readonly Uint8Array[] | undefined;
  /** ISO 8601: when to look at certificates of seals that carry no timestamp. */
  at: string;
};

/**
 * Reports on every signature of a PDF. Never throws on a bad file.
 * @throws DerError when a trusted certificate is none.
 */
export function verifySealedPdf(pdf: Uint8Array, trust: VerifyTrust): SealReport {
  const report: SealReport = {
    valid: false,
    sha256: createHash("sha256").update(pdf).digest("hex"),
    size: pdf.length,
    problems: [],
    signatures: [],
  };
  const anchors = trust.trusted.map(parseCertificate);
  try {
    const fields = findSignatures(openPdf(pdf));
    const bytes = whole(pdf);
    report.signatures = fields.map((field) => verifySignatureField(bytes, field, anchors, trust));
  } catch (error) {
    if (!(error instanceof PdfError)) throw error;
    report.problems.push(error.code === "unsupported" ? "damaged" : error.code);
    return report;
  }
  const seals = report.signatures.filter(({ kind, foreign }) => kind === "seal" && !foreign);
  if (seals.length === 0) report.problems.push("no-seal");
  // Whatever follows the last seal is not sealed, be it a single comment.
  else if (!seals.some((seal) => seal.coversWholeFile)) report.problems.push("bytes-after-seal");
  report.valid = report.problems.length === 0 && seals.every((seal) => seal.problems.length === 0);
  return report;
}

/** Bytes of a file that need not lie in one piece. */
export type FileBytes = {
  length: number;
  between(start: number, end: number): Uint8Array;
  /** Of what /ByteRange covers; its numbers lie in the file. */
  digest(byteRange: readonly number[], algorithm: string): Buffer;
};

/** One signature on its own: with this a new one is checked before it leaves the house. @throws DerError as above */
export function verifyField(file: FileBytes, field: SignatureField, trust: VerifyTrust): SignatureReport {
  return verifySignatureField(file, field, trust.trusted.map(parseCertificate), trust);
}

const whole = (pdf: Uint8Array): FileBytes => ({
  length: pdf.length,
  between: (start, end) => pdf.subarray(start, end),
  digest([, length = 0, resume = 0, rest = 0], algorithm) {
    const hash = createHash(algorithm).update(pdf.subarray(0, length));
    return hash.update(pdf.subarray(resume, resume + rest)).digest();
  },
});

function verifySignatureField(
  file: FileBytes,
  field: SignatureField,
  anchors: readonly Certificate[],
  trust: VerifyTrust,
): SignatureReport {
  const report: SignatureReport = {
    field: field.name,
    subFilter: field.subFilter,
    kind: KINDS.get(field.subFilter) ?? "other",
    name: field.signerName,
    reason: field.reason,
    location: field.location,
    claimedAt: field.claimedAt,
    byteRange: field.byteRange,
    coveredTo: (field.byteRange[2] ?? 0) + (field.byteRange[3] ?? 0),
    coversWholeFile: false,
    certificate: null,
    level: null,
    timestamp: null,
    foreign: false,
    problems: [],
  };
  report.coversWholeFile = report.coveredTo === file.length;
  const contents = contentsBetween(file, field);
  if (!contents) report.problems.push("byte-range-wrong");
  else if (report.kind === "seal") checkSeal(report, file, contents, anchors, trust);
  else if (report.kind === "document-timestamp") checkDocumentTimestamp(report, file, contents, trust);
  else report.problems.push("unknown-format");
  // What reaches to the end of the file is judged, whoever made it.
  report.foreign = !report.coversWholeFile && !isOurs(report, anchors);
  return report;
}

/** A seal under a trusted certificate, were it only by the issuer's name: one that has run out is still ours. */
function isOurs({ kind, certificate, problems }: SignatureReport, anchors: readonly Certificate[]): boolean {
  if (kind !== "seal" || !certificate) return false;
  const names = anchors.map(({ x509 }) => x509.subject.replaceAll("\n", ", "));
  return !problems.includes("untrusted") || names.includes(certificate.issuer);
}

const KINDS = new Map<string, SignatureReport["kind"]>([
  ["ETSI.CAdES.detached", "seal"],
  ["ETSI.RFC3161", "document-timestamp"],
]);

const MAX_CONTENTS = 4 * 1024 * 1024;

/** The bytes of /Contents, when /ByteRange leaves out exactly its hex string and nothing else. */
function contentsBetween(file: FileBytes, { byteRange, contents }: SignatureField): Buffer | null {
  const [start, length, resume, rest] = byteRange;
  if (byteRange.length !== 4 || start !== 0 || length === undefined || resume === undefined || rest === undefined)
    return null;
  if (!byteRange.every((n) => Number.isSafeInteger(n) && n >= 0)) return null;
  if (resume <= length || resume + rest > file.length) return null;
  if (resume - length > MAX_CONTENTS || (resume - length) % 2 !== 0) return null;
  const gap = Buffer.from(file.between(length, resume)).toString("latin1");
  if (!/^<[0-9a-f]*>$/i.test(gap)) return null;
  const bytes = Buffer.from(gap.slice(1, -1), "hex");
  return bytes.equals(contents) ? bytes : null;
}

const paddingIsZero = (contents: Buffer, from: number): boolean => contents.subarray(from).every((byte) => byte === 0);

function checkSeal(
  report: SignatureReport,
  file: FileBytes,
  contents: Buffer,
  anchors: readonly Certificate[],
  trust: VerifyTrust,
): void {
  try {
    const data = parseSignedData(contents);
    const { signer } = data;
    const digest = file.digest(report.byteRange, signer.digest);
    report.problems.push(...signerProblems(data, OID.data, digest));
    if (!paddingIsZero(contents, data.length)) report.problems.push("padding-changed");
    if (signer.attributes.has(OID.signingTime)) report.problems.push("signing-time-present");
    if (hasStray(data, anchors)) report.problems.push("stray-certificate");
    const token = singleAttribute(signer.unsignedAttributes, OID.signatureTimestamp);
    if (!isCanonical(data, contents, token?.raw ?? null)) report.problems.push("cms-not-canonical");
    report.level = token ? "B-T" : "B-B";
    if (token) {
      report.timestamp = verifyTimestamp(token.raw, {
        digest: (algorithm) => createHash(algorithm).update(signer.signature).digest(),
        trusted: trust.trustedTimestamp ?? trust.trusted,
      });
    }
    checkSigner(report, data, anchors, trust.at);
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    report.problems.push("malformed");
  }
}

/** Certificate, chain and timestamp; a timestamp that holds says when the chain had to be valid. */
function checkSigner(report: SignatureReport, data: SignedData, anchors: readonly Certificate[], now: string): void {
  const own = data.signer.certificate;
  const { timestamp } = report;
  if (timestamp && timestamp.problems.length > 0) report.problems.push("timestamp-invalid");
  if (!own) return;
  report.certificate = {
    subject: subjectOf(own),
    issuer: own.x509.issuer.replaceAll("\n", ", "),
    sha256: own.sha256,
    validFrom: own.x509.validFromDate.toISOString(),
    validTo: own.x509.validToDate.toISOString(),
  };
  if (!maySeal(own)) report.problems.push("may-not-seal");
  const at = timestamp?.problems.length === 0 && timestamp.at ? timestamp.at : now;
  const chain = chainTo(own, data.certificates, anchors, at);
  if (!chain) report.problems.push("untrusted");
  // The installation's own authority stands under the same root and carries nothing that needs excuse.
  else if (timestamp?.stray && timestamp.anchorSha256 === chain.at(-1)?.sha256)
    report.problems.push("timestamp-invalid");
}

/** Our seals are written in one way only: built anew from their parts they must come out byte for byte. */
function isCanonical(data: SignedData, contents: Buffer, timestamp: Buffer | null): boolean {
  const { signer } = data;
  const key = signer.certificate && keyKind(signer.certificate.publicKey);
  if (!key || data.certificates[0] !== signer.certificate) return false;
  const again = encodeSignedData({
    contentType: data.contentType,
    content: data.content,
    certificates: data.certificates,
    key,
    attributes: signer.attributesDer,
    signature: signer.signature,
    timestamp,
  });
  return again.equals(contents.subarray(0, data.length));
}

function checkDocumentTimestamp(report: SignatureReport, file: FileBytes, contents: Buffer, trust: VerifyTrust): void {
  try {
    const { length } = parseSignedData(contents);
    if (!paddingIsZero(contents, length)) report.problems.push("padding-changed");
    report.timestamp = verifyTimestamp(contents.subarray(0, length), {
      digest: (algorithm) => file.digest(report.byteRange, algorithm),
      trusted: trust.trustedTimestamp ?? trust.trusted,
    });
    if (report.timestamp.problems.length > 0) report.problems.push("timestamp-invalid");
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    report.problems.push("malformed");
  }
}
