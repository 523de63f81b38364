import { createHash, type KeyObject, sign } from "node:crypto";
import { promisify } from "node:util";
import forge from "node-forge";

/** X.509 certificates (RFC 5280) of the installation's own authority, encoded with node-forge, signed with node:crypto. */

const { asn1 } = forge;
const { Class, Type } = asn1;
const signAsync = promisify(sign);

export type CertificateProfile = "ca" | "seal" | "timestamp";

export type CertificateRequest = {
  profile: CertificateProfile;
  commonName: string;
  publicKey: KeyObject;
  issuer: { commonName: string; publicKey: KeyObject; privateKey: KeyObject };
  /** Where the issuer's certificate and its revocation list are served; an authority that certifies itself names neither. */
  published?: { certificate: string; list: string } | undefined;
  /** 16 bytes; the top bit is cleared, so that the number is positive (§4.1.2.2). */
  serial: Uint8Array;
  /** Milliseconds since the epoch, cut to seconds. */
  notBefore: number;
  notAfter: number;
};

const oids = {
  sha256WithRsa: "1.2.840.113549.1.1.11",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  organizationName: "2.5.4.10",
  commonName: "2.5.4.3",
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  basicConstraints: "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
  timeStamping: "1.3.6.1.5.5.7.3.8",
  authorityInfoAccess: "1.3.6.1.5.5.7.1.1",
  caIssuers: "1.3.6.1.5.5.7.48.2",
  listPoints: "2.5.29.31",
};

/**
 * Issues a certificate.
 * @returns DER
 * @throws TypeError unless the issuer's key is RSA
 */
export async function issueCertificate(request: CertificateRequest): Promise<Uint8Array> {
  const { issuer } = request;
  if (issuer.privateKey.asymmetricKeyType !== "rsa") throw new TypeError("the authority signs with RSA");
  const algorithm = sequence(oid(oids.sha256WithRsa), primitive(Type.NULL, ""));
  const body = sequence(
    context(0, integer("\x02")),
    integer(serialText(request.serial)),
    algorithm,
    name(issuer.commonName),
    sequence(time(request.notBefore), time(request.notAfter)),
    name(request.commonName),
    asn1.fromDer(publicKeyInfo(request.publicKey)),
    context(3, sequence(...extensions(request))),
  );
  const bytes = Buffer.from(asn1.toDer(body).getBytes(), "latin1");
  const signature = await signAsync("sha256", bytes, issuer.privateKey);
  const certificate = sequence(body, algorithm, primitive(Type.BITSTRING, `\0${signature.toString("latin1")}`));
  return Buffer.from(asn1.toDer(certificate).getBytes(), "latin1");
}

/**
 * A request for a certificate (PKCS #10, RFC 2986) that another authority is to issue.
 * @param subject people and authorities read it; the authority may change it
 * @returns DER
 */
export async function requestCertificate(about: {
  subject: { organization: string; commonName: string };
  publicKey: KeyObject;
  sign(bytes: Uint8Array): Promise<Uint8Array>;
}): Promise<Uint8Array> {
  const rsa = about.publicKey.asymmetricKeyType === "rsa";
  const body = sequence(
    integer("\0"),
    name(about.subject.commonName, about.subject.organization),
    asn1.fromDer(publicKeyInfo(about.publicKey)),
    context(0),
  );
  const signature = await about.sign(Buffer.from(asn1.toDer(body).getBytes(), "latin1"));
  const algorithm = rsa
    ? sequence(oid(oids.sha256WithRsa), primitive(Type.NULL, ""))
    : sequence(oid(oids.ecdsaWithSha256));
  const bits = primitive(Type.BITSTRING, `\0${Buffer.from(signature).toString("latin1")}`);
  return Buffer.from(asn1.toDer(sequence(body, algorithm, bits)).getBytes(), "latin1");
}

