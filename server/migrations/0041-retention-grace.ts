import { type Kysely, sql } from "kysely";

/** A shorter term acts a day later; indexes for what runs every day or hour over everything that is stored. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Until `retention_from` the term is `retention_before`.
  await db.schema.alterTable("organizations").addColumn("retention_before", "integer").execute();
  await db.schema.alterTable("organizations").addColumn("retention_from", "text").execute();
  // What ended and may be deleted, by its end.
  await sql`
    create index envelopes_ended
    on envelopes (organization, coalesce(completed_at, declined_at, voided_at, expired_at), id)
    where documents_deleted_at is null and legal_hold is null
  `.execute(db);
  await sql`create index envelopes_held on envelopes (organization) where legal_hold is not null`.execute(db);
  await sql`create index mails_kept on mails (status, created_at) where content is not null`.execute(db);
  await sql`create index mails_queued on mails (id) where status = 'queued'`.execute(db);
  await db.schema.createIndex("jobs_by_payload").on("jobs").columns(["name", "payload"]).execute();
  await db.schema.createIndex("download_tokens_expiry").on("download_tokens").column("expires_at").execute();
  // Their files are gone: nothing of them is renewed.
  await sql`
    delete from seal_terms where envelope in (select id from envelopes where documents_deleted_at is not null)
  `.execute(db);
}
