import { type CreateTableBuilder, type Kysely, sql } from "kysely";

/** One step of the schema, forward only; `up` runs in one transaction together with its entry in the list of applied steps. */
export type Migration = { name: string; up(db: Kysely<unknown>): Promise<void> };

/** A table whose columns keep their declared type (SQLite's STRICT). */
export function strictTable<Name extends string>(db: Kysely<unknown>, name: Name): CreateTableBuilder<Name, never> {
  return db.schema.createTable(name).modifyEnd(sql`strict`);
}

/** Makes the database itself refuse UPDATE and DELETE on this table. */
export async function appendOnly(db: Kysely<unknown>, table: string): Promise<void> {
  for (const verb of ["update", "delete"]) {
    await sql`
      create trigger ${sql.ref(`${table}_no_${verb}`)} before ${sql.raw(verb)} on ${sql.table(table)}
      begin select raise(abort, ${sql.lit(`${table} is append-only`)}); end
    `.execute(db);
  }
}
