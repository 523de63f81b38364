/** The standard security handler (ISO 32000-2 §7.6.4) with the empty user password: RC4, AES-128 and AES-256. */
import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import { isName, type ObjectSource, PdfDict, PdfError, type PdfObject, PdfStream, PdfString } from "./objects.ts";

/** Gives an object as it was before encryption. */
export type Decryptor = (object: PdfObject, num: number, gen: number) => PdfObject;
type Method = "none" | "rc4" | "aes-128" | "aes-256";

// Algorithm 2, step a: what fills a password up to 32 bytes; all of it when the password is empty.
const PADDING = Buffer.from("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a", "hex");
const NO_PASSWORD = Buffer.alloc(0);

/** @throws PdfError `encrypted` when a password is needed or the handler is another one. */
export function decryptorFor(source: ObjectSource, encrypt: PdfDict, trailer: PdfDict): Decryptor {
  if (source.name(encrypt.get("Filter")) !== "Standard") throw new PdfError("encrypted", "an unknown security handler");
  const version = source.number(encrypt.get("V")) ?? 0;
  const revision = source.number(encrypt.get("R")) ?? 0;
  const key = version === 5 ? key256(source, encrypt, revision) : key128(source, encrypt, trailer, version, revision);
  const streams = methodOf(source, encrypt, version, "StmF");
  const strings = methodOf(source, encrypt, version, "StrF");
  const clearMetadata = source.resolve(encrypt.get("EncryptMetadata")) === false;

  const open = (bytes: Uint8Array, method: Method, num: number, gen: number): Uint8Array => {
    if (method === "none") return bytes;
    if (method === "aes-256") return aes(bytes, key, "aes-256-cbc");
    const own = objectKey(key, num, gen, method === "aes-128");
    return method === "rc4" ? rc4(own, bytes) : aes(bytes, own, "aes-128-cbc");
  };
  const walk = (object: PdfObject, num: number, gen: number): PdfObject => {
    if (object instanceof PdfString) return new PdfString(open(object.bytes, strings, num, gen), object.hex);
    if (Array.isArray(object)) return object.map((item) => walk(item, num, gen));
    if (object instanceof PdfDict) {
      return new PdfDict([...object.map].map(([name, value]) => [name, walk(value, num, gen)] as const));
    }
    if (!(object instanceof PdfStream)) return object;
    const dict = walk(object.dict, num, gen);
    if (!(dict instanceof PdfDict)) return object;
    const clear = (clearMetadata && isName(dict.get("Type"), "Metadata")) || hasOwnFilter(source, dict);
    return new PdfStream(dict, open(object.raw, clear ? "none" : streams, num, gen));
  };
  return walk;
}

/** A /Crypt filter of its own is in practice always Identity (§7.4.10). */
function hasOwnFilter(source: ObjectSource, dict: PdfDict): boolean {
  const filter = source.resolve(dict.get("Filter"));
  return isName(Array.isArray(filter) ? filter[0] : filter, "Crypt");
}

function methodOf(source: ObjectSource, encrypt: PdfDict, version: number, which: "StmF" | "StrF"): Method {
  if (version < 4) return "rc4";
  const filter = source.name(encrypt.get(which)) ?? "Identity";
  if (filter === "Identity") return "none";
  const method = source.name(source.dict(source.dict(encrypt.get("CF"))?.get(filter))?.get("CFM"));
  if (method === "V2") return "rc4";
  if (method === "AESV2") return "aes-128";
  if (method === "AESV3") return "aes-256";
  if (method === "None") return "none";
  throw new PdfError("encrypted", "an unknown encryption method");
}

function field(source: ObjectSource, encrypt: PdfDict, name: string, length: number): Buffer {
  const value = source.string(encrypt.get(name));
  if (!value || value.bytes.length < length) throw new PdfError("encrypted", "the encryption dictionary is damaged");
  return Buffer.from(value.bytes.subarray(0, length));
}

const md5 = (...parts: Uint8Array[]): Buffer => digest("md5", ...parts);

