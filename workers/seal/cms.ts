/** CMS SignedData with one signer (RFC 5652), as CAdES and RFC 3161 want it. */
import {
  digestName,
  OID,
  type SealKey,
  SHA256_ALGORITHM,
  signatureAlgorithm,
  VERSION_1,
  VERSION_3,
} from "./algorithms.ts";
import { type Certificate, parseCertificate } from "./certificate.ts";
import { context, DerError, type DerNode, decode, encode, octetString, oid, sequence, setOf, TAG } from "./der.ts";

const attribute = (type: string, value: Uint8Array): Buffer => sequence(oid(type), encode(TAG.set, value));

/**
 * The signed attributes as the SET OF that is signed (RFC 5652 §5.4): content-type, message-digest and ESS
 * signing-certificate-v2 (RFC 5035 §3); no signing-time, which PAdES forbids beside /M (EN 319 142-1 §5.4).
 */
export function signedAttributes(contentType: string, digest: Uint8Array, signer: Certificate): Buffer {
  const certHash = octetString(Buffer.from(signer.sha256, "hex"));
  const issuerSerial = sequence(sequence(context(4, signer.issuer)), signer.serial);
  const signingCertificate = sequence(sequence(sequence(certHash, issuerSerial)));
  return setOf(
    attribute(OID.contentType, oid(contentType)),
    attribute(OID.messageDigest, octetString(digest)),
    attribute(OID.signingCertificateV2, signingCertificate),
  );
}

export type SignedDataParts = {
  contentType: string;
  /** Encapsulated content; null for a detached signature. */
  content: Uint8Array | null;
  /** The signer first. */
  certificates: readonly Certificate[];
  key: SealKey;
  /** From `signedAttributes`. */
  attributes: Uint8Array;
  signature: Uint8Array;
  /** A TimeStampToken over the signature, kept as unsigned attribute. */
  timestamp: Uint8Array | null;
};

/** ContentInfo with SignedData in DER; the same parts always give the same bytes. */
export function encodeSignedData(parts: SignedDataParts): Buffer {
  const signer = parts.certificates[0];
  if (!signer) throw new RangeError("no signing certificate");
  const content = parts.content ? [context(0, octetString(parts.content))] : [];
  const implicitAttributes = Buffer.from(parts.attributes);
  implicitAttributes[0] = 0xa0;
  const unsigned = parts.timestamp ? [context(1, attribute(OID.signatureTimestamp, parts.timestamp))] : [];
  const signerInfo = sequence(
    VERSION_1,
    sequence(signer.issuer, signer.serial),
    SHA256_ALGORITHM,
    implicitAttributes,
    signatureAlgorithm(parts.key),
    octetString(parts.signature),
    ...unsigned,
  );
  const signedData = sequence(
    // §5.1: version 3 as soon as the content is not id-data.
    parts.contentType === OID.data ? VERSION_1 : VERSION_3,
    encode(TAG.set, SHA256_ALGORITHM),
    sequence(oid(parts.contentType), ...content),
    context(0, ...parts.certificates.map(({ der }) => der)),
    encode(TAG.set, signerInfo),
  );
  return sequence(oid(OID.signedData), context(0, signedData));
}

export type SignedData = {
  /** The bytes that the ContentInfo takes up. */
  length: number;
  contentType: string;
  content: Buffer | null;
  certificates: Certificate[];
  signer: SignerInfo;
};
export type SignerInfo = {
  /** The certificate that the signer identifier names; null when it is not among the certificates. */
  certificate: Certificate | null;
  digest: string;
  /** As signed: with the SET tag. */
  attributesDer: Buffer;
  attributes: ReadonlyMap<string, DerNode[]>;
  signatureAlgorithm: DerNode;
  signature: Buffer;
  unsignedAttributes: ReadonlyMap<string, DerNode[]>;
};

/**
 * Reads a ContentInfo at the start of `bytes`, strictly: DER, exactly one signer, signed attributes present, versions
 * and digest algorithms as they must be. Nothing is verified. @throws DerError
 */
