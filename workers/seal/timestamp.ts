/** RFC 3161: asking for a timestamp, and issuing one as the built-in authority. */

import { createHash } from "node:crypto";
import { canonicalSignature, keyKind, OID, SHA256_ALGORITHM, VERSION_1 } from "./algorithms.ts";
import { isTimestampingCertificate, parseCertificate } from "./certificate.ts";
import { encodeSignedData, signedAttributes } from "./cms.ts";
import { boolean, DerError, decodeWhole, generalizedTime, integer, octetString, oid, sequence, TAG } from "./der.ts";

/** SHA-256 over what is to be timestamped, as MessageImprint. */
function messageImprint(imprint: Uint8Array): Buffer {
  if (imprint.length !== 32) throw new RangeError("an imprint is 32 bytes of SHA-256");
  return sequence(SHA256_ALGORITHM, octetString(imprint));
}

/** A TimeStampReq (§2.4.1) over a SHA-256 imprint that asks for the authority's certificate. */
export function timestampRequest(imprint: Uint8Array, nonce: bigint): Buffer {
  return sequence(VERSION_1, messageImprint(imprint), integer(nonce), boolean(true));
}

export type TimestampStatus = { granted: true; token: Buffer } | { granted: false; status: number; text: string };

/** Opens a TimeStampResp (§2.4.2); the token in it is not verified. @throws DerError when it is none. */
export function openTimestampResponse(response: Uint8Array): TimestampStatus {
  const [info, token, ...extra] = decodeWhole(response).expect(TAG.sequence).children();
  const [status, text] = info?.expect(TAG.sequence).children() ?? [];
  if (!status || extra.length > 0) throw new DerError("not a timestamp response");
  const code = Number(status.integer());
  if (code === 0 || code === 1) {
    if (!token) throw new DerError("granted without a token");
    return { granted: true, token: Buffer.from(token.raw) };
  }
  const reasons = text?.tag === TAG.sequence ? text.children().map((part) => part.content.toString("utf8")) : [];
  return { granted: false, status: code, text: reasons.join("; ") };
}

export type TimestampIssue = {
  /** SHA-256 of what is timestamped. */
  imprint: Uint8Array;
  nonce: bigint | null;
  /** Never used before by this authority. */
  serial: bigint;
  /** ISO 8601 */
  at: string;
  /** Dotted object identifier of the authority's policy. */
  policy: string;
  /** DER, the authority's own certificate first. */
  certificates: readonly Uint8Array[];
  /** Signs the DER of the signed attributes: PKCS#1 v1.5 with SHA-256 for RSA, DER-encoded ECDSA for P-256. */
  sign: (signedAttributes: Uint8Array) => Promise<Uint8Array>;
};

/**
 * A TimeStampToken (DER ContentInfo), accurate to one second.
 * @throws DerError when the first certificate may not issue timestamps.
 */
export async function issueTimestamp(issue: TimestampIssue): Promise<Uint8Array> {
  const certificates = issue.certificates.map(parseCertificate);
  const own = certificates[0];
  const key = own && keyKind(own.publicKey);
  if (!own || !key || !isTimestampingCertificate(own)) throw new DerError("not a timestamping certificate");
  const tstInfo = sequence(
    VERSION_1,
    oid(issue.policy),
    messageImprint(issue.imprint),
    integer(issue.serial),
    generalizedTime(issue.at),
    sequence(integer(1)),
    ...(issue.nonce === null ? [] : [integer(issue.nonce)]),
  );
  const attributes = signedAttributes(OID.tstInfo, createHash("sha256").update(tstInfo).digest(), own);
  const signature = canonicalSignature(key, await issue.sign(attributes));
  return encodeSignedData({
    contentType: OID.tstInfo,
    content: tstInfo,
    certificates,
    key,
    attributes,
    signature,
    timestamp: null,
  });
}
