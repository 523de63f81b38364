/** ECDSA verification over the NIST curves (FIPS 186-5 §6.4.2). What is computed here is public: time need not be constant. */

type Curve = { p: bigint; b: bigint; n: bigint; x: bigint; y: bigint; bytes: number };

export const curves: Readonly<Record<string, Curve>> = {
  prime256v1: {
    p: 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn,
    b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
    n: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
    x: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
    y: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
    bytes: 32,
  },
  secp384r1: {
    p: 0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffffn,
    b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
    n: 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
    x: 0xaa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7n,
    y: 0x3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5fn,
    bytes: 48,
  },
};

/** Jacobian coordinates; z = 0 is the point at infinity. */
type Point = readonly [x: bigint, y: bigint, z: bigint];

const mod = (value: bigint, by: bigint): bigint => ((value % by) + by) % by;

function inverse(value: bigint, by: bigint): bigint {
  let [a, b, u, v] = [mod(value, by), by, 1n, 0n];
  while (a !== 0n) {
    const quotient = b / a;
    [b, a] = [a, b - quotient * a];
    [v, u] = [u, v - quotient * u];
  }
  return mod(v, by);
}

function double([x, y, z]: Point, p: bigint): Point {
  if (z === 0n || y === 0n) return [1n, 1n, 0n];
  const yy = mod(y * y, p);
  const s = mod(4n * x * yy, p);
  const zz = mod(z * z, p);
  // All three curves have a = -3.
  const m = mod(3n * (x - zz) * (x + zz), p);
  const x3 = mod(m * m - 2n * s, p);
  return [x3, mod(m * (s - x3) - 8n * yy * yy, p), mod(2n * y * z, p)];
}

function add(left: Point, right: Point, p: bigint): Point {
  const [x1, y1, z1] = left;
  const [x2, y2, z2] = right;
  if (z1 === 0n) return right;
  if (z2 === 0n) return left;
  const [zz1, zz2] = [mod(z1 * z1, p), mod(z2 * z2, p)];
  const [u1, u2] = [mod(x1 * zz2, p), mod(x2 * zz1, p)];
  const [s1, s2] = [mod(y1 * z2 * zz2, p), mod(y2 * z1 * zz1, p)];
  if (u1 === u2) return s1 === s2 ? double(left, p) : [1n, 1n, 0n];
  const h = u2 - u1;
  const r = s2 - s1;
  const hh = mod(h * h, p);
  const hhh = mod(h * hh, p);
  const v = mod(u1 * hh, p);
  const x3 = mod(r * r - hhh - 2n * v, p);
  return [x3, mod(r * (v - x3) - s1 * hhh, p), mod(h * z1 * z2, p)];
}

/** k·G + l·Q by Shamir's trick. */
function combine(k: bigint, g: Point, l: bigint, q: Point, p: bigint): Point {
  const both = add(g, q, p);
  let sum: Point = [1n, 1n, 0n];
  const length = Math.max(k.toString(2).length, l.toString(2).length);
  for (let bit = BigInt(length - 1); bit >= 0n; bit -= 1n) {
    sum = double(sum, p);
    const [one, other] = [(k >> bit) & 1n, (l >> bit) & 1n];
    if (one && other) sum = add(sum, both, p);
    else if (one) sum = add(sum, g, p);
    else if (other) sum = add(sum, q, p);
  }
  return sum;
}

/**
 * @param point the public key, uncompressed: 04 ‖ x ‖ y
 * @param digest of the message; its leftmost bits count
 */
export function ecdsaHolds(
  curve: Curve,
  point: Uint8Array,
  digest: bigint,
  digestBytes: number,
  { r, s }: { r: bigint; s: bigint },
): boolean {
  const { p, b, n, bytes } = curve;
  if (point[0] !== 4 || point.length !== 1 + 2 * bytes) return false;
  const [x, y] = [numberOf(point.subarray(1, 1 + bytes)), numberOf(point.subarray(1 + bytes))];
  if (x >= p || y >= p || mod(y * y - (x * x * x - 3n * x + b), p) !== 0n) return false;
  if (r <= 0n || r >= n || s <= 0n || s >= n) return false;
  const e = digestBytes > bytes ? digest >> BigInt(8 * (digestBytes - bytes)) : digest;
  const w = inverse(s, n);
  const [px, , pz] = combine(mod(e * w, n), [curve.x, curve.y, 1n], mod(r * w, n), [x, y, 1n], p);
  if (pz === 0n) return false;
  const z = inverse(pz, p);
  return mod(mod(px * z * z, p), n) === r;
}

export function numberOf(bytes: Uint8Array): bigint {
  let text = "0x0";
  for (const byte of bytes) text += (byte < 16 ? "0" : "") + byte.toString(16);
  return BigInt(text);
}