export function parseSignedData(bytes: Uint8Array): SignedData {
  const whole = decode(bytes);
  const [type, body, ...more] = whole.expect(TAG.sequence).children();
  if (type?.oid() !== OID.signedData || body?.tag !== 0xa0 || more.length > 0) throw new DerError("not SignedData");
  const [inner, ...others] = body.children();
  const fields = inner?.expect(TAG.sequence).children() ?? [];
  const [version, digests, encapsulated, ...rest] = fields;
  const infos = rest.pop();
  if (others.length > 0 || !version || !digests || !encapsulated || infos?.tag !== TAG.set) {
    throw new DerError("SignedData is incomplete");
  }
  const [contentTypeNode, explicit, ...extra] = encapsulated.expect(TAG.sequence).children();
  const contentType = contentTypeNode?.oid() ?? "";
  if (extra.length > 0 || (explicit && explicit.tag !== 0xa0)) throw new DerError("bad encapsulated content");
  const certificates: Certificate[] = [];
  for (const node of rest) {
    if (node.tag === 0xa0)
      certificates.push(...node.children().map((certificate) => parseCertificate(certificate.raw)));
    else if (node.tag !== 0xa1) throw new DerError("unknown part of SignedData");
  }
  const [info, ...second] = infos.children();
  if (!info || second.length > 0) throw new DerError("not exactly one signer");
  const signer = parseSignerInfo(info, certificates);
  const expected = contentType === OID.data ? [1n] : [3n];
  if (!expected.includes(version.integer()) && !rest.some((node) => node.tag === 0xa1)) {
    throw new DerError("wrong SignedData version");
  }
  const named = digests.expect(TAG.set).children().map(digestName);
  if (!named.includes(signer.digest)) throw new DerError("the signer's digest algorithm is not declared");
  const content = explicit?.children()[0]?.expect(TAG.octetString).content ?? null;
  return { length: whole.end, contentType, content, certificates, signer };
}

function parseSignerInfo(info: DerNode, certificates: Certificate[]): SignerInfo {
  const fields = info.expect(TAG.sequence).children();
  const [version, identifier, digestAlgorithm, signed, signatureAlgorithmNode, signature, unsigned, ...extra] = fields;
  if (!version || !identifier || !digestAlgorithm || signed?.tag !== 0xa0 || !signatureAlgorithmNode || !signature) {
    throw new DerError("signer without signed attributes");
  }
  if (extra.length > 0 || (unsigned && unsigned.tag !== 0xa1)) throw new DerError("unknown part of SignerInfo");
  const byKeyId = identifier.tag === 0x80;
  if (version.integer() !== (byKeyId ? 3n : 1n)) throw new DerError("wrong SignerInfo version");
  const digest = digestName(digestAlgorithm);
  if (!digest) throw new DerError("digest algorithm not accepted");
  const attributesDer = Buffer.from(signed.raw);
  attributesDer[0] = TAG.set;
  return {
    certificate: byKeyId
      ? (certificates.find((certificate) => keyIdentifier(certificate)?.equals(identifier.content)) ?? null)
      : byIssuerAndSerial(identifier, certificates),
    digest,
    attributesDer,
    attributes: attributesOf(signed),
    signatureAlgorithm: signatureAlgorithmNode,
    signature: signature.expect(TAG.octetString).content,
    unsignedAttributes: unsigned ? attributesOf(unsigned) : new Map(),
  };
}

function byIssuerAndSerial(identifier: DerNode, certificates: Certificate[]): Certificate | null {
  const [issuer, serial] = identifier.expect(TAG.sequence).children();
  const found = certificates.find(
    (c) => issuer && serial && c.issuer.equals(issuer.raw) && c.serial.equals(serial.raw),
  );
  return found ?? null;
}

function keyIdentifier(certificate: Certificate): Buffer | null {
  const extension = certificate.extensions.get("2.5.29.14");
  return extension ? decode(extension.value).expect(TAG.octetString).content : null;
}

/** Attribute type → values. An attribute that stands twice is refused (RFC 5652 §11). */
function attributesOf(set: DerNode): ReadonlyMap<string, DerNode[]> {
  const result = new Map<string, DerNode[]>();
  for (const node of set.children()) {
    const [type, values, ...extra] = node.expect(TAG.sequence).children();
    const id = type?.oid() ?? "";
    if (!values || extra.length > 0 || result.has(id)) throw new DerError("bad attribute");
    result.set(id, values.expect(TAG.set).children());
  }
  return result;
}

/** The one value of an attribute that must have exactly one; null otherwise. */
export function singleAttribute(attributes: ReadonlyMap<string, DerNode[]>, type: string): DerNode | null {
  const values = attributes.get(type);
  return values?.length === 1 ? (values[0] ?? null) : null;
}
