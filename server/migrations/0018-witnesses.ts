import type { Kysely } from "kysely";
import { appendOnly, strictTable } from "../kernel/schema.ts";

/** Anchors as signed notes, and what witnesses answered to them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "anchor_notes")
    .addColumn("sequence", "integer", (column) => column.primaryKey())
    .addColumn("note", "text", (column) => column.notNull())
    .execute();
  await appendOnly(db, "anchor_notes");

  await strictTable(db, "witness_receipts")
    .addColumn("sequence", "integer", (column) => column.notNull())
    .addColumn("witness", "text", (column) => column.notNull())
    .addColumn("at", "text", (column) => column.notNull())
    .addColumn("receipt", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("witness_receipts_key", ["sequence", "witness"])
    .execute();
  await appendOnly(db, "witness_receipts");
}
