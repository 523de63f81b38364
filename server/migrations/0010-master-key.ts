import { type Kysely, sql } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** One sealed text that only the right master key opens. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "master_key_proof")
    .addColumn("id", "integer", (column) => column.primaryKey().check(sql`id = 1`))
    .addColumn("sealed", "text", (column) => column.notNull())
    .execute();
}
