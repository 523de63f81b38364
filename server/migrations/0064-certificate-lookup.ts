import { type Kysely, sql } from "kysely";

/**
 * A certificate of completion is found by its SHA-256: in the audit entry that names it, and in the envelope for those that
 * no entry names (seals of the first versions).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index audit_entries_by_certificate on audit_entries ((data ->> 'certificateSha256'), seq)
    where type in ('envelope.sealed', 'envelope.seal_extended')
  `.execute(db);
  await sql`
    create index envelopes_by_certificate on envelopes (certificate_sha256) where certificate_sha256 is not null
  `.execute(db);
}
