import { sha1 } from "@noble/hashes/legacy.js";
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import { type DerNode, decodeWhole, TAG } from "../../../workers/seal/der.ts";
import { curves, ecdsaHolds, numberOf } from "./elliptic.ts";
import { type Digest, pkcs1Holds, pssHolds, type RsaKey, rsaKey } from "./rsa.ts";

/**
 * Stands for `node:crypto` where PDFs are validated in a browser: exactly what the validation calls, so that a build fails
 * when it begins to call something else. Synchronous as the original, and therefore not WebCrypto, which is used for what
 * weighs: the digests over whole files (`examine.ts`). What is not supported does not verify.
 */

const digests: Readonly<
  Record<string, Digest & { create: typeof sha256.create | typeof sha512.create | typeof sha1.create }>
> = {
  sha1: { of: sha1, create: sha1.create, length: 20, oid: "2b0e03021a" },
  sha256: { of: sha256, create: sha256.create, length: 32, oid: "608648016503040201" },
  sha384: { of: sha384, create: sha384.create, length: 48, oid: "608648016503040202" },
  sha512: { of: sha512, create: sha512.create, length: 64, oid: "608648016503040203" },
};

function digestNamed(name: string): NonNullable<(typeof digests)[string]> {
  const found = digests[name];
  if (!found) throw new Error(`no digest ${name}`);
  return found;
}

/** @throws Error for a digest that is not known */
export function createHash(name: string) {
  const state = digestNamed(name).create();
  const self = {
    update(bytes: Uint8Array) {
      state.update(bytes);
      return self;
    },
    digest: (): Buffer => Buffer.from(state.digest()),
  };
  return self;
}

/** @throws Error as above */
export function hash(name: string, bytes: Uint8Array, encoding: "hex"): string;
export function hash(name: string, bytes: Uint8Array, encoding: "buffer"): Buffer;
export function hash(name: string, bytes: Uint8Array, encoding: "hex" | "buffer"): string | Buffer {
  const digest = Buffer.from(digestNamed(name).of(bytes));
  return encoding === "hex" ? digest.toString("hex") : digest;
}

export const constants = { RSA_PKCS1_PSS_PADDING: 6, RSA_PSS_SALTLEN_AUTO: -2 };

type EcKey = { curve: string; point: Uint8Array };

/** A public key out of its SubjectPublicKeyInfo. */
class PublicKey {
  readonly asymmetricKeyType: "rsa" | "rsa-pss" | "ec" | undefined;
  readonly asymmetricKeyDetails: { namedCurve?: string; modulusLength?: number };
  readonly rsa: RsaKey | null = null;
  readonly ec: EcKey | null = null;

  /** @throws DerError */
  constructor(spki: DerNode) {
    const [algorithm, bits] = spki.expect(TAG.sequence).children();
    const [id, parameters] = algorithm?.children() ?? [];
    const key = (bits?.expect(TAG.bitString).content ?? Buffer.alloc(0)).subarray(1);
    const kind = id?.oid();
    this.asymmetricKeyDetails = {};
    if (kind === "1.2.840.113549.1.1.1" || (kind === "1.2.840.113549.1.1.10" && !parameters)) {
      this.asymmetricKeyType = kind.endsWith(".1") ? "rsa" : "rsa-pss";
      const [modulus, exponent] = decodeWhole(key).expect(TAG.sequence).children();
      this.rsa = rsaKey(modulus?.content ?? key, exponent?.content ?? key);
      this.asymmetricKeyDetails.modulusLength = this.rsa.bits;
    } else if (kind === "1.2.840.10045.2.1") {
      this.asymmetricKeyType = "ec";
      const curve = curveOids[parameters?.tag === TAG.oid ? parameters.oid() : ""] ?? "";
      this.asymmetricKeyDetails.namedCurve = curve;
      this.ec = { curve, point: key };
    }
  }
}

const curveOids: Readonly<Record<string, string>> = {
  "1.2.840.10045.3.1.7": "prime256v1",
  "1.3.132.0.34": "secp384r1",
};

type VerifyKey = PublicKey | { key: PublicKey; padding: number; saltLength: number };

