import { type RawBuilder, sql } from "kysely";

/** Finding part of a text by an index of all its runs of three letters. The index and its questions are SQLite's own (FTS5). */

/** More make the answer no smaller: what is found is compared with the whole text anyway. */
const mostTrigrams = 64;

/**
 * Asks for the rows that have every run of three letters of this text: all that contain the text, and maybe others.
 * @returns undefined when the text is too short to have one
 */
export function trigramsOf(text: string): string | undefined {
  // SQLite compares texts up to their first NUL.
  const letters = [...(text.split("\0", 1)[0] ?? "")];
  const runs = new Set<string>();
  for (let end = 3; end <= letters.length && runs.size < mostTrigrams; end += 1) {
    runs.add(letters.slice(end - 3, end).join(""));
  }
  if (runs.size === 0) return undefined;
  return [...runs].map((run) => `"${run.replaceAll('"', '""')}"`).join(" ");
}

/** @param index name of the index's table  @param trigrams of `trigramsOf` */
export function hasTrigrams(index: string, trigrams: string): RawBuilder<boolean> {
  return sql<boolean>`${sql.table(index)} match ${trigrams}`;
}

/** A column whose index is not to be used: SQLite looks for none where a sign stands before it. */
export function unindexed<T>(column: string): RawBuilder<T> {
  return sql<T>`+${sql.ref(column)}`;
}
