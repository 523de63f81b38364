import type { Kysely } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** When whom an invitation was mailed to, and by whom: what the limits count. A day later nobody asks any more. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "invitation_mails")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("organization", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("email_lower", "text", (column) => column.notNull())
    .addColumn("inviter", "text", (column) => column.notNull())
    .addColumn("at", "text", (column) => column.notNull())
    .execute();
  for (const column of ["email_lower", "inviter"])
    await db.schema
      .createIndex(`invitation_mails_by_${column}`)
      .on("invitation_mails")
      .columns([column, "at"])
      .execute();
  await db.schema.createIndex("invitation_mails_by_time").on("invitation_mails").column("at").execute();
}
