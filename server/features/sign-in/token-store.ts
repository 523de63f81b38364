import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { TokenPurpose, TokenRow } from "./tables.ts";

export async function insertToken(tx: Tx, row: TokenRow): Promise<void> {
  await tx.insertInto("sign_in_tokens").values(row).execute();
}

export async function findToken(reader: Reader, purpose: TokenPurpose, sha256: string): Promise<TokenRow | undefined> {
  return await reader
    .selectFrom("sign_in_tokens")
    .selectAll()
    .where("sha256", "=", sha256)
    .where("purpose", "=", purpose)
    .executeTakeFirst();
}

/** @returns whether it was still unused */
export async function useToken(tx: Tx, sha256: string, at: Ts): Promise<boolean> {
  const done = await tx
    .updateTable("sign_in_tokens")
    .set({ used_at: at })
    .where("sha256", "=", sha256)
    .where("used_at", "is", null)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  return done.numUpdatedRows > 0n;
}

/** Withdraws what is still unused of the address. */
export async function revokeTokens(tx: Tx, email: string, at: Ts): Promise<void> {
  await tx
    .updateTable("sign_in_tokens")
    .set({ revoked_at: at })
    .where("email_lower", "=", email)
    .where("used_at", "is", null)
    .where("revoked_at", "is", null)
    .execute();
}

export async function deleteTokensBefore(tx: Tx, before: Ts): Promise<void> {
  await tx.deleteFrom("sign_in_tokens").where("expires_at", "<", before).execute();
}
