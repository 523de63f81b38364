import { numberOf } from "./elliptic.ts";

/** RSA verification (RFC 8017 §8.1.2, §8.2.2). What is computed here is public: time need not be constant. */

export type RsaKey = { n: bigint; e: bigint; bytes: number; bits: number };
export type Digest = { of: (bytes: Uint8Array) => Uint8Array; length: number; oid: string };

export const rsaKey = (modulus: Uint8Array, exponent: Uint8Array): RsaKey => {
  const n = numberOf(modulus);
  const bits = n.toString(2).length;
  return { n, e: numberOf(exponent), bits, bytes: Math.ceil(bits / 8) };
};

/** The encoded message that the signature opens to; null when it is out of range. */
function open({ n, e, bytes }: RsaKey, signature: Uint8Array): Uint8Array | null {
  const value = numberOf(signature);
  if (signature.length !== bytes || value >= n) return null;
  const text = power(value, e, n)
    .toString(16)
    .padStart(bytes * 2, "0");
  return Uint8Array.from({ length: bytes }, (_, at) => Number.parseInt(text.slice(at * 2, at * 2 + 2), 16));
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let [result, square] = [1n, base % modulus];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

/** RSASSA-PKCS1-v1_5: the encoded message is built and compared whole. */
export function pkcs1Holds(key: RsaKey, digest: Digest, data: Uint8Array, signature: Uint8Array): boolean {
  const opened = open(key, signature);
  const oid = Uint8Array.from(digest.oid.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const hash = digest.of(data);
  const inner = [0x06, oid.length, ...oid, 0x05, 0x00];
  const info = [0x30, inner.length, ...inner, 0x04, hash.length, ...hash];
  const end = [0x00, 0x30, info.length, ...info];
  const padding = key.bytes - 2 - end.length;
  if (!opened || padding < 8) return false;
  const expected = [0x00, 0x01, ...new Array<number>(padding).fill(0xff), ...end];
  return expected.every((byte, index) => opened[index] === byte);
}

/** RSASSA-PSS with MGF1 of the same digest and a salt of any length. */
export function pssHolds(key: RsaKey, digest: Digest, data: Uint8Array, signature: Uint8Array): boolean {
  const opened = open(key, signature);
  if (!opened) return false;
  const emBits = key.bits - 1;
  const encoded = opened.subarray(opened.length - Math.ceil(emBits / 8));
  if (opened.length > encoded.length && opened[0] !== 0) return false;
  const split = encoded.length - digest.length - 1;
  if (split < 0 || encoded.at(-1) !== 0xbc) return false;
  const hash = encoded.subarray(split, split + digest.length);
  const unused = 8 * encoded.length - emBits;
  if (((encoded[0] ?? 0) & (0xff << (8 - unused)) & 0xff) !== 0) return false;
  const block = mask(digest, hash, split).map((byte, index) => byte ^ (encoded[index] ?? 0));
  block[0] = (block[0] ?? 0) & (0xff >> unused);
  const mark = block.findIndex((byte) => byte !== 0);
  if (mark < 0 || block[mark] !== 1) return false;
  const salt = block.subarray(mark + 1);
  const message = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, ...digest.of(data), ...salt);
  return digest.of(message).every((byte, index) => byte === hash[index]);
}

/** MGF1 (RFC 8017 §B.2.1). */
function mask(digest: Digest, seed: Uint8Array, length: number): Uint8Array {
  const out = new Uint8Array(length);
  for (let counter = 0; counter * digest.length < length; counter += 1) {
    const count = [(counter >>> 24) & 255, (counter >>> 16) & 255, (counter >>> 8) & 255, counter & 255];
    const part = digest.of(Uint8Array.of(...seed, ...count));
    out.set(part.subarray(0, length - counter * digest.length), counter * digest.length);
  }
  return out;
}
