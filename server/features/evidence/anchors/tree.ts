import { hash as digest } from "node:crypto";
import type { Reader, Tx } from "../../../kernel/db.ts";
import type { InclusionProof, Leaf } from "../contract.ts";
import * as store from "../store.ts";
import { leafBytes, toHex } from "./anchor.ts";
import {
  appendedNodes,
  consistencyRanges,
  foldNodes,
  inclusionRanges,
  type LeafRange,
  leafHash,
  nodesOf,
  type Sha256,
  siblingsOf,
} from "./merkle.ts";

/** The stored tree: appending and proving take a number of steps that grows with the logarithm of its size. */

export const sha256: Sha256 = (bytes) => digest("sha256", bytes, "buffer");

/** Appends a leaf in the caller's transaction. @returns its index */
export async function appendLeaf(tx: Tx, leaf: Leaf): Promise<number> {
  const index = await store.readTreeSize(tx);
  const hash = leafHash(sha256, leafBytes(leaf));
  const siblings = await store.readNodes(tx, siblingsOf(index));
  await store.insertLeaf(tx, {
    leaf_index: index,
    envelope: leaf.envelope,
    test_mode: leaf.testMode ? 1 : 0,
    leaf: JSON.stringify(leaf),
    leaf_hash: toHex(hash),
    document_sha256: leaf.documentSha256,
    sealed_at: leaf.sealedAt,
  });
  const nodes = appendedNodes(sha256, index, hash, siblings);
  await store.insertNodes(
    tx,
    nodes.map((node) => ({ level: node.level, node_index: node.index, hash: toHex(node.hash) })),
  );
  return index;
}

/** The root over the first `size` leaves. */
export async function rootOf(reader: Reader, size: number): Promise<Uint8Array> {
  const [root] = await hashesOf(reader, [{ start: 0, end: size }]);
  if (!root) throw new Error("no root");
  return root;
}

export async function inclusionProof(reader: Reader, leaf: store.LeafRow, size: number): Promise<InclusionProof> {
  const path = await hashesOf(reader, inclusionRanges(leaf.leaf_index, size));
  return { leafIndex: leaf.leaf_index, treeSize: size, leafHash: leaf.leaf_hash, path: path.map(toHex) };
}

/** That the tree of `size` leaves begins with the one of `earlier`. */
export async function consistencyProof(reader: Reader, earlier: number, size: number): Promise<Uint8Array[]> {
  return await hashesOf(reader, consistencyRanges(earlier, size));
}

/** The hash of each range, read in one statement. */
async function hashesOf(reader: Reader, ranges: readonly LeafRange[]): Promise<Uint8Array[]> {
  const places = ranges.map(nodesOf);
  const hashes = await store.readNodes(reader, places.flat());
  let next = 0;
  return places.map((own) => {
    const part = hashes.slice(next, next + own.length);
    next += own.length;
    return foldNodes(sha256, part);
  });
}
