import type { Kysely } from "kysely";
import { appendOnly, strictTable } from "../kernel/schema.ts";

/** What administrators of the machine did: one hash chain. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "operator_audit")
    .addColumn("seq", "integer", (column) => column.primaryKey())
    .addColumn("at", "text", (column) => column.notNull())
    .addColumn("actor", "text", (column) => column.notNull())
    .addColumn("action", "text", (column) => column.notNull())
    .addColumn("target", "text")
    .addColumn("data", "text", (column) => column.notNull())
    .addColumn("prev_hash", "text", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull())
    .execute();
  await appendOnly(db, "operator_audit");
}
