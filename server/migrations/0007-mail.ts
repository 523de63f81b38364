import type { Kysely } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** Every mail that was asked for; what it says is encrypted and wiped after delivery. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "mails")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("cause", "text", (column) => column.notNull().unique())
    .addColumn("message_id", "text", (column) => column.notNull())
    .addColumn("organization", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("envelope", "text")
    .addColumn("test_mode", "integer", (column) => column.notNull())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("to_email", "text", (column) => column.notNull())
    .addColumn("to_name", "text")
    .addColumn("locale", "text", (column) => column.notNull())
    .addColumn("subject", "text", (column) => column.notNull())
    .addColumn("content", "text")
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("held_for", "text")
    .addColumn("error", "text")
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("sent_at", "text")
    .execute();
  await db.schema.createIndex("mails_newest").on("mails").columns(["organization", "created_at", "id"]).execute();
  await db.schema.createIndex("mails_of_envelope").on("mails").columns(["envelope"]).execute();
}
