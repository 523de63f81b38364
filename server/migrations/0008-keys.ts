import { type Kysely, sql } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** The keys of the installation, and the outside authorities whose time stamps it accepted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "signing_keys")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("purpose", "text", (column) => column.notNull())
    .addColumn("algorithm", "text", (column) => column.notNull())
    .addColumn("public_key", "text", (column) => column.notNull())
    .addColumn("certificate", "text")
    .addColumn("private_key", "text", (column) => column.notNull())
    .addColumn("valid_from", "text", (column) => column.notNull())
    .addColumn("valid_until", "text")
    .addColumn("retired_at", "text")
    .execute();
  // One key in use for each purpose.
  await db.schema
    .createIndex("signing_keys_in_use")
    .unique()
    .on("signing_keys")
    .column("purpose")
    .where(sql.ref("retired_at"), "is", null)
    .execute();

  await strictTable(db, "timestamp_anchors")
    .addColumn("sha256", "text", (column) => column.primaryKey())
    .addColumn("certificate", "text", (column) => column.notNull())
    .addColumn("first_used_at", "text", (column) => column.notNull())
    .execute();
}