export function verify(name: string, data: Uint8Array, given: VerifyKey, signature: Uint8Array): boolean {
  const digest = digests[name];
  const key = given instanceof PublicKey ? given : given.key;
  if (!digest) return false;
  if (key.ec) return ecHolds(key.ec, digest, data, signature);
  if (!key.rsa) return false;
  const pss = key.asymmetricKeyType === "rsa-pss" || !(given instanceof PublicKey);
  return (pss ? pssHolds : pkcs1Holds)(key.rsa, digest, data, signature);
}

function ecHolds({ curve: name, point }: EcKey, digest: Digest, data: Uint8Array, signature: Uint8Array): boolean {
  const curve = curves[name];
  if (!curve) return false;
  try {
    const [r, s, ...more] = decodeWhole(signature).expect(TAG.sequence).children();
    if (!r || !s || more.length > 0) return false;
    const pair = { r: r.integer(), s: s.integer() };
    return ecdsaHolds(curve, point, numberOf(digest.of(data)), digest.length, pair);
  } catch {
    return false;
  }
}

const signatureAlgorithms: Readonly<Record<string, string>> = {
  "1.2.840.113549.1.1.5": "sha1",
  "1.2.840.113549.1.1.11": "sha256",
  "1.2.840.113549.1.1.12": "sha384",
  "1.2.840.113549.1.1.13": "sha512",
  "1.2.840.10045.4.3.2": "sha256",
  "1.2.840.10045.4.3.3": "sha384",
  "1.2.840.10045.4.3.4": "sha512",
};
const rsaPss = "1.2.840.113549.1.1.10";

/** The members of node:crypto's class of that name that the validation reads. */
export class X509Certificate {
  readonly raw: Buffer;
  readonly subject: string;
  readonly issuer: string;
  readonly ca: boolean;
  readonly publicKey: PublicKey;
  readonly validFromDate: Date;
  readonly validToDate: Date;
  readonly #tbs: DerNode;
  readonly #algorithm: DerNode;
  readonly #signature: Uint8Array;
  readonly #issuerName: DerNode;
  readonly #subjectName: DerNode;
  readonly #serial: DerNode;
  readonly #extensions: ReadonlyMap<string, DerNode>;

  /** @throws DerError, Error when the bytes are no certificate */
  constructor(der: Uint8Array) {
    const whole = decodeWhole(Uint8Array.from(der)).expect(TAG.sequence);
    const [tbs, algorithm, signature, ...more] = whole.children();
    const fields = tbs?.expect(TAG.sequence).children() ?? [];
    const [serial, inner, issuer, validity, subject, spki] = fields.slice(fields[0]?.tag === 0xa0 ? 1 : 0);
    const [from, to] = validity?.children() ?? [];
    if (!tbs || !algorithm || !signature || more.length > 0 || !serial || !inner || !issuer) throw new Error("damaged");
    if (!subject || !spki || !from || !to || !inner.raw.equals(algorithm.raw)) throw new Error("damaged");
    this.raw = whole.raw;
    this.#tbs = tbs;
    this.#algorithm = algorithm;
    this.#signature = signature.expect(TAG.bitString).content.subarray(1);
    this.#issuerName = issuer;
    this.#subjectName = subject;
    this.#serial = serial.expect(TAG.integer);
    this.#extensions = extensionsOf(fields.find(({ tag }) => tag === 0xa3));
    this.issuer = nameText(issuer);
    this.subject = nameText(subject);
    this.validFromDate = dateOf(from);
    this.validToDate = dateOf(to);
    this.publicKey = new PublicKey(spki);
    const constraints = this.#extensions.get("2.5.29.19")?.children()[0];
    this.ca = constraints?.tag === TAG.boolean && constraints.content[0] === 0xff && this.#maySignCertificates();
  }

