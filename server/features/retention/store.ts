import { sql } from "kysely";
import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";

/** Runs of the retention job; one row. */
declare module "../../kernel/db.ts" {
  interface Tables {
    retention_runs: { id: number; at: Ts };
  }
}

export async function lastRun(reader: Reader): Promise<Ts | null> {
  return (await reader.selectFrom("retention_runs").select("at").executeTakeFirst())?.at ?? null;
}

export async function noteRun(tx: Tx, at: Ts): Promise<void> {
  await tx
    .insertInto("retention_runs")
    .values({ id: 1, at })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ at }))
    .execute();
}

/** How long an organization keeps documents: `days`, but `before` until `from`; null is for ever. */
export type Term = { days: number | null; before: number | null; from: Ts | null };
type TermRow = { retention_days: number | null; retention_before: number | null; retention_from: Ts | null };
const termColumns = ["retention_days", "retention_before", "retention_from"] as const;

const termOf = (row: TermRow): Term => ({
  days: row.retention_days,
  before: row.retention_before,
  from: row.retention_from,
});

export async function readTerm(reader: Reader, organization: string): Promise<Term> {
  const row = await reader
    .selectFrom("organizations")
    .select(termColumns)
    .where("id", "=", organization)
    .executeTakeFirstOrThrow();
  return termOf(row);
}

export async function setTerm(tx: Tx, organization: string, { days, before, from }: Term): Promise<void> {
  await tx
    .updateTable("organizations")
    .set({ retention_days: days, retention_before: before, retention_from: from })
    .where("id", "=", organization)
    .execute();
}

/** Terms of all organizations. */
export async function listTerms(reader: Reader): Promise<(Term & { organization: string })[]> {
  const rows = await reader
    .selectFrom("organizations")
    .select(["id", ...termColumns])
    .orderBy("id")
    .execute();
  return rows.map((row) => ({ organization: row.id, ...termOf(row) }));
}

/** As it stands in the index. */
const endedAt = sql<string | null>`coalesce(completed_at, declined_at, voided_at, expired_at)`;

/** Ended before `before`, a completed one also sealed, not held, and not deleted yet. */
function due(reader: Reader, organization: string, before: Ts) {
  return reader
    .selectFrom("envelopes")
    .where("organization", "=", organization)
    .where("documents_deleted_at", "is", null)
    .where("legal_hold", "is", null)
    .where(endedAt, "<=", before)
    .where((is) => is.or([is("completed_at", "is", null), is("seal", "=", "sealed")]));
}

/** Where a page of due envelopes ended. */
export type DuePlace = { endedAt: Ts; id: string };

/** Those that ended first; behind `after` when it is given. */
export async function listDue(
  reader: Reader,
  organization: string,
  { before, after, limit }: { before: Ts; after: DuePlace | null; limit: number },
): Promise<DuePlace[]> {
  let query = due(reader, organization, before).select(["id", endedAt.as("ended_at")]);
  if (after) {
    // The first alone bounds the walk of the index: SQLite takes no pair with an expression in it for that.
    query = query
      .where(endedAt, ">=", after.endedAt)
      .where((is) => is.or([is(endedAt, ">", after.endedAt), is("id", ">", after.id)]));
  }
  const rows = await query.orderBy(endedAt).orderBy("id").limit(limit).execute();
  return rows.map(({ id, ended_at }) => ({ id, endedAt: ended_at ?? "" }));
}

export async function countDue(reader: Reader, organization: string, before: Ts): Promise<number> {
  const { count } = await due(reader, organization, before)
    .select((select) => select.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

export async function countHeld(reader: Reader, organization: string): Promise<number> {
  const { count } = await reader
    .selectFrom("envelopes")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("organization", "=", organization)
    .where("legal_hold", "is not", null)
    .executeTakeFirstOrThrow();
  return count;
}

/** @returns false when it is not due any more: held, deleted, or kept longer meanwhile */
export async function markDeleted(tx: Tx, envelope: string, organization: string, before: Ts, at: Ts) {
  const still = await due(tx, organization, before).select("id").where("id", "=", envelope).executeTakeFirst();
  if (still === undefined) return false;
  await tx
    .updateTable("envelopes")
    .set({ documents_deleted_at: at, updated_at: at, variables: "{}", prefilled: "{}" })
    .where("id", "=", envelope)
    .execute();
  return true;
}

/**
 * Takes away what people filled in and what mails said, whose hashes stand in the audit trail, and when to renew a seal whose
 * file goes.
 */
export async function wipe(tx: Tx, envelope: string): Promise<void> {
  await tx.updateTable("recipients").set({ values: null }).where("envelope", "=", envelope).execute();
  await tx.updateTable("signing_submissions").set({ values: "{}" }).where("envelope", "=", envelope).execute();
  await tx.updateTable("mails").set({ content: null }).where("envelope", "=", envelope).execute();
  await tx.deleteFrom("seal_terms").where("envelope", "=", envelope).execute();
}

/** What stands against the deletion; null releases it. @returns false when that changes nothing */
export async function setHold(tx: Tx, envelope: string, hold: string | null): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("envelopes")
    .set({ legal_hold: hold })
    .where("id", "=", envelope)
    .where("documents_deleted_at", "is", null)
    .where("legal_hold", hold === null ? "is not" : "is", null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}
