import type { Kysely } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/**
 * Wrong passwords and codes by address, known or not, so that what locks an address outlives a restart; and the browser in
 * which an account was asked for, so that a stranger's request for the same address gets nobody's password confirmed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "sign_in_tries")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("purpose", "text", (column) => column.notNull())
    .addColumn("email_lower", "text", (column) => column.notNull())
    .addColumn("at", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("sign_in_tries_of_address")
    .on("sign_in_tries")
    .columns(["email_lower", "purpose", "at"])
    .execute();
  await db.schema.createIndex("sign_in_tries_by_time").on("sign_in_tries").column("at").execute();
  await db.schema.alterTable("sign_ups").addColumn("browser_sha256", "text").execute();
}
