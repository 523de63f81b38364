/** Verifies the seals of a PDF: no trust in whoever made them, no network, nothing but the file and the anchors given. */
import { createHash } from "node:crypto";
import { PdfError } from "../pdf/objects.ts";
import { plainHex } from "../pdf/parser.ts";
import { openPdf, type PdfFile } from "../pdf/reader.ts";
import type { SealLevel } from "../protocol.ts";
import { isCanonicalSignature, keyKind, OID } from "./algorithms.ts";
import { type Certificate, chainTo, maySeal, parseCertificate, subjectOf } from "./certificate.ts";
import { encodeSignedData, parseSignedData, type SignedData, singleAttribute } from "./cms.ts";
import { DerError } from "./der.ts";
import { findSignatures, type SignatureField } from "./fields.ts";
import { isOnlyValidationData, type LaterChange, laterChanges } from "./later-changes.ts";
import { judgeLongTerm } from "./long-term-check.ts";
import { hasStray, type SignerProblem, signerProblems } from "./signer-check.ts";
import { checkTimestamp, type TimestampReport } from "./timestamp-verify.ts";

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
  | "timestamp-invalid"
  /** A document timestamp states a time before what it covers. */
  | "timestamp-out-of-order"
  /** A list in the file says that a certificate of the chain was revoked by then. */
  | "revoked"
  /** Something was changed behind it that is neither validation data nor a document timestamp. */
  | "changed-after";

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
  /** Of a seal: as far as the file itself proves it. */
  level: SealLevel | null;
  /** What was appended behind it; empty for the last one. */
  later: LaterChange[];
  timestamp: TimestampReport | null;
  /**
   * Somebody else's, or a broken one, from before the seal: part of what was sealed. Nobody here vouches for it, so that its
   * problems say nothing about the seal.
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
  /** The lowest of the seals'. */
  level: SealLevel | null;
  /** Until when the authority of the newest timestamp vouches for all that is before it; ISO 8601. */
  protectedUntil: string | null;
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
 * Reports on every signature of a PDF. Never throws on a bad file. Runs in browsers too (`apps/shared/validation`).
 * @param bytes the same file for whoever has its digests already
 * @throws DerError when a trusted certificate is none.
 */
export function verifySealedPdf(pdf: Uint8Array, trust: VerifyTrust, bytes = wholeFile(pdf)): SealReport {
  return examineSealedPdf(pdf, trust, bytes).report;
}

/** The same, with the chains of seals and timestamps that lead to trusted certificates. */
export function examineSealedPdf(
  pdf: Uint8Array,
  trust: VerifyTrust,
  bytes = wholeFile(pdf),
): { report: SealReport; chains: Certificate[][] } {
  const report: SealReport = {
    valid: false,
    sha256: bytes.digest([0, pdf.length, pdf.length, 0], "sha256").toString("hex"),
    size: pdf.length,
    problems: [],
    signatures: [],
    level: null,
    protectedUntil: null,
  };
  const anchors = trust.trusted.map(parseCertificate);
  try {
    const file = openPdf(pdf);
    // What was sealed once must verify for ever, however much there is in it.
    file.makeRoom();
    // Nothing is sealed here that is; what its strings say cannot be read.
    if (file.encrypted) report.problems.push("encrypted");
    const checked = findSignatures(file).map((field) => verifySignatureField(bytes, field, anchors, trust));
    report.signatures = checked.map((one) => one.report);
    const own = judgeWhole(report, file, checked);
    const chains = own.flatMap(({ chain, timestampChain }) => [chain ?? [], timestampChain ?? []]);
    return { report, chains: chains.filter(({ length }) => length > 0) };
  } catch (error) {
    if (!(error instanceof PdfError)) throw error;
    report.problems.push(error.code === "unsupported" ? "damaged" : error.code);
    return { report, chains: [] };
  }
}

export type CheckedSignature = {
  report: SignatureReport;
  /** Of the seal, and of its timestamp or the document timestamp itself; null when they lead nowhere. */
  chain: Certificate[] | null;
  timestampChain: Certificate[] | null;
};

