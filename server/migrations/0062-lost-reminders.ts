import { type QueryExecutorProvider, sql } from "kysely";
import { newId } from "../kernel/ids.ts";

const dayMs = 86_400_000;

/**
 * Reminders that earlier releases lost: they read the clock twice for the beginning of a turn, and where the two readings
 * differed its first reminder took it for another turn, and no further one was queued. Whoever's turn it is and who was not
 * reminded in it gets the first one, at its time or, when that has passed, now.
 */
export async function up(db: QueryExecutorProvider): Promise<void> {
  const { rows: turns } = await sql<{ envelope: string; recipient: string; since: string; reminders: string }>`
    select r.envelope, r.id as recipient, r.sent_at as since, e.reminders
    from recipients r join envelopes e on e.id = r.envelope
    where e.status = 'sent' and e.reminders is not null
      and r.kind = 'signer' and r.delivery = 'email' and r.status in ('sent', 'viewed')
  `.execute(db);
  const { rows: jobs } = await sql<{ id: string; payload: string }>`
    select id, payload from jobs where name = 'signing.remind' and status <> 'dead'
  `.execute(db);
  const queued = Map.groupBy(
    jobs.map(({ id, payload }) => ({ id, ...turnOf(payload) })),
    ({ recipient }) => recipient,
  );
  for (const { envelope, recipient, since, reminders } of turns) {
    const own = queued.get(recipient) ?? [];
    if (own.some((job) => job.since === since) || (await wasReminded(db, { envelope, recipient, since }))) continue;
    for (const { id } of own) await sql`delete from jobs where id = ${id}`.execute(db);
    const { firstAfterDays }: { firstAfterDays: number } = JSON.parse(reminders);
    const begun = Date.parse(since);
    const payload = JSON.stringify({ envelope, recipient, since, number: 1 });
    await sql`
      insert into jobs (id, name, queue, payload, run_at, attempts, status, created_at)
      values (${newId("job")}, 'signing.remind', 'default', ${payload}, ${begun + firstAfterDays * dayMs}, 0, 'queued', ${begun})
    `.execute(db);
  }
}

function turnOf(payload: string): { recipient: string; since: string } {
  return JSON.parse(payload);
}

async function wasReminded(
  db: QueryExecutorProvider,
  { envelope, recipient, since }: { envelope: string; recipient: string; since: string },
): Promise<boolean> {
  const { rows } = await sql<{ data: string }>`
    select data from audit_entries
    where envelope = ${envelope} and type = 'recipient.reminded' and at >= ${since}
  `.execute(db);
  return rows.some(({ data }) => JSON.parse(data).recipient === recipient);
}
