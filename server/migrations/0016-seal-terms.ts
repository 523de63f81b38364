import type { Kysely } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** When each seal is to be renewed: before the certificate behind its last document timestamp ends. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "seal_terms")
    .addColumn("envelope", "text", (column) => column.primaryKey())
    .addColumn("renew_at", "text", (column) => column.notNull())
    .addColumn("valid_until", "text", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("seal_terms_by_time").on("seal_terms").column("renew_at").execute();
}
