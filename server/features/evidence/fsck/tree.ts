import { canonicalize } from "../../../kernel/canonical.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { leafBytes, toHex } from "../anchors/anchor.ts";
import { appendedNodes, foldNodes, leafHash, nodesOf, siblingsOf } from "../anchors/merkle.ts";
import { sha256 } from "../anchors/tree.ts";
import { type Findings, messageOf } from "../findings.ts";
import { presentLeaf } from "../present.ts";
import * as store from "../store.ts";

const pageSize = 200;

/** Builds the whole tree anew from its leaves and compares its nodes, and its roots with those of the anchors. */
export async function checkTree(deps: Deps, findings: Findings, progress: (share: number) => void): Promise<void> {
  const signed = new Map(
    (await store.listAnchors(deps.db.read, Number.MAX_SAFE_INTEGER, undefined)).map((row) => [row.tree_size, row]),
  );
  const roots = await checkLeaves(deps, findings, { sizes: new Set(signed.keys()), progress });
  for (const [size, { sequence, root_hash: hash }] of signed) {
    const root = roots.get(size);
    if (root && toHex(root) === hash) continue;
    const message = root ? "it signs another tree" : `the tree does not have its ${size} leaves`;
    findings.found("anchor-root", `anchor ${sequence}`, message);
  }
}

/** @returns the root at each of these sizes that the tree has reached */
async function checkLeaves(
  deps: Deps,
  findings: Findings,
  { sizes, progress }: { sizes: ReadonlySet<number>; progress: (share: number) => void },
): Promise<Map<number, Uint8Array>> {
  const frontier = new Map<string, Uint8Array>();
  const roots = new Map<number, Uint8Array>();
  const key = (level: number, index: number) => `${level}/${index}`;
  const hashAt = ({ level, index }: { level: number; index: number }) =>
    frontier.get(key(level, index)) ?? sha256(new Uint8Array(0));
  let expected = 0;
  const total = await store.readTreeSize(deps.db.read);
  findings.count("leaves", 0);
  for (;;) {
    const rows = await store.listLeaves(deps.db.read, expected, pageSize);
    if (rows.length === 0) break;
    const envelopes = await store.knownEnvelopes(
      deps.db.read,
      rows.map(({ envelope }) => envelope),
    );
    for (const row of rows) {
      const where = `leaf ${row.leaf_index}`;
      if (row.leaf_index !== expected) {
        findings.found("leaf-missing", where, `leaf ${expected} is missing`);
        return roots;
      }
      const hash = leafHash(sha256, leafBytes(presentLeaf(row)));
      checkLeaf(findings, row, hash);
      if (!envelopes.has(row.envelope)) findings.found("leaf-envelope", where, `there is no envelope ${row.envelope}`);
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
    progress(expected / Math.max(expected, total));
  }
  return roots;
}

function checkLeaf(findings: Findings, row: store.LeafRow, hash: Uint8Array): void {
  const where = `leaf ${row.leaf_index}`;
  const leaf = presentLeaf(row);
  if (toHex(hash) !== row.leaf_hash) findings.found("leaf-hash", where, "it does not have the hash that is stored");
  const columns = {
    envelope: row.envelope,
    documentSha256: row.document_sha256,
    sealedAt: row.sealed_at,
    testMode: row.test_mode === 1,
  };
  const { envelope, documentSha256, sealedAt, testMode } = leaf;
  if (canonicalize(columns) !== canonicalize({ envelope, documentSha256, sealedAt, testMode }))
    findings.found("leaf-columns", where, "its columns say something else than the leaf");
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
        findings.found("tree-node", `level ${node.level}, node ${node.index}`, "the stored hash is wrong");
    }
  } catch (error) {
    findings.found("tree-node", `leaf ${nodes[0]?.index}`, messageOf(error));
  }
}
