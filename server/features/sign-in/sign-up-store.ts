import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { SignUpRow } from "./tables.ts";

export async function insertSignUp(tx: Tx, row: SignUpRow): Promise<void> {
  await tx.insertInto("sign_ups").values(row).execute();
}

export async function findSignUp(reader: Reader, code: string): Promise<SignUpRow | undefined> {
  return await reader.selectFrom("sign_ups").selectAll().where("code", "=", code).executeTakeFirst();
}

/** Codes of the address's waiting accounts, newest first. */
export async function signUpsOf(reader: Reader, email: string): Promise<string[]> {
  const rows = await reader
    .selectFrom("sign_ups")
    .select("code")
    .where("email_lower", "=", email)
    .orderBy("created_at", "desc")
    .orderBy("code", "desc")
    .execute();
  return rows.map(({ code }) => code);
}

/** Codes of the accounts that this browser asked for with the address. */
export async function signUpsOfBrowser(reader: Reader, email: string, browser: string): Promise<string[]> {
  const rows = await reader
    .selectFrom("sign_ups")
    .select("code")
    .where("email_lower", "=", email)
    .where("browser_sha256", "=", browser)
    .execute();
  return rows.map(({ code }) => code);
}

export async function deleteSignUp(tx: Tx, code: string): Promise<void> {
  await tx.deleteFrom("sign_ups").where("code", "=", code).execute();
}

export async function deleteSignUpsOf(tx: Tx, email: string): Promise<void> {
  await tx.deleteFrom("sign_ups").where("email_lower", "=", email).execute();
}

export async function deleteSignUpsBefore(tx: Tx, before: Ts): Promise<void> {
  await tx.deleteFrom("sign_ups").where("expires_at", "<", before).execute();
}
