import type { Kysely } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** Codes that staff print and hand over: of a recipient, since there is no session yet when they are made. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "signing_handed_codes")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("recipient", "text", (column) => column.notNull().references("recipients.id"))
    .addColumn("hmac", "text", (column) => column.notNull())
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("expires_at", "text", (column) => column.notNull())
    .addColumn("attempts", "integer", (column) => column.notNull())
    .addColumn("closed_at", "text")
    .execute();
  await db.schema
    .createIndex("signing_handed_codes_of_recipient")
    .on("signing_handed_codes")
    .columns(["recipient", "created_at"])
    .execute();
}
