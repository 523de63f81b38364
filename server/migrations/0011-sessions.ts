import { type Kysely, sql } from "kysely";
import { appendOnly, strictTable } from "../kernel/schema.ts";

/** Dashboard sessions, what people choose for themselves, and the record of administrative actions. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("users").addColumn("locale", "text").execute();
  await db.schema.alterTable("users").addColumn("starting_organization", "text").execute();
  await strictTable(db, "sessions")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("secret_sha256", "text", (column) => column.notNull().unique())
    .addColumn("user", "text", (column) => column.notNull().references("users.id"))
    .addColumn("organization", "text", (column) => column.references("organizations.id"))
    .addColumn("method", "text", (column) => column.notNull())
    .addColumn("ip", "text", (column) => column.notNull())
    .addColumn("user_agent", "text")
    .addColumn("signed_in_at", "text", (column) => column.notNull())
    .addColumn("last_seen_at", "text", (column) => column.notNull())
    .addColumn("expires_at", "text", (column) => column.notNull())
    .addColumn("ended_at", "text")
    .execute();
  await db.schema.createIndex("sessions_of_user").on("sessions").columns(["user", "ended_at"]).execute();
  await strictTable(db, "admin_audit")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("organization", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("at", "text", (column) => column.notNull())
    .addColumn("actor", "text", (column) => column.notNull())
    .addColumn("action", "text", (column) => column.notNull())
    .addColumn("target", "text")
    .addColumn("ip", "text")
    .addColumn("data", "text", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("admin_audit_newest").on("admin_audit").columns(["organization", "at", "id"]).execute();
  await appendOnly(db, "admin_audit");
  await mailsOfPeople(db);
}

/** Mails about a person's account belong to no organization. SQLite changes a column only by making the table anew. */
async function mailsOfPeople(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "mails_new")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("cause", "text", (column) => column.notNull().unique())
    .addColumn("message_id", "text", (column) => column.notNull())
    .addColumn("organization", "text", (column) => column.references("organizations.id"))
    .addColumn("envelope", "text")
    .addColumn("test_mode", "integer", (column) => column.notNull())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("to_email", "text", (column) => column.notNull())
    .addColumn("to_name", "text")
    .addColumn("locale", "text", (column) => column.notNull())
    .addColumn("subject", "text", (column) => column.notNull())
    .addColumn("content", "text")
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("held_for", "text")
    .addColumn("error", "text")
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("sent_at", "text")
    .execute();
  await sql`insert into mails_new select * from mails`.execute(db);
  await db.schema.dropTable("mails").execute();
  await db.schema.alterTable("mails_new").renameTo("mails").execute();
  await db.schema.createIndex("mails_newest").on("mails").columns(["organization", "created_at", "id"]).execute();
  await db.schema.createIndex("mails_of_envelope").on("mails").columns(["envelope"]).execute();
}
