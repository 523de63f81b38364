import type { Kysely } from "kysely";

/** What opened the backup of a drill: the appliance's own key tells nothing about the one that was put away. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("backup_drills").addColumn("opened_by", "text").execute();
}
