import { type Kysely, sql } from "kysely";

/** Lists of envelopes of one state, one seal or one template, and what a plan counts, without a walk over all envelopes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ["status", "seal"])
    await db.schema
      .createIndex(`envelopes_newest_by_${column}`)
      .on("envelopes")
      .columns(["organization", "test_mode", column, "created_at", "id"])
      .execute();
  await db.schema.dropIndex("envelopes_of_template").execute();
  await db.schema
    .createIndex("envelopes_of_template")
    .on("envelopes")
    .columns(["template", "test_mode", "created_at", "id"])
    .execute();
  await sql`
    create index envelopes_completed on envelopes (organization, test_mode, completed_at) where completed_at is not null
  `.execute(db);
}
