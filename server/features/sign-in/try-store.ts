import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { TryPurpose, TryRow } from "./tables.ts";

export async function insertTry(tx: Tx, row: TryRow): Promise<void> {
  await tx.insertInto("sign_in_tries").values(row).execute();
}

export async function deleteTry(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom("sign_in_tries").where("id", "=", id).execute();
}

/** When something failed for the address since then, newest first. */
export async function triesSince(reader: Reader, purpose: TryPurpose, email: string, since: Ts): Promise<Ts[]> {
  const rows = await reader
    .selectFrom("sign_in_tries")
    .select("at")
    .where("email_lower", "=", email)
    .where("purpose", "=", purpose)
    .where("at", ">", since)
    .orderBy("at", "desc")
    .execute();
  return rows.map(({ at }) => at);
}

export async function deleteTriesBefore(tx: Tx, before: Ts): Promise<void> {
  await tx.deleteFrom("sign_in_tries").where("at", "<", before).execute();
}
