import type { Kysely } from "kysely";
import { appendOnly, strictTable } from "../kernel/schema.ts";

/** What was done to the keys of the installation: one hash chain, signed record by record. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "key_records")
    .addColumn("seq", "integer", (column) => column.primaryKey())
    .addColumn("body", "text", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull())
    .addColumn("kid", "text")
    .addColumn("signature", "text")
    .execute();
  await appendOnly(db, "key_records");
}
