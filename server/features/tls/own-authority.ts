import { generateKeyPair, randomBytes, X509Certificate } from "node:crypto";
import { hostname } from "node:os";
import { promisify } from "node:util";
import ipaddr from "ipaddr.js";
import forge from "node-forge";

/** Certificates that the appliance makes itself for TLS: an authority of its own, which clients may install, and what it issues. */

export type PemPair = { certPem: string; keyPem: string };

const day = 24 * 3_600_000;
/** The longest that browsers take (CA/Browser Forum baseline requirements, 6.3.2). */
const serverDays = 397;
const authorityDays = 3650;

/** IPv4 and IPv6 literals, as they stand in a URL's host. */
export const isIP = (host: string) => ipaddr.isValid(host);

/** A new authority. Its key signs server certificates of this machine and nothing else. */
export async function makeAuthority(nowMs: number): Promise<PemPair> {
  const { certificate, keyPem } = await unsigned(nowMs, authorityDays);
  const name = [{ name: "commonName", value: `Signet on ${hostname()} (TLS)` }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: "basicConstraints", cA: true, pathLenConstraint: 0, critical: true },
    { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    { name: "subjectKeyIdentifier" },
  ]);
  certificate.sign(forge.pki.privateKeyFromPem(keyPem), forge.md.sha256.create());
  return { certPem: forge.pki.certificateToPem(certificate), keyPem };
}

/**
 * A certificate of this machine's names, issued by the authority; its chain is the leaf and the authority.
 * @param host the name or address in the base URL
 */
export async function issueServerCertificate(authority: PemPair, host: string, nowMs: number): Promise<PemPair> {
  const issuer = forge.pki.certificateFromPem(authority.certPem);
  const { certificate, keyPem } = await unsigned(nowMs, serverDays);
  certificate.setSubject([{ name: "commonName", value: host.slice(0, 64) }]);
  certificate.setIssuer(issuer.subject.attributes);
  const keyIdentifier = issuer.generateSubjectKeyIdentifier().getBytes();
  certificate.setExtensions([
    { name: "basicConstraints", cA: false, critical: true },
    { name: "keyUsage", digitalSignature: true, keyEncipherment: true, critical: true },
    { name: "extKeyUsage", serverAuth: true },
    { name: "authorityKeyIdentifier", keyIdentifier },
    { name: "subjectAltName", altNames: alternativeNames([host, hostname(), "localhost", "127.0.0.1", "::1"]) },
  ]);
  certificate.sign(forge.pki.privateKeyFromPem(authority.keyPem), forge.md.sha256.create());
  return { certPem: forge.pki.certificateToPem(certificate) + authority.certPem, keyPem };
}

/**
 * A certificate request (PKCS#10, RFC 2986) for these names, and its new key.
 * @param options.commonName authorities that issue by themselves take a DNS name only, or none
 */
export async function makeRequest(
  names: readonly string[],
  organization: string | null,
  options: { commonName?: string | null; modulusLength?: number } = {},
): Promise<{ csrPem: string; keyPem: string }> {
  const { commonName = (names[0] ?? "").slice(0, 64), modulusLength = 3072 } = options;
  const { publicKey, privateKey, keyPem } = await rsaKey(modulusLength);
  const request = forge.pki.createCertificationRequest();
  request.publicKey = publicKey;
  request.setSubject([
    ...(commonName === null ? [] : [{ name: "commonName", value: commonName }]),
    ...(organization === null ? [] : [{ name: "organizationName", value: organization }]),
  ]);
  request.setAttributes([
    { name: "extensionRequest", extensions: [{ name: "subjectAltName", altNames: alternativeNames(names) }] },
  ]);
  request.sign(privateKey, forge.md.sha256.create());
  return { csrPem: forge.pki.certificationRequestToPem(request), keyPem };
}

/**
 * The certificate that answers tls-alpn-01 (RFC 8737 §3).
 * @param digest SHA-256 of the key authorization
 */
export async function makeChallengeCertificate(name: string, digest: Uint8Array, nowMs: number): Promise<PemPair> {
  const { certificate, keyPem } = await unsigned(nowMs, 7);
  const subject = [{ name: "commonName", value: "ACME challenge" }];
  certificate.setSubject(subject);
  certificate.setIssuer(subject);
  const { asn1 } = forge;
  const octets = Buffer.from(digest).toString("latin1");
  const value = asn1.create(asn1.Class.UNIVERSAL, asn1.Type.OCTETSTRING, false, octets);
  certificate.setExtensions([
    { name: "subjectAltName", altNames: alternativeNames([name]) },
    { id: "1.3.6.1.5.5.7.1.31", critical: true, value: asn1.toDer(value).getBytes() },
  ]);
  certificate.sign(forge.pki.privateKeyFromPem(keyPem), forge.md.sha256.create());
  return { certPem: forge.pki.certificateToPem(certificate), keyPem };
}

/** The name under which an address is asked for where only names are (RFC 8738 §6). */
export function reverseName(address: string): string {
  const parsed = ipaddr.parse(address);
  const bytes = parsed.toByteArray().reverse();
  return parsed.kind() === "ipv4"
    ? `${bytes.join(".")}.in-addr.arpa`
    : `${bytes.flatMap((byte) => [(byte & 15).toString(16), (byte >> 4).toString(16)]).join(".")}.ip6.arpa`;
}

/** Whether a certificate that the appliance made still names this host and lasts another month. */
export function isStillGood(certPem: string, host: string, nowMs: number, { anyName = false } = {}): boolean {
  try {
    const certificate = new X509Certificate(certPem);
    return (anyName || covers(certificate, host)) && certificate.validToDate.getTime() > nowMs + 30 * day;
  } catch {
    return false;
  }
}

/** Whether browsers take the certificate for this host. */
export function covers(certificate: X509Certificate, host: string): boolean {
  return (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined;
}

function alternativeNames(given: readonly string[]) {
  return [...new Set(given)].map((name) => (isIP(name) ? { type: 7, ip: name } : { type: 2, value: name }));
}

async function rsaKey(modulusLength: number) {
  const pair = await promisify(generateKeyPair)("rsa", { modulusLength });
  const keyPem = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const publicPem = pair.publicKey.export({ type: "spki", format: "pem" }).toString();
  return {
    keyPem,
    publicKey: forge.pki.publicKeyFromPem(publicPem),
    privateKey: forge.pki.privateKeyFromPem(keyPem),
  };
}

async function unsigned(nowMs: number, days: number) {
  const { publicKey, keyPem } = await rsaKey(2048);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = publicKey;
  certificate.serialNumber = `4${randomBytes(15).toString("hex").slice(1)}`;
  certificate.validity.notBefore = new Date(nowMs - 3_600_000);
  certificate.validity.notAfter = new Date(nowMs + days * day);
  return { certificate, keyPem };
}
