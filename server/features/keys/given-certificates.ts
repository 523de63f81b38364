import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import forge from "node-forge";
import { AppError } from "../../kernel/errors.ts";
import { isPair } from "./signers.ts";

/** Certificates that others issued: read, put in order and judged before a seal is made under one. */

export type GivenCertificate = { certificate: Uint8Array /** Up to the root, without itself. */; chain: Uint8Array[] };

const { asn1, pki } = forge;
const timeStamping = "1.3.6.1.5.5.7.3.8";
/** As every verifier of ours demands of a seal (`maySeal` in workers/seal/certificate.ts). */
const documentPurposes = ["1.3.6.1.5.5.7.3.4", "1.3.6.1.5.5.7.3.36", "1.2.840.113583.1.1.5", "1.3.6.1.4.1.311.10.3.12"];

const refused = (detail: string, options?: ErrorOptions) => new AppError("validation-failed", { detail, ...options });

/** Every certificate of a PEM file, or the one of a DER file. @throws AppError `validation-failed` */
export function readCertificates(file: Uint8Array): X509Certificate[] {
  const text = Buffer.from(file).toString("latin1");
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  try {
    return blocks ? blocks.map((pem) => new X509Certificate(pem)) : [new X509Certificate(file)];
  } catch (cause) {
    throw refused("the file holds no certificate (PEM with the chain, or DER)", { cause });
  }
}

/**
 * Opens a PKCS#12 file (RFC 7292).
 * @throws AppError `validation-failed` for a wrong password and for a file without exactly one private key
 */
export function readPkcs12(
  file: Uint8Array,
  password: string,
): { privateKey: KeyObject; certificates: X509Certificate[] } {
  let bags: forge.pkcs12.Bag[];
  try {
    const parsed = forge.pkcs12.pkcs12FromAsn1(asn1.fromDer(Buffer.from(file).toString("latin1")), false, password);
    bags = parsed.safeContents.flatMap(({ safeBags }) => safeBags);
  } catch (cause) {
    throw refused("the PKCS#12 file cannot be opened: is the password right, and of ASCII characters?", { cause });
  }
  // forge understands RSA only and hands over the rest as it was.
  const keys = bags.filter(({ type }) => type === pki.oids.keyBag || type === pki.oids.pkcs8ShroudedKeyBag);
  const [key] = keys;
  if (!key || keys.length > 1) throw refused("the PKCS#12 file must hold exactly one private key");
  const info = key.key ? pki.wrapRsaPrivateKey(pki.privateKeyToAsn1(key.key)) : key.asn1;
  const certificates = bags
    .filter(({ type }) => type === pki.oids.certBag)
    .map(({ cert, asn1: other }) => new X509Certificate(derOf(cert ? pki.certificateToAsn1(cert) : other)));
  return { privateKey: createPrivateKey({ key: derOf(info), type: "pkcs8", format: "der" }), certificates };
}

/** The certificate of a key among others, with its chain. @throws AppError `validation-failed` when none is its */
export function certificateOfKey(privateKey: KeyObject, certificates: readonly X509Certificate[]): X509Certificate {
  const own = certificates.find(({ publicKey }) => isPair(privateKey, publicKey));
  if (!own) throw refused("none of the certificates belongs to the private key");
  return own;
}

/**
 * Judges a certificate for its use and finds who issued it.
 * @throws AppError `validation-failed`
 */
export function judge(
  own: X509Certificate,
  others: readonly X509Certificate[],
  about: { use: "seal" | "timestamp"; nowMs: number },
): GivenCertificate {
  if (own.ca) throw refused("the certificate is one of an authority, not one to sign with");
  if (own.validFromDate.getTime() > about.nowMs || own.validToDate.getTime() <= about.nowMs)
    throw refused(`the certificate is valid from ${own.validFrom} to ${own.validTo}, not now`);
  const bits = keyUsageBits(own.raw);
  if (bits !== undefined && (bits & 0xc0) === 0) throw refused("the certificate's key usage does not let it sign");
  const purposes = own.keyUsage ?? [];
  if (about.use === "timestamp" && (purposes.length !== 1 || purposes[0] !== timeStamping))
    throw refused("the certificate is not one for time stamping alone (RFC 3161)");
  if (about.use === "seal" && purposes.length > 0 && !purposes.some((one) => documentPurposes.includes(one)))
    throw refused("the certificate's extended key usage names neither documents nor e-mail: it may not seal");
  const chain: X509Certificate[] = [];
  for (let last = own; !selfSigned(last); ) {
    const issuer = others.find((other) => last.checkIssued(other) && last.verify(other.publicKey));
    if (!issuer || chain.includes(issuer)) break;
    chain.push(issuer);
    last = issuer;
  }
  if (chain.length === 0) throw refused("the file must hold the certificate of the issuer too, best the whole chain");
  return { certificate: own.raw, chain: chain.map(({ raw }) => raw) };
}

const selfSigned = (one: X509Certificate): boolean => one.checkIssued(one) && one.verify(one.publicKey);

/** The first byte of the key usage extension (RFC 5280 §4.2.1.3): digitalSignature is 0x80, nonRepudiation 0x40. */
function keyUsageBits(der: Buffer): number | undefined {
  const at = der.indexOf(Buffer.from("0603551d0f", "hex"));
  if (at === -1) return undefined;
  const value = der.indexOf(0x04, der[at + 5] === 0x01 ? at + 8 : at + 5);
  // OCTET STRING, its length, BIT STRING, its length, unused bits, then the bits.
  return der[value + 5];
}

function derOf(value: forge.asn1.Asn1 | undefined): Buffer {
  if (!value) throw refused("the PKCS#12 file holds something that cannot be read");
  return Buffer.from(asn1.toDer(value).getBytes(), "latin1");
}
