/** X.509 certificates (RFC 5280): what signing and verifying need beyond node:crypto, and chain building. */
import { hash, type KeyObject, X509Certificate } from "node:crypto";
import { DerError, type DerNode, decodeWhole, TAG } from "./der.ts";

export type Certificate = {
  der: Buffer;
  x509: X509Certificate;
  publicKey: KeyObject;
  /** Of an RSA key, in bits; null for others. */
  modulusLength: number | null;
  /** DER of the issuer's Name and of the serial number INTEGER. */
  issuer: Buffer;
  serial: Buffer;
  sha256: string;
  /** The algorithm that it is signed with, and its parameters. */
  algorithm: DerNode;
  extensions: ReadonlyMap<string, { critical: boolean; value: Buffer }>;
};

const EXTENSION = {
  keyUsage: "2.5.29.15",
  basicConstraints: "2.5.29.19",
  extendedKeyUsage: "2.5.29.37",
  listPoints: "2.5.29.31",
} as const;
const TIME_STAMPING = "1.3.6.1.5.5.7.3.8";

// The same few certificates come with every seal and every timestamp; parsing them costs more than the rest of the CMS.
const parsed = new Map<string, Certificate>();
const MAX_PARSED = 64;
const KEY_BYTES = 16;

/** @throws DerError when the bytes are not one X.509 certificate. */
export function parseCertificate(der: Uint8Array): Certificate {
  // The end of its signature finds it, all of its bytes tell whether it is the one.
  const bytes = Buffer.from(der.buffer, der.byteOffset, der.length);
  const key = bytes.subarray(-KEY_BYTES).toString("latin1");
  const known = parsed.get(key);
  if (known?.der.equals(bytes)) return known;
  const certificate = parse(Uint8Array.from(der), hash("sha256", der, "hex"));
  if (parsed.size === MAX_PARSED) parsed.clear();
  parsed.set(key, certificate);
  return certificate;
}

function parse(der: Uint8Array, sha256: string): Certificate {
  const whole = decodeWhole(der);
  const [body, algorithm] = whole.children();
  const fields = body?.children() ?? [];
  if (!algorithm) throw new DerError("not a certificate");
  const offset = fields[0]?.tag === 0xa0 ? 1 : 0;
  const [serial, , issuer] = fields.slice(offset);
  if (serial?.tag !== TAG.integer || issuer?.tag !== TAG.sequence) throw new DerError("not a certificate");
  let x509: X509Certificate;
  let publicKey: KeyObject;
  try {
    x509 = new X509Certificate(der);
    publicKey = x509.publicKey;
  } catch {
    throw new DerError("not a certificate");
  }
  if (Number.isNaN(x509.validFromDate.getTime()) || Number.isNaN(x509.validToDate.getTime())) {
    throw new DerError("a certificate without valid dates");
  }
  const list = fields.find((field) => field.tag === 0xa3)?.children()[0];
  return {
    der: whole.raw,
    x509,
    publicKey,
    modulusLength: publicKey.asymmetricKeyDetails?.modulusLength ?? null,
    issuer: issuer.raw,
    serial: serial.raw,
    sha256,
    algorithm,
    extensions: extensions(list?.children() ?? []),
  };
}

function extensions(list: DerNode[]): Certificate["extensions"] {
  const result = new Map<string, { critical: boolean; value: Buffer }>();
  for (const extension of list) {
    const parts = extension.children();
    const id = parts[0]?.oid() ?? "";
    const value = parts.at(-1)?.expect(TAG.octetString).content ?? Buffer.alloc(0);
    const critical = parts.length === 3 && parts[1]?.content[0] === 0xff;
    if (result.has(id)) throw new DerError("an extension stands twice");
    result.set(id, { critical, value });
  }
  return result;
}

/** EKU is critical and names timeStamping alone (RFC 3161 §2.3). */
export function isTimestampingCertificate(certificate: Certificate): boolean {
  const usage = certificate.extensions.get(EXTENSION.extendedKeyUsage);
  if (!usage?.critical) return false;
  const purposes = decodeWhole(usage.value)
    .children()
    .map((purpose) => purpose.oid());
  return purposes.length === 1 && purposes[0] === TIME_STAMPING;
}

