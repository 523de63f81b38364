import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { NodePlace } from "./merkle.ts";

/** Rows as they are stored; hashes are lower-case hex. Leaves, nodes and anchors are append-only in the database too. */

export type LeafRow = {
  leaf_index: number;
  envelope: string;
  test_mode: number;
  /** JSON: Leaf */
  leaf: string;
  leaf_hash: string;
  document_sha256: string;
  sealed_at: Ts;
};
/** A complete subtree; level 0 are the leaves. */
export type NodeRow = { level: number; node_index: number; hash: string };
export type AnchorRow = {
  sequence: number;
  tree_size: number;
  root_hash: string;
  previous_anchor_hash: string | null;
  created_at: Ts;
  kid: string;
  anchor_hash: string;
  signature: string;
  /** JSON: Hex64[] */
  consistency: string;
  timestamp_token: string | null;
};
export type DownloadTokenRow = { token_sha256: string; envelope: string; created_at: Ts; expires_at: Ts };

declare module "../../kernel/db.ts" {
  interface Tables {
    leaves: LeafRow;
    merkle_nodes: NodeRow;
    anchors: AnchorRow;
    download_tokens: DownloadTokenRow;
  }
}

/** How many leaves the tree has. */
export async function readTreeSize(reader: Reader): Promise<number> {
  const last = await reader
    .selectFrom("leaves")
    .select("leaf_index")
    .orderBy("leaf_index", "desc")
    .limit(1)
    .executeTakeFirst();
  return last === undefined ? 0 : last.leaf_index + 1;
}

/**
 * The hashes of these nodes, in the order of `places`.
 * @throws Error when one is missing: the tree is damaged
 */
export async function readNodes(reader: Reader, places: readonly NodePlace[]): Promise<Uint8Array[]> {
  if (places.length === 0) return [];
  const rows = await reader
    .selectFrom("merkle_nodes")
    .selectAll()
    .where((where) =>
      where.or(
        places.map(({ level, index }) => where.and([where("level", "=", level), where("node_index", "=", index)])),
      ),
    )
    .execute();
  const found = new Map(rows.map((row) => [`${row.level}/${row.node_index}`, row.hash]));
  return places.map(({ level, index }) => {
    const hash = found.get(`${level}/${index}`);
    if (hash === undefined) throw new Error(`the tree has no node ${index} on level ${level}`);
    return Buffer.from(hash, "hex");
  });
}

export async function insertLeaf(tx: Tx, row: LeafRow): Promise<void> {
  await tx.insertInto("leaves").values(row).execute();
}

export async function insertNodes(tx: Tx, rows: readonly NodeRow[]): Promise<void> {
  await tx.insertInto("merkle_nodes").values(rows).execute();
}

/** The first leaf of a document. */
export function findLeaf(reader: Reader, documentSha256: string): Promise<LeafRow | undefined> {
  return reader
    .selectFrom("leaves")
    .selectAll()
    .where("document_sha256", "=", documentSha256)
    .orderBy("leaf_index")
    .limit(1)
    .executeTakeFirst();
}

/** Leaves from `start` on, in their order. */
export function listLeaves(reader: Reader, start: number, limit: number): Promise<LeafRow[]> {
  return reader
    .selectFrom("leaves")
    .selectAll()
    .where("leaf_index", ">=", start)
    .orderBy("leaf_index")
    .limit(limit)
    .execute();
}

export function leavesOfEnvelope(reader: Reader, envelope: string): Promise<LeafRow[]> {
  return reader.selectFrom("leaves").selectAll().where("envelope", "=", envelope).orderBy("leaf_index").execute();
}

/** Ids of all envelopes behind this one, in the order of ids: for walking over all of them. */
export async function listEnvelopeIds(reader: Reader, after: string, limit: number): Promise<string[]> {
  const rows = await reader
    .selectFrom("envelopes")
    .select("id")
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Whether a job of this name is queued or runs with this payload. */
export async function hasJob(reader: Reader, name: string, payload: object): Promise<boolean> {
  const row = await reader
    .selectFrom("jobs")
    .select("id")
    .where("name", "=", name)
    .where("status", "!=", "dead")
    .where("payload", "=", JSON.stringify(payload))
    .executeTakeFirst();
  return row !== undefined;
}

/** Jobs that no further attempt is made for, but for those of these names. */
export function listDeadJobs(
  reader: Reader,
  except: readonly string[],
): Promise<{ id: string; name: string; last_error: string | null }[]> {
  return reader
    .selectFrom("jobs")
    .select(["id", "name", "last_error"])
    .where("status", "=", "dead")
    .where("name", "not in", except)
    .orderBy("id")
    .execute();
}

/** Ids of queued mails that no job of this name will send. */
export async function listMailsWithoutJob(reader: Reader, job: string): Promise<string[]> {
  const [mails, jobs] = await Promise.all([
    reader.selectFrom("mails").select("id").where("status", "=", "queued").orderBy("id").execute(),
    reader.selectFrom("jobs").select("payload").where("name", "=", job).where("status", "!=", "dead").execute(),
  ]);
  const served = new Set(jobs.map(({ payload }) => payload));
  return mails.map(({ id }) => id).filter((mail) => !served.has(JSON.stringify({ mail })));
}

/** Envelopes of the leaves from `start` to `end` (exclusive). */
export async function envelopesOfLeaves(reader: Reader, start: number, end: number): Promise<string[]> {
  const rows = await reader
    .selectFrom("leaves")
    .select("envelope")
    .distinct()
    .where("leaf_index", ">=", start)
    .where("leaf_index", "<", end)
    .execute();
  return rows.map(({ envelope }) => envelope);
}

export function findLatestAnchor(reader: Reader): Promise<AnchorRow | undefined> {
  return reader.selectFrom("anchors").selectAll().orderBy("sequence", "desc").limit(1).executeTakeFirst();
}

export function findAnchor(reader: Reader, sequence: number): Promise<AnchorRow | undefined> {
  return reader.selectFrom("anchors").selectAll().where("sequence", "=", sequence).executeTakeFirst();
}

/** The earliest anchor that covers a leaf. */
export function findCoveringAnchor(reader: Reader, leafIndex: number): Promise<AnchorRow | undefined> {
  return reader
    .selectFrom("anchors")
    .selectAll()
    .where("tree_size", ">", leafIndex)
    .orderBy("tree_size")
    .limit(1)
    .executeTakeFirst();
}

/** Newest first, those before `below` when it is given. */
export function listAnchors(reader: Reader, limit: number, below: number | undefined): Promise<AnchorRow[]> {
  const query = reader.selectFrom("anchors").selectAll().orderBy("sequence", "desc").limit(limit);
  return (below === undefined ? query : query.where("sequence", "<", below)).execute();
}

/** @throws a unique violation when there is an anchor with this number already */
export async function insertAnchor(tx: Tx, row: AnchorRow): Promise<void> {
  await tx.insertInto("anchors").values(row).execute();
}

export async function insertDownloadTokens(tx: Tx, rows: readonly DownloadTokenRow[]): Promise<void> {
  await tx.insertInto("download_tokens").values(rows).execute();
}

export function findDownloadToken(reader: Reader, tokenSha256: string): Promise<DownloadTokenRow | undefined> {
  return reader.selectFrom("download_tokens").selectAll().where("token_sha256", "=", tokenSha256).executeTakeFirst();
}
