import type { Kysely } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** The account at an authority that issues certificates by itself, one at most. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "acme")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("settings", "text", (column) => column.notNull())
    .addColumn("secrets", "text", (column) => column.notNull())
    .addColumn("progress", "text", (column) => column.notNull())
    .execute();
}
