import type { Kysely } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** Organizations, the people in them, and their API keys. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "organizations")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("locale", "text", (column) => column.notNull())
    .addColumn("time_zone", "text", (column) => column.notNull())
    .addColumn("notify_email", "text")
    .addColumn("created_at", "text", (column) => column.notNull())
    .execute();
  await strictTable(db, "users")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("email", "text", (column) => column.notNull())
    .addColumn("email_lower", "text", (column) => column.notNull().unique())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("password_hash", "text")
    .addColumn("created_at", "text", (column) => column.notNull())
    .execute();
  await strictTable(db, "memberships")
    .addColumn("organization", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("user", "text", (column) => column.notNull().references("users.id"))
    .addColumn("role", "text", (column) => column.notNull())
    .addColumn("created_at", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("memberships_pk", ["organization", "user"])
    .execute();
  await strictTable(db, "api_keys")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("organization", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("test_mode", "integer", (column) => column.notNull())
    .addColumn("secret_sha256", "text", (column) => column.notNull().unique())
    .addColumn("hint", "text", (column) => column.notNull())
    .addColumn("scopes", "text", (column) => column.notNull())
    .addColumn("expires_at", "text")
    .addColumn("revoked_at", "text")
    .addColumn("last_used_at", "text")
    .addColumn("last_used_ip", "text")
    .addColumn("created_by", "text", (column) => column.notNull())
    .addColumn("created_at", "text", (column) => column.notNull())
    .execute();
  await strictTable(db, "idempotency_replies")
    .addColumn("organization", "text", (column) => column.notNull())
    .addColumn("caller", "text", (column) => column.notNull())
    .addColumn("key", "text", (column) => column.notNull())
    .addColumn("fingerprint", "text", (column) => column.notNull())
    .addColumn("reply", "text", (column) => column.notNull())
    .addColumn("expires_at", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("idempotency_replies_pk", ["organization", "caller", "key"])
    .execute();
  await db.schema.createIndex("idempotency_replies_expiry").on("idempotency_replies").column("expires_at").execute();
}
