import type { Kysely } from "kysely";

/** Where the fields of an envelope's document lie, kept with the revision that they were rendered in. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("revisions").addColumn("field_boxes", "text").execute();
}
