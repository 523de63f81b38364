import type { Kysely } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** Why no anchor is signed: later ones than those in this database may be, or are, in the world. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "anchor_holds")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("reason", "text", (column) => column.notNull())
    .addColumn("backup", "text")
    .addColumn("since", "text", (column) => column.notNull())
    .addColumn("ended_at", "text")
    .execute();
}
