import type { Kysely } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** The signature that a member keeps for the documents they sign themselves. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "saved_signatures")
    .addColumn("user", "text", (column) => column.primaryKey().references("users.id"))
    .addColumn("content", "text", (column) => column.notNull())
    .addColumn("saved_at", "text", (column) => column.notNull())
    .execute();
}
