import { createHash, createPublicKey, type KeyObject } from "node:crypto";
import type { Handle, PKCS11, Template } from "pkcs11js";

/** What goes into a PKCS#11 token and comes out of it (OASIS PKCS #11 v3.0), without a call to one but `C_GetAttributeValue`. */

export type TokenKind = "rsa-2048" | "rsa-3072" | "rsa-4096" | "ec-p256" | "ed25519";

// Constants of the specification; EdDSA is younger than the table of pkcs11js.
export const rv = {
  pinIncorrect: [0xa0, 0xa1, 0xa2],
  pinLocked: 0xa4,
  mechanismInvalid: [0x70, 0x71],
  deviceMemory: 0x31,
  alreadyLoggedIn: 0x100,
  alreadyInitialized: 0x191,
};
/** The session, its objects or the whole token went away: worth one new session. */
export const lost = new Set([
  0x03, 0x05, 0x06, 0x30, 0x32, 0x50, 0x60, 0x82, 0x90, 0xb0, 0xb3, 0xe0, 0xe1, 0xe2, 0x101, 0x190,
]);
export const flag = {
  osLocking: 2,
  pinCountLow: 0x10000,
  pinFinalTry: 0x20000,
  pinLocked: 0x40000,
  session: 4,
  readWrite: 2,
};
export const user = 1;
export const classOf = { public: 2, private: 3 };
export const attribute = {
  class: 0,
  token: 1,
  private: 2,
  label: 3,
  keyType: 0x100,
  id: 0x102,
  sensitive: 0x103,
  sign: 0x108,
  verify: 0x10a,
  modulus: 0x120,
  modulusBits: 0x121,
  publicExponent: 0x122,
  extractable: 0x162,
  ecParams: 0x180,
  ecPoint: 0x181,
};
export type Family = { name: string; generate: number; sign: number; signName: string; keyType: number };
export const rsa: Family = { name: "rsa", generate: 0x0, sign: 0x1, signName: "CKM_RSA_PKCS", keyType: 0x0 };
export const ec: Family = { name: "ec", generate: 0x1040, sign: 0x1041, signName: "CKM_ECDSA", keyType: 0x3 };
export const ed: Family = { name: "ed25519", generate: 0x1055, sign: 0x1057, signName: "CKM_EDDSA", keyType: 0x40 };
export const familyOf = (kind: TokenKind): Family => (kind === "ed25519" ? ed : kind === "ec-p256" ? ec : rsa);
const curves = { p256: Buffer.from("06082a8648ce3d030107", "hex"), ed25519: Buffer.from("06032b6570", "hex") };
/** DigestInfo of SHA-256 up to the digest (RFC 8017 §9.2, note 1): tokens that cannot hash can still sign it. */
const digestInfo = Buffer.from("3031300d060960864801650304020105000420", "hex");

export function toBeSigned(family: Family, bytes: Uint8Array): Buffer {
  if (family === ed) return Buffer.from(bytes);
  const digest = createHash("sha256").update(bytes).digest();
  return family === rsa ? Buffer.concat([digestInfo, digest]) : digest;
}

/** r and s side by side → the SEQUENCE of two INTEGERs that certificates and CMS use. */
export function derSignature(raw: Buffer): Buffer {
  const half = raw.length / 2;
  const integer = (bytes: Buffer) => {
    const first = bytes.findIndex((byte) => byte !== 0);
    const short = first === -1 ? Buffer.of(0) : bytes.subarray(first);
    const value = (short[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.of(0), short]) : short;
    return Buffer.concat([Buffer.of(0x02, value.length), value]);
  };
  const body = Buffer.concat([integer(raw.subarray(0, half)), integer(raw.subarray(half))]);
  return Buffer.concat([Buffer.of(0x30, body.length), body]);
}

export function templates(kind: TokenKind, family: Family, id: Buffer, label: string) {
  const both: Template = [
    { type: attribute.token, value: true },
    { type: attribute.keyType, value: family.keyType },
    { type: attribute.id, value: id },
    { type: attribute.label, value: label },
  ];
  const about: Template =
    family === rsa
      ? [
          { type: attribute.modulusBits, value: kind === "rsa-4096" ? 4096 : 3072 },
          { type: attribute.publicExponent, value: Buffer.of(1, 0, 1) },
        ]
      : [{ type: attribute.ecParams, value: family === ec ? curves.p256 : curves.ed25519 }];
  const publicTemplate: Template = [
    { type: attribute.class, value: classOf.public },
    ...both,
    { type: attribute.verify, value: true },
    ...about,
  ];
  const privateTemplate: Template = [
    { type: attribute.class, value: classOf.private },
    ...both,
    { type: attribute.private, value: true },
    { type: attribute.sensitive, value: true },
    { type: attribute.extractable, value: false },
    { type: attribute.sign, value: true },
  ];
  return { publicTemplate, privateTemplate };
}

export function publicKeyOf(api: PKCS11, session: Handle, key: Handle, family: Family): KeyObject {
  const read = (...types: number[]): Buffer[] =>
    api
      .C_GetAttributeValue(
        session,
        key,
        types.map((type) => ({ type })),
      )
      .map(({ value }) => (Buffer.isBuffer(value) ? value : Buffer.alloc(0)));
  if (family === rsa) {
    const [n = Buffer.alloc(0), e = Buffer.alloc(0)] = read(attribute.modulus, attribute.publicExponent);
    const jwk = { kty: "RSA", n: n.toString("base64url"), e: e.toString("base64url") };
    return createPublicKey({ key: jwk, format: "jwk" });
  }
  const [point = Buffer.alloc(0)] = read(attribute.ecPoint);
  // An OCTET STRING around the point; some tokens give the point bare. Both end with the coordinates.
  const at = (end: number) => point.subarray(point.length - end, point.length - end + 32).toString("base64url");
  const jwk =
    family === ec ? { kty: "EC", crv: "P-256", x: at(64), y: at(32) } : { kty: "OKP", crv: "Ed25519", x: at(32) };
  return createPublicKey({ key: jwk, format: "jwk" });
}