function extensions({ profile, publicKey, issuer, published }: CertificateRequest): forge.asn1.Asn1[] {
  const identifier = extension(oids.subjectKeyIdentifier, false, primitive(Type.OCTETSTRING, keyIdentifier(publicKey)));
  if (profile === "ca") {
    return [
      extension(oids.basicConstraints, true, sequence(primitive(Type.BOOLEAN, "\xff"), integer("\0"))),
      // keyCertSign, cRLSign
      extension(oids.keyUsage, true, primitive(Type.BITSTRING, "\x01\x06")),
      identifier,
    ];
  }
  const issuerIdentifier = asn1.create(Class.CONTEXT_SPECIFIC, 0, false, keyIdentifier(issuer.publicKey));
  const common = [
    identifier,
    extension(oids.authorityKeyIdentifier, false, sequence(issuerIdentifier)),
    ...(published ? addresses(published) : []),
  ];
  const noAuthority = extension(oids.basicConstraints, true, sequence());
  if (profile === "seal") {
    // digitalSignature, nonRepudiation
    return [noAuthority, extension(oids.keyUsage, true, primitive(Type.BITSTRING, "\x06\xc0")), ...common];
  }
  return [
    noAuthority,
    // digitalSignature
    extension(oids.keyUsage, true, primitive(Type.BITSTRING, "\x07\x80")),
    // Critical and alone (RFC 3161 §2.3).
    extension(oids.extendedKeyUsage, true, sequence(oid(oids.timeStamping))),
    ...common,
  ];
}

/** Authority information access (§4.2.2.1) and CRL distribution points (§4.2.1.13), one address each. */
function addresses({ certificate, list }: NonNullable<CertificateRequest["published"]>): forge.asn1.Asn1[] {
  const access = sequence(sequence(oid(oids.caIssuers), address(certificate)));
  const point = sequence(context(0, context(0, address(list))));
  return [extension(oids.authorityInfoAccess, false, access), extension(oids.listPoints, false, sequence(point))];
}

/** GeneralName: uniformResourceIdentifier, an IA5String (§4.2.1.6). */
const address = (url: string) => asn1.create(Class.CONTEXT_SPECIFIC, 6, false, new URL(url).href);

function extension(id: string, critical: boolean, value: forge.asn1.Asn1): forge.asn1.Asn1 {
  const content = primitive(Type.OCTETSTRING, asn1.toDer(value).getBytes());
  return critical ? sequence(oid(id), primitive(Type.BOOLEAN, "\xff"), content) : sequence(oid(id), content);
}

const publicKeyInfo = (key: KeyObject): string => key.export({ type: "spki", format: "der" }).toString("latin1");

/** 160 bits of the SHA-256 of the SubjectPublicKeyInfo (RFC 7093 §2, method 4, cut as method 1 does), lower-case hex. */
export const keyIdentifierOf = (key: KeyObject): string => Buffer.from(keyIdentifier(key), "latin1").toString("hex");

function keyIdentifier(key: KeyObject): string {
  const info = Buffer.from(publicKeyInfo(key), "latin1");
  return createHash("sha256").update(info).digest().subarray(0, 20).toString("latin1");
}

function serialText(serial: Uint8Array): string {
  const bytes = Buffer.from(serial);
  // 0x40 set and 0x80 clear: positive, and never shorter than the rest.
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString("latin1");
}

/** UTCTime up to 2049, GeneralizedTime after (§4.1.2.5). */
function time(ms: number): forge.asn1.Asn1 {
  const date = new Date(ms);
  return date.getUTCFullYear() < 2050
    ? primitive(Type.UTCTIME, asn1.dateToUtcTime(date))
    : primitive(Type.GENERALIZEDTIME, asn1.dateToGeneralizedTime(date));
}

function name(commonName: string, organization = "Signet"): forge.asn1.Asn1 {
  const part = (id: string, text: string) =>
    asn1.create(Class.UNIVERSAL, Type.SET, true, [
      sequence(oid(id), primitive(Type.UTF8, Buffer.from(text, "utf8").toString("latin1"))),
    ]);
  return sequence(part(oids.organizationName, organization), part(oids.commonName, commonName));
}

const primitive = (type: forge.asn1.Type, value: string) => asn1.create(Class.UNIVERSAL, type, false, value);
const integer = (value: string) => primitive(Type.INTEGER, value);
const oid = (id: string) => primitive(Type.OID, asn1.oidToDer(id).getBytes());
const sequence = (...parts: forge.asn1.Asn1[]) => asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, parts);
const context = (tag: number, ...parts: forge.asn1.Asn1[]) => asn1.create(Class.CONTEXT_SPECIFIC, tag, true, parts);
