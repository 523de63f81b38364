import { type Kysely, sql } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** Background jobs. Times are milliseconds since the epoch, because they are compared and added to. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "jobs")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("queue", "text", (column) => column.notNull())
    .addColumn("payload", "text", (column) => column.notNull())
    .addColumn("run_at", "integer", (column) => column.notNull())
    .addColumn("attempts", "integer", (column) => column.notNull())
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("lease_until", "integer")
    .addColumn("lease_by", "text")
    .addColumn("dedupe_key", "text")
    .addColumn("last_error", "text")
    .addColumn("created_at", "integer", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("jobs_due").on("jobs").columns(["status", "queue", "run_at"]).execute();
  // A dead job keeps its key for reading, but no longer stands in the way of a new one.
  await db.schema
    .createIndex("jobs_dedupe")
    .unique()
    .on("jobs")
    .column("dedupe_key")
    .where("dedupe_key", "is not", null)
    .where(sql.ref("status"), "!=", "dead")
    .execute();
}