  #maySignCertificates(): boolean {
    const usage = this.#extensions.get("2.5.29.15");
    return !usage || ((usage.expect(TAG.bitString).content[1] ?? 0) & 0x04) !== 0;
  }
  #keyId(): Buffer | null {
    return this.#extensions.get("2.5.29.14")?.expect(TAG.octetString).content ?? null;
  }

  /** By names, key identifiers and key usage (RFC 5280 §4.2.1.1); the signature is not looked at. */
  checkIssued(other: X509Certificate): boolean {
    if (!this.#issuerName.raw.equals(other.#subjectName.raw) || !other.#maySignCertificates()) return false;
    const parts = this.#extensions.get("2.5.29.35")?.children() ?? [];
    const keyId = parts.find(({ tag }) => tag === 0x80)?.content;
    const own = other.#keyId();
    if (keyId && own && !keyId.equals(own)) return false;
    const serial = parts.find(({ tag }) => tag === 0x82)?.content;
    if (serial && !serial.equals(other.#serial.content)) return false;
    const names = parts.find(({ tag }) => tag === 0xa1)?.children() ?? [];
    const directory = names.find(({ tag }) => tag === 0xa4)?.children()[0];
    return !directory || directory.raw.equals(other.#issuerName.raw);
  }

  /** Whether this key signed the certificate. */
  verify(key: PublicKey): boolean {
    const [id, parameters] = this.#algorithm.children();
    const name = id?.oid() ?? "";
    if (name === rsaPss) {
      const stated = parameters?.children().find(({ tag }) => tag === 0xa0);
      const oid = stated?.children()[0]?.children()[0];
      const digest = Object.keys(digests).find((one) => digests[one]?.oid === oid?.content.toString("hex")) ?? "sha1";
      const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_AUTO: saltLength } = constants;
      return key.rsa !== null && verify(digest, this.#tbs.raw, { key, padding, saltLength }, this.#signature);
    }
    const digest = signatureAlgorithms[name];
    const fits = name.startsWith("1.2.840.10045.") ? key.ec !== null : key.asymmetricKeyType === "rsa";
    return digest !== undefined && fits && verify(digest, this.#tbs.raw, key, this.#signature);
  }
}

/** Extension → the element in its OCTET STRING. */
function extensionsOf(explicit: DerNode | undefined): ReadonlyMap<string, DerNode> {
  const list = explicit?.children()[0]?.children() ?? [];
  const wanted = ["2.5.29.14", "2.5.29.15", "2.5.29.19", "2.5.29.35"];
  return new Map(
    list.flatMap((extension) => {
      const parts = extension.children();
      const id = parts[0]?.oid() ?? "";
      const value = parts.at(-1)?.expect(TAG.octetString).content;
      return value && wanted.includes(id) ? [[id, decodeWhole(value)] as const] : [];
    }),
  );
}

function dateOf(node: DerNode): Date {
  const text = node.content.toString("latin1");
  const full = node.tag === TAG.generalizedTime ? text : `${Number(text.slice(0, 2)) < 50 ? "20" : "19"}${text}`;
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(full);
  if (!match) return new Date(Number.NaN);
  const [, year, month, day, hour, minute, second] = match;
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** Short names of attribute types, as OpenSSL prints them. */
const attributeNames: Readonly<Record<string, string>> = {
  "2.5.4.3": "CN",
  "2.5.4.4": "SN",
  "2.5.4.5": "serialNumber",
  "2.5.4.6": "C",
  "2.5.4.7": "L",
  "2.5.4.8": "ST",
  "2.5.4.9": "street",
  "2.5.4.10": "O",
  "2.5.4.11": "OU",
  "2.5.4.12": "title",
  "2.5.4.15": "businessCategory",
  "2.5.4.17": "postalCode",
  "2.5.4.42": "GN",
  "2.5.4.97": "organizationIdentifier",
  "0.9.2342.19200300.100.1.1": "UID",
  "0.9.2342.19200300.100.1.25": "DC",
  "1.2.840.113549.1.9.1": "emailAddress",
};

/** A Name on lines, as `X509Certificate.subject` writes it: escaped by RFC 2253 §2.4. */
function nameText(name: DerNode): string {
  const part = (attribute: DerNode): string => {
    const [type, value] = attribute.children();
    const id = type?.oid() ?? "";
    return `${attributeNames[id] ?? id}=${value ? escaped(stringOf(value)) : ""}`;
  };
  return name
    .children()
    .map((set) => set.children().map(part).join(" + "))
    .join("\n");
}

const escaped = (text: string): string =>
  text
    .replaceAll(/[,+"\\<>;]/g, "\\$&")
    .replace(/^[# ]/, "\\$&")
    .replace(/ $/, "\\ ");

function stringOf({ tag, content }: DerNode): string {
  if (tag === TAG.utf8String) return content.toString("utf8");
  // BMPString is UTF-16 with the high byte first.
  return tag === 0x1e ? Buffer.from(content).swap16().toString("utf16le") : content.toString("latin1");
}

/** A public key from its DER (SubjectPublicKeyInfo). @throws DerError */
export const publicKeyOf = (spki: Uint8Array): PublicKey => new PublicKey(decodeWhole(spki));
