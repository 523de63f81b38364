/** Verifies an RFC 3161 TimeStampToken completely. */
import { createHash } from "node:crypto";
import { digestName, isCanonicalSignature, keyKind, OID } from "./algorithms.ts";
import {
  type Certificate,
  chainTo,
  isTimestampingCertificate,
  maySign,
  parseCertificate,
  subjectOf,
} from "./certificate.ts";
import { parseSignedData } from "./cms.ts";
import { DerError, decodeWhole, TAG } from "./der.ts";
import { hasStray, type SignerProblem, signerProblems } from "./signer-check.ts";

export type TimestampProblem =
  | SignerProblem
  | "malformed"
  | "imprint-mismatch"
  | "nonce-mismatch"
  | "not-a-timestamping-certificate"
  | "untrusted";

export type TimestampReport = {
  /** Empty when the token holds. */
  problems: TimestampProblem[];
  /** ISO 8601; null when the token cannot be read. */
  at: string | null;
  policy: string | null;
  /** Hexadecimal */
  serial: string | null;
  /** Subject of the authority's certificate. */
  authority: string | null;
  certificateSha256: string | null;
  /** SHA-256 of the trusted certificate that the authority's chain ends in. */
  anchorSha256: string | null;
  /** Until when the authority's certificate is valid, ISO 8601. */
  validUntil: string | null;
  /**
   * A certificate in the token is vouched for by none at hand, or the signature could have been turned into another valid
   * one: both are usual with public authorities, and never so with our own.
   */
  stray: boolean;
};

export type TimestampExpectation = {
  /** The bytes that were timestamped, or their digest by name. */
  digest: (algorithm: string) => Uint8Array;
  /** The digest that was asked for, by name; undefined when any that is accepted will do. */
  algorithm?: string | undefined;
  /** What the request sent; undefined when there is nothing to compare with. */
  nonce?: bigint | undefined;
  /** DER certificates, trusted as anchors. */
  trusted: readonly Uint8Array[];
};

export type TstInfo = {
  policy: string;
  digest: string;
  imprint: Buffer;
  serial: bigint;
  at: string;
  nonce: bigint | null;
};

/** @throws DerError */
export function parseTstInfo(content: Uint8Array): TstInfo {
  const [version, policy, imprint, serial, time, ...optional] = decodeWhole(content).expect(TAG.sequence).children();
  const [algorithm, hash] = imprint?.expect(TAG.sequence).children() ?? [];
  const digest = algorithm && digestName(algorithm);
  if (version?.integer() !== 1n || !policy || !serial || !time || !hash) throw new DerError("not a TSTInfo");
  if (!digest) throw new DerError("digest algorithm not accepted");
  const nonce = optional.find((node) => node.tag === TAG.integer);
  return {
    policy: policy.oid(),
    digest,
    imprint: hash.expect(TAG.octetString).content,
    serial: serial.integer(),
    at: time.time(),
    nonce: nonce ? nonce.integer() : null,
  };
}

const UNREADABLE: TimestampReport = {
  problems: [],
  at: null,
  policy: null,
  serial: null,
  authority: null,
  certificateSha256: null,
  anchorSha256: null,
  validUntil: null,
  stray: false,
};

/** Never throws on a bad token: what is wrong stands in `problems`. */
export function verifyTimestamp(token: Uint8Array, expected: TimestampExpectation): TimestampReport {
  return checkTimestamp(token, expected).report;
}

export type CheckedTimestamp = { report: TimestampReport; chain: Certificate[] | null };

/** The same, with the chain of the authority's certificate; null when it leads to no trusted one. */
export function checkTimestamp(token: Uint8Array, expected: TimestampExpectation): CheckedTimestamp {
  try {
    return checked(token, expected);
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    return { report: { ...UNREADABLE, problems: ["malformed"] }, chain: null };
  }
}

function checked(token: Uint8Array, expected: TimestampExpectation): CheckedTimestamp {
  const data = parseSignedData(token);
  if (data.length !== token.length || !data.content) throw new DerError("not a timestamp token");
  const info = parseTstInfo(data.content);
  const trusted = expected.trusted.map(parseCertificate);
  const digest = createHash(data.signer.digest).update(data.content).digest();
  const problems: TimestampProblem[] = signerProblems(data, OID.tstInfo, digest);
  const asked = expected.algorithm === undefined || expected.algorithm === info.digest;
  if (!asked || !info.imprint.equals(expected.digest(info.digest))) problems.push("imprint-mismatch");
  if (expected.nonce !== undefined && info.nonce !== expected.nonce) problems.push("nonce-mismatch");
  const own = data.signer.certificate;
  const chain = own && chainTo(own, data.certificates, trusted, info.at);
  if (own && (!isTimestampingCertificate(own) || !maySign(own))) problems.push("not-a-timestamping-certificate");
  if (own && !chain) problems.push("untrusted");
  const kind = own ? keyKind(own.publicKey) : null;
  const report: TimestampReport = {
    problems,
    at: info.at,
    policy: info.policy,
    serial: info.serial.toString(16),
    authority: own ? subjectOf(own) : null,
    certificateSha256: own?.sha256 ?? null,
    anchorSha256: chain?.at(-1)?.sha256 ?? null,
    validUntil: own?.x509.validToDate.toISOString() ?? null,
    stray: hasStray(data, trusted) || (kind !== null && !isCanonicalSignature(kind, data.signer.signature)),
  };
  return { report, chain };
}
