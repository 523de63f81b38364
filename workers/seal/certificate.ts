/** X.509 certificates (RFC 5280): what signing and verifying need beyond node:crypto, and chain building. */
import { hash, type KeyObject, X509Certificate } from "node:crypto";
import { DerError, type DerNode, decodeWhole, TAG } from "./der.ts";

export type Certificate = {
  der: Buffer;
  x509: X509Certificate;
  publicKey: KeyObject;
  /** DER of the issuer's Name and of the serial number INTEGER. */
  issuer: Buffer;
  serial: Buffer;
  sha256: string;
  extensions: ReadonlyMap<string, { critical: boolean; value: Buffer }>;
};

const EXTENSION = {
  keyUsage: "2.5.29.15",
  basicConstraints: "2.5.29.19",
  extendedKeyUsage: "2.5.29.37",
} as const;
const TIME_STAMPING = "1.3.6.1.5.5.7.3.8";

// The same few certificates come with every seal and every timestamp; parsing them costs more than the rest of the CMS.
const parsed = new Map<string, Certificate>();
const MAX_PARSED = 64;

/** @throws DerError when the bytes are not one X.509 certificate. */
export function parseCertificate(der: Uint8Array): Certificate {
  const sha256 = hash("sha256", der, "hex");
  const known = parsed.get(sha256);
  if (known) return known;
  const certificate = parse(Uint8Array.from(der), sha256);
  if (parsed.size === MAX_PARSED) parsed.clear();
  parsed.set(sha256, certificate);
  return certificate;
}

function parse(der: Uint8Array, sha256: string): Certificate {
  const whole = decodeWhole(der);
  const fields = whole.children()[0]?.children() ?? [];
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
    issuer: issuer.raw,
    serial: serial.raw,
    sha256,
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

// serverAuth, codeSigning, timeStamping, OCSPSigning
const OTHER_PURPOSES = new Set(["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.3", TIME_STAMPING, "1.3.6.1.5.5.7.3.9"]);

/** May sign documents: it may sign, and is not there for other purposes alone, as a server's or an authority's is. */
export function maySeal(certificate: Certificate): boolean {
  if (!maySign(certificate)) return false;
  const usage = certificate.extensions.get(EXTENSION.extendedKeyUsage);
  const purposes = usage ? decodeWhole(usage.value).children() : [];
  return purposes.length === 0 || purposes.some((purpose) => !OTHER_PURPOSES.has(purpose.oid()));
}

export const validAt = ({ x509 }: Certificate, at: string): boolean => {
  const time = Date.parse(at);
  return time >= x509.validFromDate.getTime() && time <= x509.validToDate.getTime();
};

/** One line, most general part first, as in the certificate. */
export const subjectOf = ({ x509 }: Certificate): string => x509.subject.replaceAll("\n", ", ");

export const sameCertificate = (a: Certificate, b: Certificate): boolean => a.sha256 === b.sha256;

/** True when `issuer` is a CA that signed `certificate`. */
export function isIssuedBy(certificate: Certificate, issuer: Certificate): boolean {
  return issuer.x509.ca && certificate.x509.checkIssued(issuer.x509) && certificate.x509.verify(issuer.publicKey);
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
    if (chain.length === MAX_CHAIN) return null;
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
