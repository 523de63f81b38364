import { canonicalize } from "../../kernel/canonical.ts";
import type { Deps } from "../../kernel/deps.ts";
import { publicAnchorKeys } from "../keys/service.ts";
import { fromHex, leafBytes, toHex } from "./anchor.ts";
import { anchorHolds } from "./anchoring.ts";
import type { Anchor } from "./contract.ts";
import type { Findings } from "./findings.ts";
import { appendedNodes, foldNodes, leafHash, nodesOf, siblingsOf, verifyConsistency } from "./merkle.ts";
import { presentAnchor, presentLeaf } from "./present.ts";
import * as store from "./store.ts";
import { sha256 } from "./tree.ts";

const pageSize = 200;

/** Builds the whole tree anew from its leaves and compares: nodes, roots, anchors. */
export async function checkTree(deps: Deps, findings: Findings): Promise<void> {
  const anchors = (await store.listAnchors(deps.db.read, Number.MAX_SAFE_INTEGER, undefined))
    .map(presentAnchor)
    .reverse();
  const roots = await checkLeaves(deps, findings, new Set(anchors.map(({ treeSize }) => treeSize)));
  await checkAnchors(deps, findings, anchors, roots);
}

/** @returns the root at each of these sizes that the tree has reached */
async function checkLeaves(
  deps: Deps,
  findings: Findings,
  sizes: ReadonlySet<number>,
): Promise<Map<number, Uint8Array>> {
  const frontier = new Map<string, Uint8Array>();
  const roots = new Map<number, Uint8Array>();
  const key = (level: number, index: number) => `${level}/${index}`;
  const hashAt = ({ level, index }: { level: number; index: number }) =>
    frontier.get(key(level, index)) ?? sha256(new Uint8Array(0));
  let expected = 0;
  findings.count("leaves", 0);
  for (;;) {
    const rows = await store.listLeaves(deps.db.read, expected, pageSize);
    if (rows.length === 0) break;
    for (const row of rows) {
      const where = `leaf ${row.leaf_index}`;
      if (row.leaf_index !== expected) {
        findings.problem("leaf", where, `leaf ${expected} is missing`);
        return roots;
      }
      const hash = leafHash(sha256, leafBytes(presentLeaf(row)));
      checkLeaf(findings, row, hash);
      const nodes = appendedNodes(sha256, expected, hash, siblingsOf(expected).map(hashAt));
      for (const node of nodes) {
        frontier.set(key(node.level, node.index), node.hash);
        // Once a pair is joined only the larger node is needed.
        if (node.index % 2 === 1) frontier.delete(key(node.level - 1, node.index * 2 + 1));
      }
      await checkNodes(deps, findings, nodes);
      expected += 1;
      if (sizes.has(expected)) roots.set(expected, foldNodes(sha256, nodesOf({ start: 0, end: expected }).map(hashAt)));
      findings.count("leaves");
    }
    findings.progress(`leaf ${expected}`);
  }
  return roots;
}

function checkLeaf(findings: Findings, row: store.LeafRow, hash: Uint8Array): void {
  const where = `leaf ${row.leaf_index}`;
  const leaf = presentLeaf(row);
  if (toHex(hash) !== row.leaf_hash) findings.problem("leaf", where, "it does not have the hash that is stored");
  const columns = {
    envelope: row.envelope,
    documentSha256: row.document_sha256,
    sealedAt: row.sealed_at,
    testMode: row.test_mode === 1,
  };
  const { envelope, documentSha256, sealedAt, testMode } = leaf;
  if (canonicalize(columns) !== canonicalize({ envelope, documentSha256, sealedAt, testMode }))
    findings.problem("leaf", where, "its columns say something else than the leaf");
}

async function checkNodes(
  deps: Deps,
  findings: Findings,
  nodes: readonly { level: number; index: number; hash: Uint8Array }[],
): Promise<void> {
  try {
    const stored = await store.readNodes(deps.db.read, nodes);
    for (const [position, node] of nodes.entries()) {
      if (toHex(stored[position] ?? new Uint8Array(0)) !== toHex(node.hash))
        findings.problem("tree", `level ${node.level}, node ${node.index}`, "the stored hash is wrong");
    }
  } catch (error) {
    findings.problem("tree", `leaf ${nodes[0]?.index}`, error instanceof Error ? error.message : String(error));
  }
}

async function checkAnchors(
  deps: Deps,
  findings: Findings,
  anchors: readonly Anchor[],
  roots: ReadonlyMap<number, Uint8Array>,
): Promise<void> {
  const keys = await publicAnchorKeys(deps.db.read);
  let previous: Anchor | null = null;
  findings.count("anchors", anchors.length);
  for (const anchor of anchors) {
    const wrong = (message: string) => findings.problem("anchor", `anchor ${anchor.sequence}`, message);
    const root = roots.get(anchor.treeSize);
    if (anchor.sequence !== (previous?.sequence ?? 0) + 1) wrong("one before it is missing");
    if (!anchorHolds(anchor, keys)) wrong("its hash or signature does not hold");
    if (anchor.previousAnchorHash !== (previous?.anchorHash ?? null)) wrong("it does not follow the one before");
    if (!root) wrong(`the tree does not have its ${anchor.treeSize} leaves`);
    else if (toHex(root) !== anchor.rootHash) wrong("it signs another tree");
    if (previous && anchor.createdAt < previous.createdAt) wrong("it is older than the one before");
    if (!consistent(previous, anchor)) wrong("its consistency proof does not hold");
    previous = anchor;
  }
}

function consistent(previous: Anchor | null, anchor: Anchor): boolean {
  if (!previous) return anchor.consistency.length === 0;
  return verifyConsistency(sha256, {
    earlierSize: previous.treeSize,
    earlierRoot: fromHex(previous.rootHash),
    size: anchor.treeSize,
    root: fromHex(anchor.rootHash),
    proof: anchor.consistency.map(fromHex),
  });
}
