import { type RawBuilder, sql } from "kysely";
import type { Reader } from "../../kernel/db.ts";
import type { Loss } from "./contract.ts";

/** What each thing that people make lies in, for the comparison of two databases that may be of different releases. */

/**
 * @property key what tells one from another
 * @property says what makes another of it when it is changed; what a migration may fill differently is left out
 */
type Counted = {
  table: string;
  key: readonly string[];
  says: readonly string[];
  /** Its rows are removed, and would come back. */
  removed?: true;
  where?: RawBuilder<unknown>;
};

/** Envelopes are compared by their trails. */
const counted: Readonly<Record<Exclude<keyof Loss, "envelopes" | "deleted">, Counted>> = {
  signatures: { table: "signing_submissions", key: ["recipient"], says: [] },
  // By what they say: after a way back both may hold as many, and other ones.
  leaves: { table: "leaves", key: ["leaf_hash"], says: [] },
  anchors: { table: "anchors", key: ["anchor_hash"], says: [] },
  events: { table: "audit_entries", key: ["hash"], says: [] },
  organizations: {
    table: "organizations",
    key: ["id"],
    says: ["name", "locale", "time_zone", "notify_email", "retention_days"],
  },
  members: { table: "memberships", key: ["organization", "user"], says: ["role"], removed: true },
  invitations: { table: "invitations", key: ["id"], says: ["role", "accepted_at", "revoked_at"] },
  passkeys: { table: "passkeys", key: ["id"], says: ["name"], removed: true },
  apiKeys: { table: "api_keys", key: ["id"], says: ["name", "scopes", "revoked_at"] },
  keys: { table: "signing_keys", key: ["id"], says: ["certificate", "activated_at", "retired_at"] },
  templates: { table: "templates", key: ["id"], says: ["name", "description", "latest_version"] },
  acts: { table: "admin_audit", key: ["id"], says: [] },
  // The update writes down itself.
  operatorActs: { table: "operator_audit", key: ["hash"], says: [], where: sql`action not like 'update.%'` },
};

/**
 * How many of each were made or changed since, or removed where people can remove them.
 * @param now reads today's database, and may attach the other
 * @param then file of the other
 */
export async function countLosses(now: Reader, then: string): Promise<Omit<Loss, "envelopes" | "deleted">> {
  await sql`attach ${then} as kept`.execute(now);
  try {
    const found: Partial<Record<keyof typeof counted, number>> = {};
    for (const [what, about] of entriesOf(counted)) found[what] = await countOne(now, about);
    const of = (what: keyof typeof counted) => found[what] ?? 0;
    return {
      signatures: of("signatures"),
      leaves: of("leaves"),
      anchors: of("anchors"),
      events: of("events"),
      organizations: of("organizations"),
      members: of("members"),
      invitations: of("invitations"),
      passkeys: of("passkeys"),
      apiKeys: of("apiKeys"),
      keys: of("keys"),
      templates: of("templates"),
      acts: of("acts"),
      operatorActs: of("operatorActs"),
    };
  } finally {
    await sql`detach kept`.execute(now);
  }
}

const entriesOf = <K extends string, V>(record: Readonly<Record<K, V>>): [K, V][] =>
  (Object.keys(record) as K[]).map((key) => [key, record[key]]);

async function countOne(now: Reader, { table, key, says, removed, where }: Counted): Promise<number> {
  const [here, there] = [await columnsOf(now, "main", table), await columnsOf(now, "kept", table)];
  if (!key.every((column) => here.has(column))) return 0;
  const names = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));
  const from = (schema: string) => sql`${sql.table(`${schema}.${table}`)} where ${where ?? sql`true`}`;
  const count = async (query: RawBuilder<{ n: number }>) => (await query.execute(now)).rows[0]?.n ?? 0;
  // The release of before did not know the like.
  if (!key.every((column) => there.has(column))) return await count(sql`select count(*) as n from ${from("main")}`);
  const compared = [...key, ...says.filter((column) => here.has(column) && there.has(column))];
  const only = (one: string, other: string) =>
    sql`select ${names(key)} from (select ${names(compared)} from ${from(one)} except select ${names(compared)} from ${from(other)})`;
  const since = removed ? sql`${only("main", "kept")} union ${only("kept", "main")}` : only("main", "kept");
  return await count(sql`select count(*) as n from (${since})`);
}

async function columnsOf(reader: Reader, schema: string, table: string): Promise<Set<string>> {
  const query = sql<{ name: string }>`select name from pragma_table_info(${table}, ${schema})`;
  return new Set((await query.execute(reader)).rows.map(({ name }) => name));
}
