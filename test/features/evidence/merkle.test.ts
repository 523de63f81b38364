import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  appendedNodes,
  consistencyRanges,
  emptyRoot,
  foldNodes,
  inclusionRanges,
  type LeafRange,
  leafHash,
  nodesOf,
  siblingsOf,
  verifyConsistency,
  verifyInclusion,
} from "../../../server/features/evidence/anchors/merkle.ts";

const sha256 = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest();
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const hexes = (list: readonly Uint8Array[]): string[] => list.map(hex);

/** RFC 9162 §2.1.1, §2.1.3.1 and §2.1.4.1, word for word and slow: shares nothing with what is tested. */
const join = (left: Buffer, right: Buffer): Buffer =>
  createHash("sha256").update(Buffer.of(1)).update(left).update(right).digest();
function split(count: number): number {
  let k = 1;
  while (2 * k < count) k = 2 * k;
  return k;
}
function mth(d: readonly Buffer[]): Buffer {
  if (d.length === 0) return createHash("sha256").digest();
  const [only] = d;
  if (d.length === 1 && only) return only;
  const k = split(d.length);
  return join(mth(d.slice(0, k)), mth(d.slice(k)));
}
function path(m: number, d: readonly Buffer[]): Buffer[] {
  if (d.length <= 1) return [];
  const k = split(d.length);
  return m < k ? [...path(m, d.slice(0, k)), mth(d.slice(k))] : [...path(m - k, d.slice(k)), mth(d.slice(0, k))];
}
function subproof(m: number, d: readonly Buffer[], b: boolean): Buffer[] {
  if (m === d.length) return b ? [] : [mth(d)];
  const k = split(d.length);
  return m <= k
    ? [...subproof(m, d.slice(0, k), b), mth(d.slice(k))]
    : [...subproof(m - k, d.slice(k), false), mth(d.slice(0, k))];
}

/** The tree as the server keeps it: complete subtrees by their place. */
function grow(
  count: number,
  leafOf = (index: number) => Buffer.from(`leaf ${index}`),
): { leaves: Buffer[]; hashesOf: (ranges: readonly LeafRange[]) => Uint8Array[] } {
  const nodes = new Map<string, Uint8Array>();
  const leaves: Buffer[] = [];
  const at = ({ level, index }: { level: number; index: number }): Uint8Array => {
    const hash = nodes.get(`${level}/${index}`);
    if (!hash) throw new Error(`no node ${level}/${index}`);
    return hash;
  };
  for (let index = 0; index < count; index += 1) {
    const leaf = Buffer.from(leafHash(sha256, leafOf(index)));
    leaves.push(leaf);
    const added = appendedNodes(sha256, index, leaf, siblingsOf(index).map(at));
    for (const node of added) {
      expect(nodes.has(`${node.level}/${node.index}`)).toBe(false);
      nodes.set(`${node.level}/${node.index}`, node.hash);
    }
  }
  return { leaves, hashesOf: (ranges) => ranges.map((range) => foldNodes(sha256, nodesOf(range).map(at))) };
}

const rootOf = (tree: ReturnType<typeof grow>, size: number): Uint8Array => {
  const [root] = tree.hashesOf([{ start: 0, end: size }]);
  if (!root) throw new Error("no root");
  return root;
};

test("roots, paths and consistency proofs are those of RFC 9162, for every tree of up to 40 leaves", () => {
  const tree = grow(40);
  for (let size = 0; size <= 40; size += 1) {
    const leaves = tree.leaves.slice(0, size);
    expect(hex(rootOf(tree, size))).toBe(hex(mth(leaves)));
    for (let index = 0; index < size; index += 1) {
      expect(hexes(tree.hashesOf(inclusionRanges(index, size)))).toEqual(hexes(path(index, leaves)));
    }
    for (let earlier = 1; earlier <= size; earlier += 1) {
      expect(hexes(tree.hashesOf(consistencyRanges(earlier, size)))).toEqual(hexes(subproof(earlier, leaves, true)));
    }
  }
});

/** The leaves and hashes that implementations of RFC 6962 are compared by. */
const known = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
const knownRoots = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

