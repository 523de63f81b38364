import { type KeyObject, sign, X509Certificate } from "node:crypto";
import { promisify } from "node:util";
import forge from "node-forge";

/** The revocation list of the installation's own authority (RFC 5280 §5), encoded with node-forge, signed with node:crypto. */

const { asn1 } = forge;
const { Class, Type } = asn1;
const signAsync = promisify(sign);

const oids = {
  sha256WithRsa: "1.2.840.113549.1.1.11",
  subjectKeyIdentifier: "2.5.29.14",
  authorityKeyIdentifier: "2.5.29.35",
  listNumber: "2.5.29.20",
};

export type RevocationListRequest = {
  /** DER of the authority's certificate. */
  issuer: Uint8Array;
  privateKey: KeyObject;
  /** Milliseconds since the epoch, cut to seconds. */
  thisUpdate: number;
  nextUpdate: number;
};

/**
 * A complete list that names nobody: a key of the installation is retired, never revoked.
 * @returns DER
 * @throws TypeError unless the key is RSA
 */
export async function issueRevocationList(request: RevocationListRequest): Promise<Uint8Array> {
  const { privateKey } = request;
  if (privateKey.asymmetricKeyType !== "rsa") throw new TypeError("the authority signs with RSA");
  const algorithm = sequence(oid(oids.sha256WithRsa), primitive(Type.NULL, ""));
  const { subject, keyIdentifier } = authorityOf(request.issuer);
  const identifier = asn1.create(Class.CONTEXT_SPECIFIC, 0, false, keyIdentifier);
  // Grows with time by itself (§5.2.3), so that nobody needs to remember it.
  const number = integer(Math.floor(request.thisUpdate / 1000));
  const extensions = sequence(
    extension(oids.authorityKeyIdentifier, sequence(identifier)),
    extension(oids.listNumber, number),
  );
  const body = sequence(
    integer(1),
    algorithm,
    subject,
    time(request.thisUpdate),
    time(request.nextUpdate),
    asn1.create(Class.CONTEXT_SPECIFIC, 0, true, [extensions]),
  );
  const bytes = Buffer.from(asn1.toDer(body).getBytes(), "latin1");
  const signature = await signAsync("sha256", bytes, privateKey);
  const list = sequence(body, algorithm, primitive(Type.BITSTRING, `\0${signature.toString("latin1")}`));
  return Buffer.from(asn1.toDer(list).getBytes(), "latin1");
}

/** Name and key identifier as they stand in the certificate. */
function authorityOf(der: Uint8Array): { subject: forge.asn1.Asn1; keyIdentifier: string } {
  const certificate = asn1.fromDer(new X509Certificate(der).raw.toString("latin1"));
  const fields = partsOf(partsOf(certificate)[0]);
  const subject = fields[5];
  const extensions = fields.find(({ tagClass, type }) => tagClass === Class.CONTEXT_SPECIFIC && Number(type) === 3);
  const identifier = partsOf(partsOf(extensions)[0])
    .map(partsOf)
    .find(([id]) => id?.value === asn1.oidToDer(oids.subjectKeyIdentifier).getBytes())
    ?.at(-1)?.value;
  if (!subject || typeof identifier !== "string") throw new TypeError("not the certificate of an authority");
  const value = asn1.fromDer(identifier).value;
  if (typeof value !== "string") throw new TypeError("not the certificate of an authority");
  return { subject, keyIdentifier: value };
}

const partsOf = (node: forge.asn1.Asn1 | undefined): forge.asn1.Asn1[] =>
  Array.isArray(node?.value) ? node.value : [];

/** forge itself writes no more than 32 bits, which seconds outgrow in 2038. */
function integer(value: number): forge.asn1.Asn1 {
  const digits = value.toString(16);
  const even = digits.padStart(digits.length + (digits.length % 2), "0");
  const bytes = Buffer.from(/^[89a-f]/.test(even) ? `00${even}` : even, "hex");
  return primitive(Type.INTEGER, bytes.toString("latin1"));
}

function extension(id: string, value: forge.asn1.Asn1): forge.asn1.Asn1 {
  return sequence(oid(id), primitive(Type.OCTETSTRING, asn1.toDer(value).getBytes()));
}

/** UTCTime up to 2049, GeneralizedTime after (§5.1.2.4). */
function time(ms: number): forge.asn1.Asn1 {
  const date = new Date(ms);
  return date.getUTCFullYear() < 2050
    ? primitive(Type.UTCTIME, asn1.dateToUtcTime(date))
    : primitive(Type.GENERALIZEDTIME, asn1.dateToGeneralizedTime(date));
}

const primitive = (type: forge.asn1.Type, value: string) => asn1.create(Class.UNIVERSAL, type, false, value);
const oid = (id: string) => primitive(Type.OID, asn1.oidToDer(id).getBytes());
const sequence = (...parts: forge.asn1.Asn1[]) => asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, parts);
