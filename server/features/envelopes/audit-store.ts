import { sql } from "kysely";
import { jsonArrayFrom, type Reader, type Tx } from "../../kernel/db.ts";
import { systemActor } from "../../kernel/wire.ts";
import type { AuditEntry } from "./audit-contract.ts";
import type { ChainEnd } from "./chain.ts";
import type { AuditRow, EnvelopeRow } from "./tables.ts";

const columns = [
  "envelope",
  "seq",
  "id",
  "type",
  "at",
  "actor",
  "ip",
  "user_agent",
  "data",
  "prev_hash",
  "hash",
] as const satisfies (keyof AuditRow)[];

export async function readChainEnd(reader: Reader, envelope: string): Promise<ChainEnd | undefined> {
  const row = await reader
    .selectFrom("envelopes")
    .select(["audit_length", "audit_head"])
    .where("id", "=", envelope)
    .executeTakeFirst();
  return row && (await chainEndOf(reader, { ...row, id: envelope }));
}

/** Where the chain of this row ends, and when that was. */
export async function chainEndOf(
  reader: Reader,
  { id, audit_length: length, audit_head: head }: Pick<EnvelopeRow, "id" | "audit_length" | "audit_head">,
): Promise<ChainEnd> {
  const last = await reader
    .selectFrom("audit_entries")
    .select("at")
    .where("envelope", "=", id)
    .where("seq", "=", length)
    .executeTakeFirst();
  return { length, head, at: last?.at ?? null };
}

/** The whole chain and where it must end, of one moment. */
export async function readChain(
  reader: Reader,
  envelope: string,
): Promise<{ entries: AuditEntry[]; end: ChainEnd } | undefined> {
  const row = await reader
    .selectFrom("envelopes")
    .select(["audit_length", "audit_head"])
    .select((eb) =>
      jsonArrayFrom(
        eb
          .selectFrom("audit_entries")
          .select(columns)
          .whereRef("audit_entries.envelope", "=", "envelopes.id")
          .orderBy("seq"),
      ).as("entries"),
    )
    .where("id", "=", envelope)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return { entries: row.entries.map(entryOf), end: { length: row.audit_length, head: row.audit_head } };
}

/** Entries behind `seq` with the envelope's state: what a stream still has to send. */
export async function readEntriesAfter(
  reader: Reader,
  envelope: string,
  seq: number,
): Promise<{ entries: AuditEntry[]; state: Pick<EnvelopeRow, "status" | "seal" | "audit_length"> } | undefined> {
  const row = await reader
    .selectFrom("envelopes")
    .select(["status", "seal", "audit_length"])
    .select((eb) =>
      jsonArrayFrom(
        eb
          .selectFrom("audit_entries")
          .select(columns)
          .whereRef("audit_entries.envelope", "=", "envelopes.id")
          .where("seq", ">", seq)
          .orderBy("seq")
          .limit(100),
      ).as("entries"),
    )
    .where("id", "=", envelope)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { entries, ...state } = row;
  return { entries: entries.map(entryOf), state };
}

/** Where the chains of an organization end, those behind `after`, in the order of the envelopes' ids. */
export async function listChainEnds(
  reader: Reader,
  { organization, testMode, after, limit }: { organization: string; testMode: boolean; after: string; limit: number },
): Promise<{ envelope: string; end: ChainEnd }[]> {
  const rows = await reader
    .selectFrom("envelopes")
    .select(["id", "audit_length", "audit_head"])
    .where("organization", "=", organization)
    .where("test_mode", "=", testMode ? 1 : 0)
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ envelope: row.id, end: { length: row.audit_length, head: row.audit_head } }));
}

/** Entries of one chain behind `after`, up to `last`. */
export async function readEntries(
  reader: Reader,
  envelope: string,
  { after, last, limit }: { after: number; last: number; limit: number },
): Promise<AuditEntry[]> {
  const rows = await reader
    .selectFrom("audit_entries")
    .select(columns)
    .where("envelope", "=", envelope)
    .where("seq", ">", after)
    .where("seq", "<=", last)
    .orderBy("seq")
    .limit(limit)
    .execute();
  return rows.map(entryOf);
}

/** The first entry that names this file as its envelope's certificate of completion. */
export async function findCertificateEntry(reader: Reader, certificateSha256: string): Promise<AuditEntry | undefined> {
  const row = await reader
    .selectFrom("audit_entries")
    .select(columns)
    // Word for word as in the index, which bound values would not match.
    .where(sql<boolean>`type in ('envelope.sealed', 'envelope.seal_extended')`)
    .where(sql<string>`data ->> 'certificateSha256'`, "=", certificateSha256)
    .orderBy("seq")
    .limit(1)
    .executeTakeFirst();
  return row && entryOf(row);
}

/** The last seal entry of the envelope that keeps this file as its certificate, whatever the entry names. */
export async function findSealEntryOf(reader: Reader, certificateSha256: string): Promise<AuditEntry | undefined> {
  const row = await reader
    .selectFrom("audit_entries")
    .select(columns)
    .where("envelope", "=", (eb) =>
      eb.selectFrom("envelopes").select("id").where("certificate_sha256", "=", certificateSha256).limit(1),
    )
    .where("type", "in", ["envelope.sealed", "envelope.seal_extended"])
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && entryOf(row);
}

export async function insertEntries(tx: Tx, entries: readonly AuditEntry[]): Promise<void> {
  await tx.insertInto("audit_entries").values(entries.map(rowOf)).execute();
}

/** @returns false when the chain has grown in the meantime */
export async function moveChainEnd(tx: Tx, envelope: string, from: ChainEnd, to: ChainEnd): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("envelopes")
    .set({ audit_length: to.length, audit_head: to.head })
    .where("id", "=", envelope)
    .where("audit_length", "=", from.length)
    .where("audit_head", "=", from.head)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

function rowOf(entry: AuditEntry): AuditRow {
  const { envelope, seq, id, type, at, ip, hash } = entry;
  return {
    envelope,
    seq,
    id,
    type,
    at,
    actor: JSON.stringify(entry.actor),
    ip,
    user_agent: entry.userAgent,
    data: JSON.stringify(entry.data),
    prev_hash: entry.prevHash,
    hash,
  };
}

function entryOf(row: AuditRow): AuditEntry {
  return {
    v: 1,
    envelope: row.envelope,
    seq: row.seq,
    id: row.id,
    type: row.type,
    at: row.at,
    actor: parsed(row.actor, systemActor),
    ip: row.ip,
    userAgent: row.user_agent,
    data: parsed(row.data, {}),
    prevHash: row.prev_hash,
    hash: row.hash,
  };
}

/** Text that somebody damaged must be reported as a broken chain, not as an error. */
function parsed<T>(text: string, damaged: T): T {
  try {
    return JSON.parse(text);
  } catch {
    return damaged;
  }
}
