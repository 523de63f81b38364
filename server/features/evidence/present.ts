import { z } from "zod";
import { Hex64 } from "../../kernel/wire.ts";
import { type Anchor, Leaf } from "./contract.ts";
import type { AnchorRow, LeafRow } from "./store.ts";

const Proof = z.array(Hex64);

/** Row → wire. */
export function presentAnchor(row: AnchorRow): Anchor {
  return {
    v: 1,
    type: "svc.anchor",
    sequence: row.sequence,
    treeSize: row.tree_size,
    rootHash: row.root_hash,
    previousAnchorHash: row.previous_anchor_hash,
    createdAt: row.created_at,
    kid: row.kid,
    anchorHash: row.anchor_hash,
    signature: row.signature,
    consistency: Proof.parse(JSON.parse(row.consistency)),
    timestampToken: row.timestamp_token,
  };
}

/** Row → wire. */
export function presentLeaf(row: LeafRow): Leaf {
  return Leaf.parse(JSON.parse(row.leaf));
}
