/**
 * Merkle trees of RFC 6962 §2.1 (the same as RFC 9162 §2.1 with SHA-256). Pure: the hash function and the stored nodes
 * are given, so that the server may use node:crypto and a browser something else.
 */

export type Sha256 = (bytes: Uint8Array) => Uint8Array;

/**
 * A complete subtree: the hash over the leaves from `index · 2^level` to `(index + 1) · 2^level`. They never change once
 * they exist, so they are what a growing tree stores; a tree of n leaves has fewer than 2n of them.
 */
export type NodePlace = { level: number; index: number };

/** Leaves `start` to `end` (exclusive); `start` is a multiple of a power of two that is not less than the length. */
export type LeafRange = { start: number; end: number };

/** SHA-256(0x00 ‖ leaf). */
export function leafHash(sha256: Sha256, leaf: Uint8Array): Uint8Array {
  const bytes = leaf.length < small.length ? small.subarray(0, 1 + leaf.length) : new Uint8Array(1 + leaf.length);
  bytes.set(leaf, 1);
  return sha256(bytes);
}
// Written and hashed in one go, so one buffer serves all; its first byte stays 0.
const small = new Uint8Array(2048);

/** SHA-256(0x01 ‖ left ‖ right). */
export function nodeHash(sha256: Sha256, left: Uint8Array, right: Uint8Array): Uint8Array {
  if (left.length !== 32 || right.length !== 32) throw new RangeError("a node joins two SHA-256 hashes");
  pair.set(left, 1);
  pair.set(right, 33);
  return sha256(pair);
}
const pair = new Uint8Array(65);
pair[0] = 1;

/** The root of a tree without leaves: the hash of nothing. */
export function emptyRoot(sha256: Sha256): Uint8Array {
  return sha256(new Uint8Array(0));
}

/** Tree sizes stay exact up to 2^53, so bits are taken with arithmetic: `>>` knows only 32. */
const half = (value: number): number => Math.floor(value / 2);

function largestPowerBelow(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

function checkSize(value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError("not the size of a tree");
}

/** The stored nodes that a range is made of, from left to right; `foldNodes` joins their hashes. */
export function nodesOf(range: LeafRange): NodePlace[] {
  const places: NodePlace[] = [];
  let { start } = range;
  while (start < range.end) {
    let level = 0;
    let width = 1;
    while (start % (width * 2) === 0 && start + width * 2 <= range.end) {
      width *= 2;
      level += 1;
    }
    places.push({ level, index: start / width });
    start += width;
  }
  return places;
}

/** The hash of a range from those of its nodes (RFC 6962 §2.1: the smaller subtrees stand on the right). */
export function foldNodes(sha256: Sha256, hashes: readonly Uint8Array[]): Uint8Array {
  const last = hashes.at(-1);
  if (!last) return emptyRoot(sha256);
  return hashes.slice(0, -1).reduceRight((right, left) => nodeHash(sha256, left, right), last);
}

/** The ranges whose hashes prove that leaf `index` stands in the tree of `size` leaves, from leaf to root. */
export function inclusionRanges(index: number, size: number): LeafRange[] {
  checkSize(size);
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) throw new RangeError("the tree has no such leaf");
  const ranges: LeafRange[] = [];
  for (let width = 1; width < size; width *= 2) {
    const place = Math.floor(index / width);
    const start = (place % 2 === 0 ? place + 1 : place - 1) * width;
    if (start < size) ranges.push({ start, end: Math.min(start + width, size) });
  }
  return ranges;
}

/** The ranges whose hashes prove that the tree of `size` leaves begins with that of `earlier` (RFC 6962 §2.1.2). */
export function consistencyRanges(earlier: number, size: number): LeafRange[] {
  checkSize(size);
  checkSize(earlier);
  if (earlier > size) throw new RangeError("a tree does not shrink");
  if (earlier === 0 || earlier === size) return [];
  const ranges: LeafRange[] = [];
  let [start, end, known] = [0, size, true];
  while (earlier !== end) {
    const middle = start + largestPowerBelow(end - start);
    if (earlier <= middle) {
      ranges.unshift({ start: middle, end });
      end = middle;
    } else {
      ranges.unshift({ start, end: middle });
      start = middle;
      known = false;
    }
  }
  return known ? ranges : [{ start, end }, ...ranges];
}

/**
 * What appending leaf number `index` completes, the leaf itself first.
 * @param stored the hashes of earlier nodes at `siblingsOf(index)`, in that order
 */
export function appendedNodes(
  sha256: Sha256,
  index: number,
  leaf: Uint8Array,
  stored: readonly Uint8Array[],
): (NodePlace & { hash: Uint8Array })[] {
  const nodes = [{ level: 0, index, hash: leaf }];
  let hash = leaf;
  let place = index;
  for (const left of stored) {
    hash = nodeHash(sha256, left, hash);
    place = half(place);
    nodes.push({ level: nodes.length, index: place, hash });
  }
  return nodes;
}

/** The nodes that leaf number `index` closes into larger ones, from the leaf upwards. */
export function siblingsOf(index: number): NodePlace[] {
  const places: NodePlace[] = [];
  for (let place = index, level = 0; place % 2 === 1; place = half(place), level += 1) {
    places.push({ level, index: place - 1 });
  }
  return places;
}

const same = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, position) => byte === b[position]);

/** RFC 9162 §2.1.3.2. */
export function verifyInclusion(
  sha256: Sha256,
  given: { leafHash: Uint8Array; index: number; size: number; path: readonly Uint8Array[]; root: Uint8Array },
): boolean {
  const { index, size } = given;
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return false;
  let [node, last, hash] = [index, size - 1, given.leafHash];
  for (const step of given.path) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      hash = nodeHash(sha256, step, hash);
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)];
    } else hash = nodeHash(sha256, hash, step);
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && same(hash, given.root);
}

/** RFC 9162 §2.1.4.2; the empty tree is the beginning of every tree. */
export function verifyConsistency(
  sha256: Sha256,
  given: {
    earlierSize: number;
    earlierRoot: Uint8Array;
    size: number;
    root: Uint8Array;
    proof: readonly Uint8Array[];
  },
): boolean {
  const { earlierSize, earlierRoot, size, root } = given;
  if (!Number.isSafeInteger(earlierSize) || !Number.isSafeInteger(size) || earlierSize < 0 || earlierSize > size)
    return false;
  if (earlierSize === size) return given.proof.length === 0 && same(earlierRoot, root);
  if (earlierSize === 0) return given.proof.length === 0 && same(earlierRoot, emptyRoot(sha256));
  const isPower = largestPowerBelow(earlierSize + 1) === earlierSize;
  const [first, ...rest] = isPower ? [earlierRoot, ...given.proof] : given.proof;
  if (!first || given.proof.length === 0) return false;
  let [node, last] = [earlierSize - 1, size - 1];
  while (node % 2 === 1) [node, last] = [half(node), half(last)];
  let [before, after] = [first, first];
  for (const step of rest) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      before = nodeHash(sha256, step, before);
      after = nodeHash(sha256, step, after);
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)];
    } else after = nodeHash(sha256, after, step);
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && same(before, earlierRoot) && same(after, root);
}
