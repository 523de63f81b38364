import type { Kysely } from "kysely";

/** Which jobs share slots: those of one receiver keep those of another from nothing. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("jobs").addColumn("lane", "text").execute();
  await db.schema
    .createIndex("jobs_by_lane")
    .on("jobs")
    .columns(["status", "queue", "lane", "run_at"])
    .where("lane", "is not", null)
    .execute();
}
