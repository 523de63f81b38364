/** What the tree costs beyond hashing: appending to it in memory, and proving a leaf of a million. */

import {
  appendedNodes,
  foldNodes,
  inclusionRanges,
  leafHash,
  type NodePlace,
  nodesOf,
  siblingsOf,
  verifyInclusion,
} from "../../server/features/evidence/anchors/merkle.ts";
import { sha256 } from "../../server/features/evidence/anchors/tree.ts";
import { median } from "./median.ts";
import type { BenchResult } from "./seal.ts";

const size = 1_000_000;
const chunk = 20_000;
const proofs = 20_000;

export async function benchMerkle(): Promise<BenchResult[]> {
  const leaf = new Uint8Array(300).fill(7);
  // Per leaf one hash over it, and close to one over a pair.
  const pair = new Uint8Array(65).fill(1);
  const levels = Array.from({ length: 21 }, (_, level) => new Uint8Array(Math.floor(size / 2 ** level) * 32));
  const at = ({ level, index }: NodePlace): Uint8Array => {
    const nodes = levels[level];
    if (!nodes) throw new Error("no such level");
    return nodes.subarray(index * 32, index * 32 + 32);
  };
  // In turns, so that whatever else the machine does slows both.
  const rounds = Array.from({ length: size / chunk }, (_, round) => {
    const bound = secondsOf(() => {
      for (let index = 0; index < chunk; index += 1) {
        sha256(leaf);
        sha256(pair);
      }
    });
    const append = secondsOf(() => {
      for (let index = round * chunk; index < (round + 1) * chunk; index += 1) {
        const nodes = appendedNodes(sha256, index, leafHash(sha256, leaf), siblingsOf(index).map(at));
        for (const node of nodes) levels[node.level]?.set(node.hash, node.index * 32);
      }
    });
    return { append, ratio: bound / append };
  });
  const hashesOf = (start: number, end: number): Uint8Array => foldNodes(sha256, nodesOf({ start, end }).map(at));
  const leaves = Array.from({ length: proofs }, (_, step) => (step * 7919) % size);
  let paths: Uint8Array[][] = [];
  const prove = secondsOf(() => {
    paths = leaves.map((index) => inclusionRanges(index, size).map(({ start, end }) => hashesOf(start, end)));
  });
  const root = hashesOf(0, size);
  const own = leafHash(sha256, leaf);
  const holds = leaves.every((index, place) =>
    verifyInclusion(sha256, { leafHash: own, index, size, path: paths[place] ?? [], root }),
  );
  if (!holds) throw new Error("a proof does not hold");
  const milliseconds = (prove / proofs) * 1000;
  return [
    {
      name: "Merkle append against its hashes",
      ratio: median(rounds.map(({ ratio }) => ratio)),
      target: "≥ 0.8",
      detail: `${Math.round(chunk / median(rounds.map(({ append }) => append)))} leaves a second`,
    },
    {
      name: "inclusion proof at 10⁶ leaves against 0.1 ms",
      ratio: milliseconds / 0.1,
      target: "≤ 1",
      detail: `${milliseconds.toFixed(4)} ms a proof`,
    },
  ];
}

function secondsOf(run: () => void): number {
  const begun = performance.now();
  run();
  return (performance.now() - begun) / 1000;
}
