import type { Kysely } from "kysely";
import { appendOnly, strictTable } from "../kernel/schema.ts";

/** The last moment that was believed, and what was done to the clock. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "clock_state")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("at", "integer", (column) => column.notNull())
    .addColumn("uptime", "integer", (column) => column.notNull())
    .addColumn("boot", "text")
    .addColumn("doubted", "integer", (column) => column.notNull())
    .addColumn("accepted", "integer", (column) => column.notNull())
    .execute();

  await strictTable(db, "clock_events")
    .addColumn("sequence", "integer", (column) => column.primaryKey())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("machine_at", "text", (column) => column.notNull())
    .addColumn("expected_at", "text", (column) => column.notNull())
    .execute();
  await appendOnly(db, "clock_events");
}
