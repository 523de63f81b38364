import { type Kysely, sql } from "kysely";

/**
 * Forgets what releases of before counted while they brought the schema up to date. SQLite trusts such counts for ever: where a
 * table had a dozen rows on that day, it walked over all of them when they were a hundred thousand. Without counts it
 * goes by the indexes, which is what they are there for.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`select name from sqlite_schema where name = 'sqlite_stat1'`.execute(db);
  if (rows.length === 0) return;
  await sql`drop table sqlite_stat1`.execute(db);
}
