import { sql } from "kysely";
import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { JobType } from "../../kernel/jobs.ts";
import type { EnvelopeRow } from "../envelopes/service.ts";
import type { NodePlace } from "./anchors/merkle.ts";

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
/** DER in base64, over the anchor's hash; `at` is the time that it states. */
export type AnchorTokenRow = { sequence: number; token: string; at: Ts; authority: string | null };
/** When the seal of an envelope is to be renewed, and when the certificate behind its newest timestamp ends. */
export type SealTermRow = { envelope: string; renew_at: Ts; valid_until: Ts };
export type DownloadTokenRow = { token_sha256: string; envelope: string; created_at: Ts; expires_at: Ts };

declare module "../../kernel/db.ts" {
  interface Tables {
    leaves: LeafRow;
    merkle_nodes: NodeRow;
    anchors: AnchorRow;
    anchor_tokens: AnchorTokenRow;
    download_tokens: DownloadTokenRow;
    seal_terms: SealTermRow;
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
  const wanted = sql.join(places.map(({ level, index }) => sql`(${level}, ${index})`));
  // One search by key for each place. Written as a list of alternatives it would be a walk over all nodes wherever SQLite takes the
  // tree for a small one.
  const { rows } = await sql<NodePlace & { hash: string | null }>`
    select column1 as level, column2 as "index",
      (select hash from merkle_nodes where level = places.column1 and node_index = places.column2) as hash
    from (values ${wanted}) as places
  `.execute(reader);
  const found = new Map(rows.map(({ level, index, hash }) => [`${level}/${index}`, hash]));
  return places.map(({ level, index }) => {
    const hash = found.get(`${level}/${index}`) ?? null;
    if (hash === null) throw new Error(`the tree has no node ${index} on level ${level}`);
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

/** How many envelopes stand behind this id. */
export async function countEnvelopes(reader: Reader, after: string): Promise<number> {
  const { count } = await reader
    .selectFrom("envelopes")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("id", ">", after)
    .executeTakeFirstOrThrow();
  return count;
}

/** How the attempt before ended; null when none failed. */
export async function lastErrorOf(reader: Reader, job: string): Promise<string | null> {
  const row = await reader.selectFrom("jobs").select("last_error").where("id", "=", job).executeTakeFirst();
  return row?.last_error ?? null;
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

/** Ids of queued mails that no job of this kind will send. */
export async function listMailsWithoutJob<P>(reader: Reader, job: JobType<P>): Promise<string[]> {
  const rows = await reader
    .selectFrom("mails")
    .select("id")
    // As the condition of the index says it, which a bound value would not match.
    .where(sql<boolean>`status = 'queued'`)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("jobs")
            .select("jobs.id")
            .where("name", "=", job.name)
            .whereRef("subject", "=", "mails.id")
            .where("jobs.status", "!=", "dead"),
        ),
      ),
    )
    .orderBy("id")
    .execute();
  return rows.map(({ id }) => id);
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

/** Anchors with the token that came after them. */
const anchorsOf = (reader: Reader) =>
  reader
    .selectFrom("anchors")
    .leftJoin("anchor_tokens", "anchor_tokens.sequence", "anchors.sequence")
    .selectAll("anchors")
    .select(({ fn }) => fn.coalesce("anchors.timestamp_token", "anchor_tokens.token").as("timestamp_token"));

export function findLatestAnchor(reader: Reader): Promise<AnchorRow | undefined> {
  return anchorsOf(reader).orderBy("anchors.sequence", "desc").limit(1).executeTakeFirst();
}

export function findAnchor(reader: Reader, sequence: number): Promise<AnchorRow | undefined> {
  return anchorsOf(reader).where("anchors.sequence", "=", sequence).executeTakeFirst();
}

/** The earliest anchor that covers a leaf. */
export function findCoveringAnchor(reader: Reader, leafIndex: number): Promise<AnchorRow | undefined> {
  return anchorsOf(reader).where("tree_size", ">", leafIndex).orderBy("tree_size").limit(1).executeTakeFirst();
}

/** Newest first, those before `below` when it is given. */
export function listAnchors(reader: Reader, limit: number, below: number | undefined): Promise<AnchorRow[]> {
  const query = anchorsOf(reader).orderBy("anchors.sequence", "desc").limit(limit);
  return (below === undefined ? query : query.where("anchors.sequence", "<", below)).execute();
}

/** Those behind `after` that have no checkpoint note, in their order. */
export function listAnchorsWithoutNote(
  reader: Reader,
  { after, limit }: { after: number; limit: number },
): Promise<AnchorRow[]> {
  return anchorsOf(reader)
    .leftJoin("anchor_notes", "anchor_notes.sequence", "anchors.sequence")
    .where("anchor_notes.sequence", "is", null)
    .where("anchors.sequence", ">", after)
    .orderBy("anchors.sequence")
    .limit(limit)
    .execute();
}

/** The first token stays. */
export async function insertAnchorToken(tx: Tx, row: AnchorTokenRow): Promise<void> {
  await tx
    .insertInto("anchor_tokens")
    .values(row)
    .onConflict((conflict) => conflict.column("sequence").doNothing())
    .execute();
}

/** @throws a unique violation when there is an anchor with this number already */
export async function insertAnchor(tx: Tx, row: AnchorRow): Promise<void> {
  await tx.insertInto("anchors").values(row).execute();
}

export async function replaceSealTerm(tx: Tx, row: SealTermRow): Promise<void> {
  await tx
    .insertInto("seal_terms")
    .values(row)
    .onConflict((conflict) => conflict.column("envelope").doUpdateSet(row))
    .execute();
}

export function findSealTerm(reader: Reader, envelope: string): Promise<SealTermRow | undefined> {
  return reader.selectFrom("seal_terms").selectAll().where("envelope", "=", envelope).executeTakeFirst();
}

/** Those that end first. */
export function listSealTerms(reader: Reader, limit: number): Promise<SealTermRow[]> {
  return reader.selectFrom("seal_terms").selectAll().orderBy("renew_at").limit(limit).execute();
}

/** Envelopes behind `after` whose files are there and sealed at one of these levels, by their ids. */
export async function listSealedBelow(
  reader: Reader,
  { levels, after, limit }: { levels: readonly NonNullable<EnvelopeRow["seal_level"]>[]; after: string; limit: number },
): Promise<string[]> {
  const rows = await reader
    .selectFrom("envelopes")
    .select("id")
    .where("seal_level", "in", levels)
    .where("id", ">", after)
    .where("seal", "=", "sealed")
    .where("documents_deleted_at", "is", null)
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

export async function listRetentions(reader: Reader): Promise<{ id: string; days: number | null }[]> {
  return await reader.selectFrom("organizations").select(["id", "retention_days as days"]).orderBy("id").execute();
}

/** How many envelopes of each organization lost their documents. */
export async function countDeleted(reader: Reader): Promise<Map<string, number>> {
  const rows = await reader
    .selectFrom("envelopes")
    .select(["organization", ({ fn }) => fn.countAll<number>().as("count")])
    .where("documents_deleted_at", "is not", null)
    .groupBy("organization")
    .execute();
  return new Map(rows.map(({ organization, count }) => [organization, count]));
}

/** Of all envelopes that are held. */
export async function listHolds(reader: Reader): Promise<{ id: string; hold: string }[]> {
  const rows = await reader
    .selectFrom("envelopes")
    .select(["id", "legal_hold"])
    .where("legal_hold", "is not", null)
    .execute();
  return rows.flatMap(({ id, legal_hold: hold }) => (hold === null ? [] : [{ id, hold }]));
}

/** Those among these ids that there are. */
export async function knownEnvelopes(reader: Reader, ids: readonly string[]): Promise<Set<string>> {
  const rows = await reader.selectFrom("envelopes").select("id").where("id", "in", ids).execute();
  return new Set(rows.map(({ id }) => id));
}

/** Envelopes up to this id that were created after this time. */
export async function countCreatedSince(reader: Reader, { upTo, since }: { upTo: string; since: Ts }): Promise<number> {
  const { count } = await reader
    .selectFrom("envelopes")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("id", "<=", upTo)
    .where("created_at", ">", since)
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertDownloadTokens(tx: Tx, rows: readonly DownloadTokenRow[]): Promise<void> {
  await tx.insertInto("download_tokens").values(rows).execute();
}

/** Those that ended before this. */
export async function deleteDownloadTokens(tx: Tx, before: Ts): Promise<void> {
  await tx.deleteFrom("download_tokens").where("expires_at", "<", before).execute();
}

export function findDownloadToken(reader: Reader, tokenSha256: string): Promise<DownloadTokenRow | undefined> {
  return reader.selectFrom("download_tokens").selectAll().where("token_sha256", "=", tokenSha256).executeTakeFirst();
}
