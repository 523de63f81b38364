import { type Kysely, sql } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** How long an organization keeps documents, what is held against that, and what was deleted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("organizations").addColumn("retention_days", "integer").execute();
  await db.schema.alterTable("envelopes").addColumn("legal_hold", "text").execute();
  await db.schema.alterTable("envelopes").addColumn("documents_deleted_at", "text").execute();
  await strictTable(db, "retention_runs")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("at", "text", (column) => column.notNull())
    .execute();
  // What was signed is still written once. Only its values may be taken away, together with the documents.
  await sql`drop trigger signing_submissions_no_update`.execute(db);
  await sql`
    create trigger signing_submissions_no_update before update on signing_submissions
    when not (
      new."values" = '{}'
      and new.recipient is old.recipient and new.envelope is old.envelope and new.number is old.number
      and new.session is old.session and new.at is old.at and new.ip is old.ip and new.user_agent is old.user_agent
      and new.locale is old.locale and new.time_zone is old.time_zone
      and new.document_sha256 is old.document_sha256 and new.consent is old.consent
      and new.signature is old.signature and new.initials is old.initials
      and exists (select 1 from envelopes where id = old.envelope and documents_deleted_at is not null)
    )
    begin select raise(abort, 'signing_submissions is append-only'); end
  `.execute(db);
}