/** The key may sign data: digitalSignature or nonRepudiation, or no key usage at all (RFC 5280 §4.2.1.3). */
export function maySign(certificate: Certificate): boolean {
  const usage = certificate.extensions.get(EXTENSION.keyUsage);
  if (!usage) return true;
  const bits = decodeWhole(usage.value).expect(TAG.bitString).content[1] ?? 0;
  return (bits & 0xc0) !== 0;
}

/** May sign revocation lists (RFC 5280 §4.2.1.3). */
export function maySignLists(certificate: Certificate): boolean {
  const usage = certificate.extensions.get(EXTENSION.keyUsage);
  if (!usage) return true;
  return ((decodeWhole(usage.value).expect(TAG.bitString).content[1] ?? 0) & 0x02) !== 0;
}

/** Where its issuer publishes what is revoked: the HTTP addresses of complete lists (RFC 5280 §4.2.1.13). */
export function listUrls(certificate: Certificate): string[] {
  const points = certificate.extensions.get(EXTENSION.listPoints);
  if (!points) return [];
  return decodeWhole(points.value)
    .children()
    .flatMap((point) => {
      const [location, ...restricted] = point.children();
      // Those for some reasons only, or by another issuer, do not tell everything.
      if (location?.tag !== 0xa0 || restricted.length > 0) return [];
      const names = location.children()[0];
      if (names?.tag !== 0xa0) return [];
      return names.children().flatMap(({ tag, content }) => (tag === 0x86 ? [content.toString("latin1")] : []));
    })
    .filter((url) => /^https?:\/\//i.test(url));
}

/** emailProtection, documentSigning (RFC 9336), Adobe's and Microsoft's for documents: a server's certificate has none. */
const DOCUMENT_PURPOSES = new Set([
  "1.3.6.1.5.5.7.3.4",
  "1.3.6.1.5.5.7.3.36",
  "1.2.840.113583.1.1.5",
  "1.3.6.1.4.1.311.10.3.12",
]);

/** May sign documents: it may sign, and is there for documents among other purposes, or for none in particular. */
export function maySeal(certificate: Certificate): boolean {
  if (!maySign(certificate)) return false;
  const usage = certificate.extensions.get(EXTENSION.extendedKeyUsage);
  const purposes = usage ? decodeWhole(usage.value).children() : [];
  return purposes.length === 0 || purposes.some((purpose) => DOCUMENT_PURPOSES.has(purpose.oid()));
}

export const validAt = ({ x509 }: Certificate, at: string): boolean => {
  const time = Date.parse(at);
  return time >= x509.validFromDate.getTime() && time <= x509.validToDate.getTime();
};

/** One line, most general part first, as in the certificate. */
export const subjectOf = ({ x509 }: Certificate): string => x509.subject.replaceAll("\n", ", ");

export const sameCertificate = (a: Certificate, b: Certificate): boolean => a.sha256 === b.sha256;

// Whether one certificate was signed by another never changes, and is asked of the same few with every seal.
const issued = new WeakMap<Certificate, WeakMap<Certificate, boolean>>();

/** True when `issuer` is a CA that signed `certificate`. */
export function isIssuedBy(certificate: Certificate, issuer: Certificate): boolean {
  const known = issued.get(certificate) ?? new WeakMap<Certificate, boolean>();
  const answer =
    known.get(issuer) ??
    (issuer.x509.ca && certificate.x509.checkIssued(issuer.x509) && certificate.x509.verify(issuer.publicKey));
  issued.set(certificate, known.set(issuer, answer));
  return answer;
}

// Those that are understood here, or narrow nothing that is relied on; a critical one besides must not be passed over
// (RFC 5280 §4.2). Name constraints are not computed, and therefore refused.
const UNDERSTOOD = new Set([
  ...Object.values(EXTENSION),
  "2.5.29.14",
  "2.5.29.17",
  "2.5.29.18",
  "2.5.29.32",
  "2.5.29.35",
  "1.3.6.1.5.5.7.1.1",
  "1.3.6.1.5.5.7.1.3",
]);
const NAME_CONSTRAINTS = "2.5.29.30";
const MIN_RSA_BITS = 2048;
// RSA and ECDSA with SHA-256, SHA-384, SHA-512; Ed25519.
const SOUND_ALGORITHMS = new Set([
  "1.2.840.113549.1.1.11",
  "1.2.840.113549.1.1.12",
  "1.2.840.113549.1.1.13",
  "1.2.840.10045.4.3.2",
  "1.2.840.10045.4.3.3",
  "1.2.840.10045.4.3.4",
  "1.3.101.112",
]);
const RSA_PSS = "1.2.840.113549.1.1.10";
const SOUND_DIGESTS = new Set(["2.16.840.1.101.3.4.2.1", "2.16.840.1.101.3.4.2.2", "2.16.840.1.101.3.4.2.3"]);

/** Signed in a way that is not broken, over a key that is long enough, with no condition that is not understood. */
function isSound({ algorithm, modulusLength, publicKey, extensions }: Certificate): boolean {
  const isRsa = publicKey.asymmetricKeyType === "rsa" || publicKey.asymmetricKeyType === "rsa-pss";
  if (extensions.has(NAME_CONSTRAINTS) || (isRsa && (modulusLength ?? 0) < MIN_RSA_BITS)) return false;
  for (const [id, { critical }] of extensions) if (critical && !UNDERSTOOD.has(id)) return false;
  const [id, parameters] = algorithm.children();
  if (id?.oid() !== RSA_PSS) return SOUND_ALGORITHMS.has(id?.oid() ?? "");
  // RFC 4055 §3.1: the digest stands under [0]; without it SHA-1 is meant.
  const digest = parameters?.children().find(({ tag }) => tag === 0xa0);
  return SOUND_DIGESTS.has(digest?.children()[0]?.children()[0]?.oid() ?? "");
}

const ANY_PURPOSE = "2.5.29.37.0";
const DOCUMENTS = ["1.3.6.1.5.5.7.3.4", "1.3.6.1.5.5.7.3.36", "1.2.840.113583.1.1.5", "1.3.6.1.4.1.311.10.3.12"];

/** An authority for some purposes vouches for no others; a leaf without any stated is there for documents. */
function purposesNest(leaf: Certificate, ca: Certificate): boolean {
  const allowed = purposesOf(ca);
  const wanted = purposesOf(leaf) ?? DOCUMENTS;
  return !allowed || allowed.includes(ANY_PURPOSE) || wanted.some((purpose) => allowed.includes(purpose));
}

function purposesOf(certificate: Certificate): string[] | null {
  const usage = certificate.extensions.get(EXTENSION.extendedKeyUsage);
  return usage
    ? decodeWhole(usage.value)
        .children()
        .map((purpose) => purpose.oid())
    : null;
}

const MAX_CHAIN = 8;

/**
 * The chain from `leaf` to one of `trusted`, each link signed by the next and valid `at` (ISO 8601); null when there is
 * none. A leaf that is itself trusted is a chain of one.
 */
export function chainTo(
  leaf: Certificate,
  pool: readonly Certificate[],
  trusted: readonly Certificate[],
  at: string,
): Certificate[] | null {
  const extend = (chain: Certificate[]): Certificate[] | null => {
    const last = chain.at(-1);
    if (!last || !validAt(last, at)) return null;
    if (trusted.some((anchor) => sameCertificate(anchor, last))) return chain;
    // An anchor is trusted as it is; what leads to it has to be sound.
    if (chain.length === MAX_CHAIN || !isSound(last) || (chain.length > 1 && !purposesNest(leaf, last))) return null;
    for (const issuer of [...trusted, ...pool]) {
      if (chain.some((link) => sameCertificate(link, issuer)) || !isIssuedBy(last, issuer)) continue;
      const found = pathLengthAllows(issuer, chain.length - 1) ? extend([...chain, issuer]) : null;
      if (found) return found;
    }
    return null;
  };
  return extend([leaf]);
}

/** `below`: how many CA certificates stand between this one and the leaf (RFC 5280 §4.2.1.9). */
function pathLengthAllows(ca: Certificate, below: number): boolean {
  const constraints = ca.extensions.get(EXTENSION.basicConstraints);
  const limit = constraints && decodeWhole(constraints.value).children()[1];
  return !limit || BigInt(below) <= limit.integer();
}

/**
 * True when the certificate is trusted, or bears the signature of one that is at hand. Fails for an
 * altered one.
 */
export function isAnchored(certificate: Certificate, others: readonly Certificate[]): boolean {
  return others.some(
    (other) => isIssuedBy(certificate, other) || (other !== certificate && sameCertificate(certificate, other)),
  );
}
