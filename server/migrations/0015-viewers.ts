import { type Kysely, type QueryExecutorProvider, sql } from "kysely";
import { newId } from "../kernel/ids.ts";
import { strictTable } from "../kernel/schema.ts";

/** What viewers come in with, and the way to the envelopes that changed last. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "viewer_links")
    .addColumn("sha256", "text", (column) => column.primaryKey())
    .addColumn("viewer", "text", (column) => column.notNull().references("viewers.id"))
    .addColumn("created_at", "text", (column) => column.notNull())
    .execute();
  await strictTable(db, "viewer_accesses")
    .addColumn("sha256", "text", (column) => column.primaryKey())
    .addColumn("viewer", "text", (column) => column.notNull().references("viewers.id"))
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("expires_at", "text", (column) => column.notNull())
    .addColumn("ends_at", "text", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("viewer_accesses_of_viewer").on("viewer_accesses").columns(["viewer"]).execute();
  await db.schema.createIndex("envelopes_changed").on("envelopes").columns(["organization", "updated_at"]).execute();
  await catchUp(db);
}

const dayMs = 86_400_000;

/** Reminders and invitations that were asked for before there were any: of envelopes that are still out to be signed. */
export async function catchUp(db: QueryExecutorProvider): Promise<void> {
  const { rows: turns } = await sql<{ envelope: string; recipient: string; since: string; reminders: string }>`
    select r.envelope, r.id as recipient, r.sent_at as since, e.reminders
    from recipients r join envelopes e on e.id = r.envelope
    where e.status = 'sent' and e.reminders is not null
      and r.kind = 'signer' and r.delivery = 'email' and r.status in ('sent', 'viewed')
  `.execute(db);
  for (const { envelope, recipient, since, reminders } of turns) {
    const { firstAfterDays }: { firstAfterDays: number } = JSON.parse(reminders);
    const begun = Date.parse(since);
    const payload = { envelope, recipient, since, number: 1 };
    await insertJob(db, "signing.remind", payload, { runAt: begun + firstAfterDays * dayMs, createdAt: begun });
  }
  const { rows: viewers } = await sql<{ envelope: string; viewer: string; created: string }>`
    select v.envelope, v.id as viewer, v.created_at as created
    from viewers v join envelopes e on e.id = v.envelope
    where e.status = 'sent' and v.invited_at is null and v.revoked_at is null
  `.execute(db);
  for (const { envelope, viewer, created } of viewers) {
    const at = Date.parse(created);
    await insertJob(db, "viewers.invite", { envelope, viewer }, { runAt: at, createdAt: at });
  }
}

async function insertJob(
  db: QueryExecutorProvider,
  name: string,
  payload: object,
  { runAt, createdAt }: { runAt: number; createdAt: number },
): Promise<void> {
  await sql`
    insert into jobs (id, name, queue, payload, run_at, attempts, status, created_at)
    values (${newId("job")}, ${name}, 'default', ${JSON.stringify(payload)}, ${runAt}, 0, 'queued', ${createdAt})
  `.execute(db);
}
