import type { Kysely } from "kysely";
import { type Clock, toTs } from "./clock.ts";
import type { Migration } from "./schema.ts";

type Options = {
  db: Kysely<{ migrations: { name: string; at: string } }>;
  /** The same connection without types, as the steps see it. */
  schema: Kysely<unknown>;
  exec(text: string): Promise<void>;
  /** The same, begun anew while another process has the file. */
  execPatiently(text: string): Promise<void>;
  clock: Clock;
  migrations: readonly Migration[];
  beforeChange: (() => Promise<{ release(): Promise<void> }>) | undefined;
};

/**
 * Runs the steps that this database has not seen, each in one transaction with its entry in `migrations`.
 * Several processes may come at once: each step is done by one of them.
 * @throws when the database holds a step that this release does not know, and what `beforeChange` throws
 */
export async function migrate({
  db,
  schema,
  exec,
  execPatiently,
  clock,
  migrations,
  beforeChange,
}: Options): Promise<void> {
  await execPatiently("create table if not exists migrations (name text primary key, at text not null) strict");
  const executed = async () =>
    (await db.selectFrom("migrations").select("name").orderBy("name").execute()).map((row) => row.name);
  const done = await executed();
  const unknown = done.filter((name) => !migrations.some((migration) => migration.name === name));
  if (unknown.length > 0) {
    throw new Error(`the database was written by a newer release (it has ${unknown.join(", ")}); install that release`);
  }
  if (done.length === migrations.length) return;

  // Loaded only when there is something to do: an ordinary start does not pay for it.
  const { Umzug } = await import("umzug");
  const umzug = new Umzug({
    migrations: migrations.map(({ name, up }) => ({
      name,
      async up() {
        await exec("BEGIN IMMEDIATE");
        try {
          // Another process may have done it since this one looked.
          if ((await executed()).includes(name)) return await exec("COMMIT");
          await up(schema);
          await db
            .insertInto("migrations")
            .values({ name, at: toTs(clock.now()) })
            .execute();
          await exec("COMMIT");
        } catch (error) {
          await exec("ROLLBACK").catch(() => undefined);
          throw error;
        }
      },
    })),
    // The entry is written inside the step's own transaction, so there is nothing left to do here.
    storage: { executed, logMigration: async () => undefined, unlogMigration: async () => undefined },
    logger: undefined,
  });
  const lock = await beforeChange?.();
  try {
    // No statistics are gathered: SQLite would plan by the counts of this day long after the tables have grown.
    await umzug.up();
  } finally {
    await lock?.release();
  }
}