test("known answers of RFC 6962: roots of the first leaves, inclusion in eight, consistency from one and six to eight", () => {
  const tree = grow(8, (index) => Buffer.from(known[index] ?? "", "hex"));
  expect(knownRoots.map((_, size) => hex(rootOf(tree, size)))).toEqual(knownRoots);
  const at = (text: string): Buffer => Buffer.from(text, "hex");
  const proofOfSixth = hexes(tree.hashesOf(inclusionRanges(5, 8)));
  expect(proofOfSixth).toEqual([
    "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  ]);
  const proofOfFirst = hexes(tree.hashesOf(consistencyRanges(1, 8)));
  expect(proofOfFirst).toEqual([
    "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
    "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
    "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
  ]);
  const proofOfSix = hexes(tree.hashesOf(consistencyRanges(6, 8)));
  expect(proofOfSix).toEqual([
    "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  ]);
  const [root, one, six] = [8, 1, 6].map((size) => at(knownRoots[size] ?? "")) as [Buffer, Buffer, Buffer];
  const leaf = leafHash(sha256, at(known[5] ?? ""));
  expect(verifyInclusion(sha256, { leafHash: leaf, index: 5, size: 8, path: proofOfSixth.map(at), root })).toBe(true);
  const consistent = (earlierSize: number, earlierRoot: Buffer, proof: string[]) =>
    verifyConsistency(sha256, { earlierSize, earlierRoot, size: 8, root, proof: proof.map(at) });
  expect([consistent(1, one, proofOfFirst), consistent(6, six, proofOfSix)]).toEqual([true, true]);
  expect(consistent(1, six, proofOfFirst)).toBe(false);
});

describe("an inclusion proof", () => {
  const tree = grow(300);
  const cases = fc
    .integer({ min: 1, max: 300 })
    .chain((size) => fc.record({ size: fc.constant(size), index: fc.nat(size - 1) }));
  const proofOf = (index: number, size: number) => {
    const leaf = tree.leaves[index];
    if (!leaf) throw new Error("no leaf");
    return { leafHash: leaf, index, size, path: path(index, tree.leaves.slice(0, size)), root: rootOf(tree, size) };
  };

  test("holds", () => {
    fc.assert(fc.property(cases, ({ index, size }) => verifyInclusion(sha256, proofOf(index, size))));
  });

  test("holds for nothing else: another bit, place, size, length or order", () => {
    fc.assert(
      fc.property(cases, fc.nat(), fc.nat(255), ({ index, size }, at, bit) => {
        const proof = proofOf(index, size);
        const flipped = (bytes: Uint8Array): Buffer => {
          const copy = Buffer.from(bytes);
          copy[at % 32] = (copy[at % 32] ?? 0) ^ (1 << (bit % 8));
          return copy;
        };
        expect(verifyInclusion(sha256, { ...proof, leafHash: flipped(proof.leafHash) })).toBe(false);
        expect(verifyInclusion(sha256, { ...proof, root: flipped(proof.root) })).toBe(false);
        expect(verifyInclusion(sha256, { ...proof, path: [...proof.path, proof.root] })).toBe(false);
        expect(verifyInclusion(sha256, { ...proof, index: size })).toBe(false);
        expect(verifyInclusion(sha256, { ...proof, index: -1 })).toBe(false);
        const elsewhere = at % size;
        if (elsewhere !== index) expect(verifyInclusion(sha256, { ...proof, index: elsewhere })).toBe(false);
        if (proof.path.length > 0) {
          expect(verifyInclusion(sha256, { ...proof, path: proof.path.slice(1) })).toBe(false);
          const step = at % proof.path.length;
          const other = proof.path.map((hash, position) => (position === step ? flipped(hash) : hash));
          expect(verifyInclusion(sha256, { ...proof, path: other })).toBe(false);
        }
      }),
    );
  });
});

describe("a consistency proof", () => {
  const tree = grow(200);
  const cases = fc
    .integer({ min: 1, max: 200 })
    .chain((size) => fc.record({ size: fc.constant(size), earlierSize: fc.nat(size) }));
  const proofOf = (earlierSize: number, size: number) => ({
    earlierSize,
    earlierRoot: rootOf(tree, earlierSize),
    size,
    root: rootOf(tree, size),
    proof: earlierSize === 0 ? [] : subproof(earlierSize, tree.leaves.slice(0, size), true),
  });

  test("holds", () => {
    fc.assert(fc.property(cases, ({ earlierSize, size }) => verifyConsistency(sha256, proofOf(earlierSize, size))));
  });

  test("does not hold for a tree that was rewritten", () => {
    fc.assert(
      fc.property(cases, fc.nat(), ({ earlierSize, size }, at) => {
        fc.pre(earlierSize > 0);
        const proof = proofOf(earlierSize, size);
        const rewritten = tree.leaves
          .slice(0, size)
          .map((leaf, index) => (index === at % earlierSize ? sha256(leaf) : leaf));
        const other = rewritten.map((leaf) => Buffer.from(leaf));
        const forged = earlierSize === size ? [] : subproof(earlierSize, other, true);
        expect(verifyConsistency(sha256, { ...proof, root: mth(other) })).toBe(false);
        expect(verifyConsistency(sha256, { ...proof, root: mth(other), proof: forged })).toBe(false);
        expect(verifyConsistency(sha256, { ...proof, earlierRoot: mth(other.slice(0, earlierSize)) })).toBe(false);
        expect(verifyConsistency(sha256, { ...proof, proof: [...proof.proof, proof.root] })).toBe(false);
        if (proof.proof.length > 0)
          expect(verifyConsistency(sha256, { ...proof, proof: proof.proof.slice(0, -1) })).toBe(false);
      }),
    );
  });

  test("from the empty tree needs nothing but says nothing else either", () => {
    const proof = { earlierSize: 0, earlierRoot: emptyRoot(sha256), size: 5, root: rootOf(tree, 5), proof: [] };
    expect(verifyConsistency(sha256, proof)).toBe(true);
    expect(verifyConsistency(sha256, { ...proof, earlierRoot: proof.root })).toBe(false);
    expect(verifyConsistency(sha256, { ...proof, proof: [proof.root] })).toBe(false);
  });
});

test("sizes beyond 32 bits keep their places", () => {
  const size = 2 ** 40 + 5;
  const ranges = inclusionRanges(2 ** 40 + 1, size);
  expect(ranges.at(-1)).toEqual({ start: 0, end: 2 ** 40 });
  expect(ranges.every(({ start, end }) => end > start && end <= size)).toBe(true);
  expect(nodesOf({ start: 0, end: size }).map(({ level }) => level)).toEqual([40, 2, 0]);
});

test("what a tree cannot have is refused", () => {
  expect(() => inclusionRanges(3, 3)).toThrow(RangeError);
  expect(() => inclusionRanges(-1, 3)).toThrow(RangeError);
  expect(() => consistencyRanges(4, 3)).toThrow(RangeError);
  expect(() => inclusionRanges(0.5, 3)).toThrow(RangeError);
});
