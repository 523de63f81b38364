import { sql } from "kysely";
import type { Database, Reader, Tx } from "../../kernel/db.ts";
import type { Log } from "../../kernel/log.ts";

/**
 * The index of texts holds nothing that the envelopes do not: where it is damaged or out of step with them, it is made anew
 * instead of holding up acts on envelopes, whose writing it goes along with.
 */

declare module "../../kernel/db.ts" {
  interface Tables {
    /** SQLite's own: one row for each text in the index. */
    envelope_search_docsize: { id: number };
  }
}

/** Whether a line of SQLite's check is about the index; damaged pages, also of its tables, are named by their numbers. */
export const isOfIndex = (line: string): boolean => /\bfts5\b/i.test(line) && line.includes("envelope_search");

/** Whether an envelope is missing in the index, or one is in it that is not there. */
export async function isOutOfStep(reader: Reader): Promise<boolean> {
  const unnumbered = await reader
    .selectFrom("envelopes")
    .leftJoin("envelope_numbers", "envelope_numbers.id", "envelopes.id")
    .where("envelope_numbers.id", "is", null)
    .select("envelopes.id")
    .limit(1)
    .executeTakeFirst();
  const unindexed = await reader
    .selectFrom("envelope_numbers")
    .leftJoin("envelope_search_docsize", "envelope_search_docsize.id", "envelope_numbers.number")
    .where("envelope_search_docsize.id", "is", null)
    .select("envelope_numbers.id")
    .limit(1)
    .executeTakeFirst();
  const stray = await reader
    .selectFrom("envelope_search_docsize")
    .leftJoin("envelope_numbers", "envelope_numbers.number", "envelope_search_docsize.id")
    .where("envelope_numbers.number", "is", null)
    .select("envelope_search_docsize.id")
    .limit(1)
    .executeTakeFirst();
  return unnumbered !== undefined || unindexed !== undefined || stray !== undefined;
}

/**
 * Makes the index anew when it is damaged or out of step, which holds writers up for as long as that takes.
 * @param force also when nothing is seen of it: its sums may not go with the texts
 * @returns what else is damaged, in which case nothing is changed; null when nothing is
 */
export async function mendSearchIndex(
  { db, log }: { db: Database; log: Log },
  force: boolean,
): Promise<{ damage: string | null; mended: boolean }> {
  const lines = await db.check("quick");
  const damage = lines.find((line) => !isOfIndex(line));
  if (damage !== undefined) return { damage, mended: false };
  if (!force && lines.length === 0 && !(await isOutOfStep(db.read))) return { damage: null, mended: false };
  log.warn({ found: lines.slice(0, 3) }, "the index of the search did not go with the envelopes: it is made anew");
  await db.tx(rebuild);
  return { damage: null, mended: true };
}

/** Looks whether the index goes with the envelopes, before anybody is served. What cannot be read is for others to say. */
export async function keepSearchInStep(about: { db: Database; log: Log }): Promise<void> {
  try {
    if (await isOutOfStep(about.db.read)) await mendSearchIndex(about, false);
  } catch (err) {
    about.log.warn({ err }, "the index of the search could not be looked at");
  }
}

async function rebuild(tx: Tx): Promise<void> {
  // Empties it without a look at what it holds, and keeps its settings.
  await sql`insert into envelope_search (envelope_search) values ('delete-all')`.execute(tx);
  await sql`delete from envelope_numbers where id not in (select id from envelopes)`.execute(tx);
  await sql`
    insert into envelope_numbers (id)
    select id from envelopes where id not in (select id from envelope_numbers) order by created_at, id
  `.execute(tx);
  await sql`
    insert into envelope_search (rowid, search)
    select number, search from envelope_numbers join envelopes on envelopes.id = envelope_numbers.id
  `.execute(tx);
}
