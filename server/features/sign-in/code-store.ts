import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { CodePurpose, CodeRow } from "./tables.ts";

export async function insertCode(tx: Tx, row: CodeRow): Promise<void> {
  await tx.insertInto("sign_in_codes").values(row).execute();
}

/** Codes of the address that were neither used nor replaced and have not expired, newest first. */
export async function openCodes(reader: Reader, purpose: CodePurpose, email: string, now: Ts): Promise<CodeRow[]> {
  return await reader
    .selectFrom("sign_in_codes")
    .selectAll()
    .where("email_lower", "=", email)
    .where("purpose", "=", purpose)
    .where("closed_at", "is", null)
    .where("expires_at", ">", now)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
}

/** Codes of any purpose for the address since then, newest first. */
export async function codesSince(
  reader: Reader,
  email: string,
  since: Ts,
): Promise<Pick<CodeRow, "purpose" | "created_at">[]> {
  return await reader
    .selectFrom("sign_in_codes")
    .select(["purpose", "created_at"])
    .where("email_lower", "=", email)
    .where("created_at", ">", since)
    .orderBy("created_at", "desc")
    .execute();
}

export async function countWrong(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .updateTable("sign_in_codes")
    .set(({ eb }) => ({ wrong: eb("wrong", "+", 1) }))
    .where("id", "in", ids)
    .execute();
}

export async function closeCode(tx: Tx, id: string, at: Ts): Promise<void> {
  await tx.updateTable("sign_in_codes").set({ closed_at: at }).where("id", "=", id).execute();
}

/** Closes every open code of the address for this purpose. */
export async function closeCodes(tx: Tx, purpose: CodePurpose, email: string, at: Ts): Promise<void> {
  await tx
    .updateTable("sign_in_codes")
    .set({ closed_at: at })
    .where("email_lower", "=", email)
    .where("purpose", "=", purpose)
    .where("closed_at", "is", null)
    .execute();
}

export async function deleteCodesBefore(tx: Tx, before: Ts): Promise<void> {
  await tx.deleteFrom("sign_in_codes").where("expires_at", "<", before).execute();
}
