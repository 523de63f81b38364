import { type Kysely, sql } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** Keys in a token beside those in software, keys that wait to be put into use, and PINs that a token refused. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const keys = () => db.schema.alterTable("signing_keys");
  await keys()
    .addColumn("storage", "text", (column) => column.notNull().defaultTo("software"))
    .execute();
  await keys().addColumn("token_key", "text").execute();
  await keys()
    .addColumn("chain", "text", (column) => column.notNull().defaultTo("[]"))
    .execute();
  await keys().addColumn("activated_at", "text").execute();
  await sql`update signing_keys set activated_at = valid_from`.execute(db);
  await db.schema.dropIndex("signing_keys_in_use").execute();
  // One key in use for each purpose; any number may wait.
  await sql`
    create unique index signing_keys_in_use on signing_keys (purpose)
    where activated_at is not null and retired_at is null
  `.execute(db);

  await strictTable(db, "refused_pins")
    .addColumn("token", "text", (column) => column.primaryKey())
    .addColumn("fingerprint", "text", (column) => column.notNull())
    .addColumn("refused_at", "text", (column) => column.notNull())
    .execute();
}
