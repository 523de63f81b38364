import type { Reader } from "../../kernel/db.ts";

/** Sizes of organizations; those without any are left out. */

export async function countMembers(reader: Reader) {
  return await reader
    .selectFrom("memberships")
    .select((row) => ["organization", "role", row.fn.countAll<number>().as("count")])
    .groupBy(["organization", "role"])
    .execute();
}

export async function countEnvelopes(reader: Reader) {
  return await reader
    .selectFrom("envelopes")
    .select((row) => ["organization", "test_mode", row.fn.countAll<number>().as("count")])
    .groupBy(["organization", "test_mode"])
    .execute();
}

/** Bytes of every revision of their documents. */
export async function sumDocuments(reader: Reader) {
  return await reader
    .selectFrom("revisions")
    .innerJoin("envelopes", "envelopes.id", "revisions.envelope")
    .select((row) => ["envelopes.organization", row.fn.sum<number>("revisions.size").as("bytes")])
    .groupBy("envelopes.organization")
    .execute();
}
