import type { Reader } from "../../kernel/db.ts";
import type { JobRow } from "../../kernel/jobs.ts";

/** From so many attempts on work is worth a word. */
const manyAttempts = 3;

/** Jobs that failed for good, and those that failed three times or more; longest waiting first. */
export async function listStuck(reader: Reader, limit: number): Promise<JobRow[]> {
  return await stuck(reader).selectAll().orderBy("created_at").orderBy("id").limit(limit).execute();
}

export async function countStuck(reader: Reader): Promise<number> {
  const { count } = await stuck(reader)
    .select((row) => row.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

const stuck = (reader: Reader) =>
  reader
    .selectFrom("jobs")
    .where((is) =>
      is.or([is("status", "=", "dead"), is.and([is("status", "=", "queued"), is("attempts", ">=", manyAttempts)])]),
    );

export type KindCount = { name: string; queued: number; running: number; dead: number };

/** How much of each kind of work there is, most first. */
export async function countByKind(reader: Reader): Promise<KindCount[]> {
  const rows = await reader
    .selectFrom("jobs")
    .select((job) => ["name", "status", job.fn.countAll<number>().as("count")])
    .groupBy(["name", "status"])
    .execute();
  const kinds = new Map<string, KindCount>();
  for (const { name, status, count } of rows) {
    const kind = kinds.get(name) ?? { name, queued: 0, running: 0, dead: 0 };
    kind[status] = count;
    kinds.set(name, kind);
  }
  const total = ({ queued, running, dead }: KindCount) => queued + running + dead;
  return [...kinds.values()].sort((a, b) => total(b) - total(a) || a.name.localeCompare(b.name));
}

/** To whom envelopes belong. */
export async function findEnvelopes(reader: Reader, ids: readonly string[]) {
  if (ids.length === 0) return [];
  return await reader.selectFrom("envelopes").select(["id", "title", "organization"]).where("id", "in", ids).execute();
}

export async function findMails(reader: Reader, ids: readonly string[]) {
  if (ids.length === 0) return [];
  return await reader
    .selectFrom("mails")
    .select(["id", "to_email", "organization", "envelope"])
    .where("id", "in", ids)
    .execute();
}
