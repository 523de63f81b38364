import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { CodeRow, HandedCodeRow } from "./tables.ts";

/** Codes that are sent belong to a session, those that are handed over to a recipient. */
export type CodeTable = "signing_codes" | "signing_handed_codes";

/** Makes it the one code of its session. */
export async function replaceCode(tx: Tx, row: CodeRow): Promise<void> {
  await tx
    .updateTable("signing_codes")
    .set({ closed_at: row.created_at })
    .where("session", "=", row.session)
    .where("closed_at", "is", null)
    .execute();
  await tx.insertInto("signing_codes").values(row).execute();
}

/** Makes it the one code that was handed over to its recipient. */
export async function replaceHandedCode(tx: Tx, row: HandedCodeRow): Promise<void> {
  await closeHandedCodes(tx, row.recipient, row.created_at);
  await tx.insertInto("signing_handed_codes").values(row).execute();
}

/** What was handed over to this recipient works no longer. */
export async function closeHandedCodes(tx: Tx, recipient: string, at: Ts): Promise<void> {
  await tx
    .updateTable("signing_handed_codes")
    .set({ closed_at: at })
    .where("recipient", "=", recipient)
    .where("closed_at", "is", null)
    .execute();
}

/** The code that may be tried now by whoever was handed one. */
export async function currentHandedCode(reader: Reader, recipient: string): Promise<HandedCodeRow | undefined> {
  return await reader
    .selectFrom("signing_handed_codes")
    .selectAll()
    .where("recipient", "=", recipient)
    .where("closed_at", "is", null)
    .executeTakeFirst();
}

/** Times of the codes that were made for this recipient since then, newest first. */
export async function handedSince(reader: Reader, recipient: string, since: Ts): Promise<Ts[]> {
  const rows = await reader
    .selectFrom("signing_handed_codes")
    .select("created_at")
    .where("recipient", "=", recipient)
    .where("created_at", ">", since)
    .orderBy("created_at", "desc")
    .execute();
  return rows.map((row) => row.created_at);
}

/** The code that may be tried now. */
export async function currentCode(reader: Reader, session: string): Promise<CodeRow | undefined> {
  return await reader
    .selectFrom("signing_codes")
    .selectAll()
    .where("session", "=", session)
    .where("closed_at", "is", null)
    .orderBy("created_at", "desc")
    .executeTakeFirst();
}

/** A code that was neither used nor replaced. */
export async function findOpenCode(reader: Reader, id: string): Promise<CodeRow | undefined> {
  return await reader
    .selectFrom("signing_codes")
    .selectAll()
    .where("id", "=", id)
    .where("closed_at", "is", null)
    .executeTakeFirst();
}

/** Codes of this recipient since then, newest first. */
export async function codesSince(
  reader: Reader,
  recipient: string,
  since: Ts,
): Promise<Pick<CodeRow, "session" | "created_at">[]> {
  return await reader
    .selectFrom("signing_codes")
    .select(["session", "created_at"])
    .where("recipient", "=", recipient)
    .where("created_at", ">", since)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
}

export async function countAttempt(tx: Tx, table: CodeTable, id: string, attempts: number): Promise<void> {
  await tx.updateTable(table).set({ attempts }).where("id", "=", id).execute();
}

export async function closeCode(tx: Tx, table: CodeTable, id: string, at: Ts): Promise<void> {
  await tx.updateTable(table).set({ closed_at: at }).where("id", "=", id).execute();
}

export async function insertWrongCode(tx: Tx, row: { id: string; recipient: string; at: Ts }): Promise<void> {
  await tx.insertInto("signing_wrong_codes").values(row).execute();
}

export async function countWrongCodes(reader: Reader, recipient: string, since: Ts): Promise<number> {
  const { count } = await reader
    .selectFrom("signing_wrong_codes")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("recipient", "=", recipient)
    .where("at", ">", since)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function isLocked(reader: Reader, recipient: string): Promise<boolean> {
  const row = await reader
    .selectFrom("signing_locks")
    .select("at")
    .where("recipient", "=", recipient)
    .executeTakeFirst();
  return row !== undefined;
}

export async function lock(tx: Tx, recipient: string, at: Ts): Promise<void> {
  await tx
    .insertInto("signing_locks")
    .values({ recipient, at })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Lifts a lock and forgets the wrong codes that led to it. */
export async function unlock(tx: Tx, recipient: string): Promise<void> {
  await tx.deleteFrom("signing_locks").where("recipient", "=", recipient).execute();
  await tx.deleteFrom("signing_wrong_codes").where("recipient", "=", recipient).execute();
}
