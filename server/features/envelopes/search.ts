import { type Expression, type SqlBool, sql } from "kysely";
import type { Reader } from "../../kernel/db.ts";
import { hasTrigrams, trigramsOf } from "../../kernel/trigrams.ts";

/** What the list's `q` finds. */

/** What `q` is compared with: one form for upper and lower case and for composed and decomposed letters. */
export function searchText(parts: readonly (string | null | undefined)[]): string {
  return parts
    .filter((part) => part !== null && part !== undefined)
    .join("\n")
    .normalize("NFKC")
    .toLowerCase();
}

/** Whether an envelope is what `q` means: by its id, or by a part of its text. */
export function isMeant(q: string): Expression<SqlBool> {
  const pattern = `%${searchText([q]).replaceAll(/[\\%_]/g, "\\$&")}%`;
  const text = sql<SqlBool>`${sql.ref("envelopes.search")} like ${pattern} escape ${sql.lit("\\")}`;
  return sql<SqlBool>`(${sql.ref("envelopes.id")} = ${q} or ${text})`;
}

/** When more may be meant, a page of them is found sooner from the newest envelope on. */
const mostLookedUp = 1000;

/**
 * Ids of the envelopes that `q` may mean, of all organizations: all that `isMeant` says yes to, and maybe others.
 * @returns undefined when they are many, or `q` is too short for the index
 */
export async function lookUp(reader: Reader, q: string) {
  const trigrams = trigramsOf(searchText([q]));
  if (trigrams === undefined) return undefined;
  const found = reader.selectFrom("envelope_search").where(hasTrigrams("envelope_search", trigrams));
  const some = await reader
    .selectFrom(
      found
        .select("envelope_search.rowid")
        .limit(mostLookedUp + 1)
        .as("some"),
    )
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirst();
  if (some !== undefined && some.count > mostLookedUp) return undefined;
  return reader
    .selectNoFrom(sql<string>`${q}`.as("id"))
    .unionAll(
      found
        .innerJoin("envelope_numbers", "envelope_numbers.number", "envelope_search.rowid")
        .select("envelope_numbers.id"),
    );
}