function digest(algorithm: string, ...parts: Uint8Array[]): Buffer {
  const hash = createHash(algorithm);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** Algorithms 2, 4 and 5: the key from the empty password, checked against /U. */
function key128(source: ObjectSource, encrypt: PdfDict, trailer: PdfDict, version: number, revision: number): Buffer {
  if (version !== 1 && version !== 2 && version !== 4) throw new PdfError("encrypted", "an unknown encryption version");
  const bits = version === 4 ? 128 : version === 1 ? 40 : (source.number(encrypt.get("Length")) ?? 40);
  const length = Math.min(16, Math.max(5, bits >> 3));
  const permissions = Buffer.alloc(4);
  permissions.writeInt32LE((source.number(encrypt.get("P")) ?? 0) | 0);
  const id = source.string(source.array(trailer.get("ID"))?.[0])?.bytes ?? NO_PASSWORD;
  const clear = revision >= 4 && source.resolve(encrypt.get("EncryptMetadata")) === false;
  const tail = clear ? Buffer.from("ffffffff", "hex") : NO_PASSWORD;
  let key = md5(PADDING, field(source, encrypt, "O", 32), permissions, id, tail).subarray(0, length);
  if (revision >= 3) for (let i = 0; i < 50; i++) key = md5(key).subarray(0, length);
  const expected = field(source, encrypt, "U", revision === 2 ? 32 : 16);
  let user: Uint8Array = revision === 2 ? PADDING : md5(PADDING, id);
  const rounds = revision === 2 ? 1 : 20;
  for (let i = 0; i < rounds; i++)
    user = rc4(
      key.map((byte) => byte ^ i),
      user,
    );
  if (!expected.equals(user)) throw new PdfError("encrypted", "the file opens only with a password");
  return key;
}

/** Algorithm 2.A: the file key, wrapped under a hash of the empty password. */
function key256(source: ObjectSource, encrypt: PdfDict, revision: number): Buffer {
  const user = field(source, encrypt, "U", 48);
  const hash = revision >= 6 ? hardened : (salt: Buffer) => digest("sha256", salt);
  if (!hash(user.subarray(32, 40)).equals(user.subarray(0, 32))) {
    throw new PdfError("encrypted", "the file opens only with a password");
  }
  const decipher = createDecipheriv("aes-256-cbc", hash(user.subarray(40, 48)), Buffer.alloc(16)).setAutoPadding(false);
  return Buffer.concat([decipher.update(field(source, encrypt, "UE", 32)), decipher.final()]);
}

/** Algorithm 2.B for the empty user password. */
function hardened(salt: Buffer): Buffer {
  let key = digest("sha256", salt);
  for (let round = 0; ; round++) {
    const cipher = createCipheriv("aes-128-cbc", key.subarray(0, 16), key.subarray(16, 32)).setAutoPadding(false);
    const block = cipher.update(Buffer.concat(Array<Buffer>(64).fill(key)));
    const sum = block.subarray(0, 16).reduce((total, byte) => total + byte, 0);
    key = digest(["sha256", "sha384", "sha512"][sum % 3] ?? "sha256", block);
    if (round >= 63 && (block.at(-1) ?? 0) <= round - 31) return key.subarray(0, 32);
  }
}

/** Algorithm 1: each object has its own key. */
function objectKey(key: Buffer, num: number, gen: number, forAes: boolean): Buffer {
  const place = Buffer.from([num & 255, (num >> 8) & 255, (num >> 16) & 255, gen & 255, (gen >> 8) & 255]);
  const salt = forAes ? Buffer.from("sAlT") : NO_PASSWORD;
  return md5(key, place, salt).subarray(0, Math.min(16, key.length + 5));
}

/** CBC behind its initialisation vector; what does not decrypt is left out rather than failing the whole file. */
function aes(bytes: Uint8Array, key: Uint8Array, algorithm: string): Uint8Array {
  const whole = 16 + Math.floor((bytes.length - 16) / 16) * 16;
  if (whole < 32) return new Uint8Array();
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, 16)).setAutoPadding(false);
  const plain = Buffer.concat([decipher.update(bytes.subarray(16, whole)), decipher.final()]);
  const padding = plain.at(-1) ?? 0;
  return padding >= 1 && padding <= 16 ? plain.subarray(0, plain.length - padding) : plain;
}

/** RC4 by hand: OpenSSL 3 no longer offers it without its legacy provider. */
function rc4(key: Uint8Array, bytes: Uint8Array): Uint8Array {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index);
  for (let i = 0, j = 0; i < 256; i++) {
    const value = state[i] ?? 0;
    j = (j + value + (key[i % key.length] ?? 0)) & 255;
    state[i] = state[j] ?? 0;
    state[j] = value;
  }
  const out = new Uint8Array(bytes.length);
  for (let n = 0, i = 0, j = 0; n < bytes.length; n++) {
    i = (i + 1) & 255;
    const value = state[i] ?? 0;
    j = (j + value) & 255;
    const other = state[j] ?? 0;
    state[i] = other;
    state[j] = value;
    out[n] = (bytes[n] ?? 0) ^ (state[(value + other) & 255] ?? 0);
  }
  return out;
}
