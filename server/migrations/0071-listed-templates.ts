import { type Kysely, sql } from "kysely";

/** Templates made for one envelope are found by their id alone, and leave when no envelope came of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("templates")
    .addColumn("listed", "integer", (column) => column.notNull().defaultTo(1))
    .execute();
  // There may be as many unlisted ones as envelopes: lists must not read past them.
  await db.schema
    .createIndex("templates_listed")
    .on("templates")
    .columns(["organization", "listed", "created_at", "id"])
    .execute();
  await sql`create index templates_unlisted on templates (updated_at) where listed = 0 and in_use = 0`.execute(db);
}
