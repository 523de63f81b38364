import { type Kysely, sql } from "kysely";

/**
 * Takes away jobs of a kind that no release from here on does: each would end as work that is stuck, its payload with it. What
 * they were for was to take time only.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`delete from jobs where name = 'sign-in.mail-nobody'`.execute(db);
}