/** What only the whole file tells: who else signed, what came later, how long the seals last. @returns those of ours */
function judgeWhole(report: SealReport, file: PdfFile, checked: readonly CheckedSignature[]): CheckedSignature[] {
  const seals = checked.filter((one) => one.report.kind === "seal" && !one.report.foreign);
  const first = Math.min(...seals.map((one) => one.report.coveredTo));
  for (const { report: one } of checked) {
    // Behind our seal nobody else has anything to stamp; a broken one there is a change like any other.
    if (one.kind === "document-timestamp") one.foreign &&= one.coveredTo < first || one.problems.length > 0;
  }
  const own = checked.filter((one) => !one.report.foreign);
  if (seals.length === 0) {
    report.problems.push("no-seal");
    return own;
  }
  const last = own.at(-1)?.report;
  const end = last?.coversWholeFile ? file.length : (last?.coveredTo ?? 0);
  // Whatever follows the last signature is not sealed, be it a single comment.
  if (end < file.length && !isOnlyValidationData(file, end)) report.problems.push("bytes-after-seal");
  const holding = new Map(
    own.flatMap(({ report: { field, kind, coveredTo, problems } }) =>
      kind !== "other" && problems.length === 0 ? [[coveredTo, { field, kind }] as const] : [],
    ),
  );
  for (const { report: one } of own) {
    if (one.problems.includes("byte-range-wrong") || report.problems.length > 0) continue;
    one.later = laterChanges(file, one.coveredTo, holding);
    if (one.later.includes("other")) one.problems.push("changed-after");
  }
  const newest = own.findLast((one) => one.report.kind === "seal")?.report;
  if (newest?.problems.length === 0) {
    // A sealed file that was changed and sealed anew: the newest seal speaks for all that is before it.
    for (const { report: one } of own) one.foreign ||= one.coveredTo < newest.coveredTo && one.problems.length > 0;
  }
  const counting = own.filter((one) => !one.report.foreign);
  judgeLongTerm(report, file, counting);
  report.valid = report.problems.length === 0 && counting.every((one) => one.report.problems.length === 0);
  return counting;
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
  return verifySignatureField(file, field, trust.trusted.map(parseCertificate), trust).report;
}

/** A file in one piece. */
export const wholeFile = (pdf: Uint8Array): FileBytes => ({
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
): CheckedSignature {
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
    later: [],
    timestamp: null,
    foreign: false,
    problems: [],
  };
  const checked: CheckedSignature = { report, chain: null, timestampChain: null };
  report.coversWholeFile = report.coveredTo === file.length;
  const contents = contentsBetween(file, field);
  if (!contents) report.problems.push("byte-range-wrong");
  else if (report.kind === "seal") checkSeal(checked, file, contents, anchors, trust);
  else if (report.kind === "document-timestamp") checkDocumentTimestamp(checked, file, contents, trust);
  else report.problems.push("unknown-format");
  // What reaches to the end of the file is judged, whoever made it.
  report.foreign = !report.coversWholeFile && !isOurs(report, anchors);
  return checked;
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
  const gap = file.between(length, resume);
  if (gap[0] !== 0x3c || gap.at(-1) !== 0x3e) return null;
  const bytes = plainHex(gap, 1, gap.length - 1);
  return bytes && Buffer.compare(bytes, contents) === 0 ? Buffer.from(bytes.buffer) : null;
}

const paddingIsZero = (contents: Buffer, from: number): boolean =>
  contents.subarray(from).equals(Buffer.alloc(contents.length - from));

function checkSeal(
  checked: CheckedSignature,
  file: FileBytes,
  contents: Buffer,
  anchors: readonly Certificate[],
  trust: VerifyTrust,
): void {
  const { report } = checked;
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
      const stamp = checkTimestamp(token.raw, {
        digest: (algorithm) => createHash(algorithm).update(signer.signature).digest(),
        trusted: trust.trustedTimestamp ?? trust.trusted,
      });
      report.timestamp = stamp.report;
      checked.timestampChain = stamp.chain;
    }
    checked.chain = checkSigner(report, data, anchors, trust.at);
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    report.problems.push("malformed");
  }
}

/** Certificate, chain and timestamp; a timestamp that holds says when the chain had to be valid. */
function checkSigner(
  report: SignatureReport,
  data: SignedData,
  anchors: readonly Certificate[],
  now: string,
): Certificate[] | null {
  const own = data.signer.certificate;
  const { timestamp } = report;
  if (timestamp && timestamp.problems.length > 0) report.problems.push("timestamp-invalid");
  if (!own) return null;
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
  return chain;
}

/** Our seals are written in one way only: built anew from their parts they must come out byte for byte. */
function isCanonical(data: SignedData, contents: Buffer, timestamp: Buffer | null): boolean {
  const { signer } = data;
  const key = signer.certificate && keyKind(signer.certificate.publicKey);
  if (!key || data.certificates[0] !== signer.certificate) return false;
  if (!isCanonicalSignature(key, signer.signature)) return false;
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

function checkDocumentTimestamp(
  checked: CheckedSignature,
  file: FileBytes,
  contents: Buffer,
  trust: VerifyTrust,
): void {
  const { report } = checked;
  try {
    const { length } = parseSignedData(contents);
    if (!paddingIsZero(contents, length)) report.problems.push("padding-changed");
    const stamp = checkTimestamp(contents.subarray(0, length), {
      digest: (algorithm) => file.digest(report.byteRange, algorithm),
      trusted: trust.trustedTimestamp ?? trust.trusted,
    });
    report.timestamp = stamp.report;
    checked.timestampChain = stamp.chain;
    if (report.timestamp.problems.length > 0) report.problems.push("timestamp-invalid");
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    report.problems.push("malformed");
  }
}
