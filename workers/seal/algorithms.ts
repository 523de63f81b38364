/** Object identifiers, and the signature algorithms that are written and accepted (RFC 5754, RFC 4055, RFC 8419). */
import { constants, type KeyObject, verify } from "node:crypto";
import { type DerNode, decodeWhole, integer, nullValue, oid, sequence, TAG } from "./der.ts";

export const OID = {
  data: "1.2.840.113549.1.7.1",
  signedData: "1.2.840.113549.1.7.2",
  contentType: "1.2.840.113549.1.9.3",
  messageDigest: "1.2.840.113549.1.9.4",
  signingTime: "1.2.840.113549.1.9.5",
  signingCertificate: "1.2.840.113549.1.9.16.2.12",
  signingCertificateV2: "1.2.840.113549.1.9.16.2.47",
  signatureTimestamp: "1.2.840.113549.1.9.16.2.14",
  tstInfo: "1.2.840.113549.1.9.16.1.4",
  sha1: "1.3.14.3.2.26",
  sha256: "2.16.840.1.101.3.4.2.1",
  sha384: "2.16.840.1.101.3.4.2.2",
  sha512: "2.16.840.1.101.3.4.2.3",
  rsa: "1.2.840.113549.1.1.1",
  rsaPss: "1.2.840.113549.1.1.10",
  ecdsaSha256: "1.2.840.10045.4.3.2",
} as const;

export type SealKey = "rsa" | "ec-p256";

export const SHA256_ALGORITHM = sequence(oid(OID.sha256));
const SIGNATURE_ALGORITHM: Record<SealKey, Buffer> = {
  rsa: sequence(oid(OID.rsa), nullValue()),
  "ec-p256": sequence(oid(OID.ecdsaSha256)),
};
export const signatureAlgorithm = (key: SealKey): Buffer => SIGNATURE_ALGORITHM[key];

/** What a public key signs with here; null for kinds and curves that seals are not made with. */
export function keyKind(key: KeyObject): SealKey | null {
  if (key.asymmetricKeyType === "rsa") return "rsa";
  const isP256 = key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1";
  return isP256 ? "ec-p256" : null;
}

const DIGESTS = new Map<string, string>([
  [OID.sha256, "sha256"],
  [OID.sha384, "sha384"],
  [OID.sha512, "sha512"],
]);

/** The digest of an AlgorithmIdentifier by its node:crypto name; null for unknown and for broken ones (SHA-1, MD5). */
export function digestName(algorithm: DerNode): string | null {
  const [id, parameters, ...rest] = algorithm.expect(TAG.sequence).children();
  if (!id || rest.length > 0 || (parameters && !isNull(parameters))) return null;
  return DIGESTS.get(id.oid()) ?? null;
}

const isNull = (node: DerNode): boolean => node.tag === TAG.null && node.content.length === 0;

// Signature algorithm → the digest it fixes; null where the CMS digest algorithm says it.
const RSA_ALGORITHMS = new Map<string, string | null>([
  [OID.rsa, null],
  ["1.2.840.113549.1.1.11", "sha256"],
  ["1.2.840.113549.1.1.12", "sha384"],
  ["1.2.840.113549.1.1.13", "sha512"],
]);
const ECDSA_ALGORITHMS = new Map<string, string>([
  [OID.ecdsaSha256, "sha256"],
  ["1.2.840.10045.4.3.3", "sha384"],
  ["1.2.840.10045.4.3.4", "sha512"],
]);

type Held = { algorithm: Buffer; digest: string; key: KeyObject; data: Buffer; signature: Buffer };
// A new signature is verified before it is stamped and again as part of the whole file; what held then holds now.
const held: Held[] = [];
const MAX_HELD = 8;
const MAX_HELD_BYTES = 64 * 1024;

/** Verifies a signature by its AlgorithmIdentifier; false for whatever is not accepted. */
export function verifySignature(
  algorithm: DerNode,
  digest: string,
  key: KeyObject,
  data: Uint8Array,
  signature: Uint8Array,
): boolean {
  const same = (one: Held): boolean =>
    one.key === key &&
    one.digest === digest &&
    one.signature.equals(signature) &&
    one.data.equals(data) &&
    one.algorithm.equals(algorithm.raw);
  if (held.some(same)) return true;
  if (!holds(algorithm, digest, key, data, signature)) return false;
  if (data.length + signature.length > MAX_HELD_BYTES) return true;
  if (held.length === MAX_HELD) held.shift();
  const [ownData, ownSignature] = [Buffer.from(data), Buffer.from(signature)];
  held.push({ algorithm: Buffer.from(algorithm.raw), digest, key, data: ownData, signature: ownSignature });
  return true;
}

function holds(algorithm: DerNode, digest: string, key: KeyObject, data: Uint8Array, signature: Uint8Array): boolean {
  const [id, parameters, ...rest] = algorithm.expect(TAG.sequence).children();
  if (!id || rest.length > 0) return false;
  const name = id.oid();
  const rsaDigest = RSA_ALGORITHMS.get(name);
  if (rsaDigest !== undefined) {
    if (key.asymmetricKeyType !== "rsa" || (parameters && !isNull(parameters))) return false;
    // PKCS#1 v1.5 is the default for keys of this type.
    return verify(rsaDigest ?? digest, data, key, signature);
  }
  const ecdsaDigest = ECDSA_ALGORITHMS.get(name);
  if (ecdsaDigest !== undefined) {
    return key.asymmetricKeyType === "ec" && !parameters && verify(ecdsaDigest, data, key, signature);
  }
  if (name === OID.rsaPss) {
    const usable = key.asymmetricKeyType === "rsa" || key.asymmetricKeyType === "rsa-pss";
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    return usable && verify(digest, data, { key, padding, saltLength: constants.RSA_PSS_SALTLEN_AUTO }, signature);
  }
  return false;
}

const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/**
 * Of the two ECDSA signatures that anybody can make of one (s and n − s) the one with the smaller s, which is the only one
 * that is written here; other signatures as they are. @throws DerError
 */
export function canonicalSignature(key: SealKey, signature: Uint8Array): Uint8Array {
  if (key !== "ec-p256") return signature;
  const [r, s] = decodeWhole(signature).expect(TAG.sequence).children();
  const value = s?.integer() ?? 0n;
  return r && value > P256_ORDER / 2n ? sequence(integer(r.integer()), integer(P256_ORDER - value)) : signature;
}

/** Whether a signature is the one of its pair that is written here. @throws DerError */
export function isCanonicalSignature(key: SealKey, signature: Uint8Array): boolean {
  return canonicalSignature(key, signature) === signature;
}

export const VERSION_1 = integer(1);
export const VERSION_3 = integer(3);
