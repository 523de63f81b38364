import type { Kysely } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** Backups of this appliance and drills of restoring them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "backup_runs")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("trigger", "text", (column) => column.notNull())
    .addColumn("folder", "text", (column) => column.notNull())
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("started_at", "text", (column) => column.notNull())
    .addColumn("ended_at", "text")
    .addColumn("cause", "text")
    .addColumn("files", "integer")
    .addColumn("bytes", "integer")
    .addColumn("copied_bytes", "integer")
    .addColumn("verified_at", "text")
    .execute();
  await strictTable(db, "backup_drills")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("backup", "text")
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("started_at", "text", (column) => column.notNull())
    .addColumn("ended_at", "text")
    .addColumn("cause", "text")
    .addColumn("checked", "text", (column) => column.notNull())
    .execute();
}
