import type { Kysely } from "kysely";
import { appendOnly, strictTable } from "../kernel/schema.ts";

/** RFC 3161 tokens over anchors; they come after the anchor, whose own row never changes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "anchor_tokens")
    .addColumn("sequence", "integer", (column) => column.primaryKey())
    .addColumn("token", "text", (column) => column.notNull())
    .addColumn("at", "text", (column) => column.notNull())
    .addColumn("authority", "text")
    .execute();
  await appendOnly(db, "anchor_tokens");
}
