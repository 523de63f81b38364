import type { Kysely } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** Links, sessions, one-time codes, attachments and submissions. Of tokens and codes only hashes are kept. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "signing_sessions")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("organization", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("test_mode", "integer", (column) => column.notNull())
    .addColumn("envelope", "text", (column) => column.notNull().references("envelopes.id"))
    .addColumn("recipient", "text", (column) => column.notNull().references("recipients.id"))
    .addColumn("source", "text", (column) => column.notNull())
    .addColumn("verification", "text", (column) => column.notNull())
    .addColumn("embed_origin", "text")
    .addColumn("redirect_url", "text")
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("opened_at", "text")
    .addColumn("access_sha256", "text", (column) => column.unique())
    .addColumn("access_expires_at", "text")
    .addColumn("access_ends_at", "text")
    .addColumn("verified_at", "text")
    .addColumn("ended_at", "text")
    .execute();
  await db.schema.createIndex("signing_sessions_of_recipient").on("signing_sessions").column("recipient").execute();

  await strictTable(db, "signing_tokens")
    .addColumn("sha256", "text", (column) => column.primaryKey())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("envelope", "text", (column) => column.notNull().references("envelopes.id"))
    .addColumn("recipient", "text", (column) => column.notNull().references("recipients.id"))
    .addColumn("session", "text", (column) => column.references("signing_sessions.id"))
    .addColumn("reason", "text", (column) => column.notNull())
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("expires_at", "text", (column) => column.notNull())
    .addColumn("used_at", "text")
    .addColumn("revoked_at", "text")
    .addColumn("bearer_session", "text", (column) => column.references("signing_sessions.id"))
    .execute();
  await db.schema.createIndex("signing_tokens_of_recipient").on("signing_tokens").column("recipient").execute();

  await strictTable(db, "signing_codes")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("session", "text", (column) => column.notNull().references("signing_sessions.id"))
    .addColumn("recipient", "text", (column) => column.notNull().references("recipients.id"))
    .addColumn("channel", "text", (column) => column.notNull())
    .addColumn("hmac", "text", (column) => column.notNull())
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("expires_at", "text", (column) => column.notNull())
    .addColumn("attempts", "integer", (column) => column.notNull())
    .addColumn("closed_at", "text")
    .execute();
  await db.schema
    .createIndex("signing_codes_of_recipient")
    .on("signing_codes")
    .columns(["recipient", "created_at"])
    .execute();

  await strictTable(db, "signing_wrong_codes")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("recipient", "text", (column) => column.notNull().references("recipients.id"))
    .addColumn("at", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("signing_wrong_codes_of_recipient")
    .on("signing_wrong_codes")
    .columns(["recipient", "at"])
    .execute();

  await strictTable(db, "signing_locks")
    .addColumn("recipient", "text", (column) => column.primaryKey().references("recipients.id"))
    .addColumn("at", "text", (column) => column.notNull())
    .execute();

  await strictTable(db, "signing_served")
    .addColumn("recipient", "text", (column) => column.notNull().references("recipients.id"))
    .addColumn("sha256", "text", (column) => column.notNull())
    .addColumn("at", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("signing_served_key", ["recipient", "sha256"])
    .execute();

  await strictTable(db, "signing_attachments")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("envelope", "text", (column) => column.notNull().references("envelopes.id"))
    .addColumn("recipient", "text", (column) => column.notNull().references("recipients.id"))
    .addColumn("field", "text", (column) => column.notNull())
    .addColumn("filename", "text", (column) => column.notNull())
    .addColumn("content_type", "text", (column) => column.notNull())
    .addColumn("size", "integer", (column) => column.notNull())
    .addColumn("sha256", "text", (column) => column.notNull())
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("submitted_at", "text")
    .execute();
  await db.schema
    .createIndex("signing_attachments_of_envelope")
    .on("signing_attachments")
    .columns(["envelope", "recipient"])
    .execute();

  await strictTable(db, "signing_submissions")
    .addColumn("recipient", "text", (column) => column.primaryKey().references("recipients.id"))
    .addColumn("envelope", "text", (column) => column.notNull().references("envelopes.id"))
    .addColumn("number", "integer", (column) => column.notNull())
    .addColumn("session", "text", (column) => column.references("signing_sessions.id"))
    .addColumn("at", "text", (column) => column.notNull())
    .addColumn("ip", "text")
    .addColumn("user_agent", "text")
    .addColumn("locale", "text", (column) => column.notNull())
    .addColumn("time_zone", "text", (column) => column.notNull())
    .addColumn("document_sha256", "text", (column) => column.notNull())
    .addColumn("consent", "text")
    .addColumn("values", "text", (column) => column.notNull())
    .addColumn("signature", "text")
    .addColumn("initials", "text")
    .execute();
  await db.schema
    .createIndex("signing_submissions_of_envelope")
    .unique()
    .on("signing_submissions")
    .columns(["envelope", "number"])
    .execute();

  await strictTable(db, "signing_reassignments")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("envelope", "text", (column) => column.notNull().references("envelopes.id"))
    .addColumn("recipient", "text", (column) => column.notNull().references("recipients.id"))
    .addColumn("from_name", "text", (column) => column.notNull())
    .addColumn("from_email", "text", (column) => column.notNull())
    .addColumn("to_name", "text", (column) => column.notNull())
    .addColumn("to_email", "text", (column) => column.notNull())
    .addColumn("reason", "text", (column) => column.notNull())
    .addColumn("at", "text", (column) => column.notNull())
    .execute();
}
