import type { Kysely } from "kysely";

/** Seals below the level of the settings are looked for at each start. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex("envelopes_by_seal_level").on("envelopes").columns(["seal_level", "id"]).execute();
}
