import type { Kysely } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/**
 * One-time codes, links and accounts that wait for their confirmation. They belong to an address, known or not, so that a
 * request leaves the same rows behind whether or not there is an account.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "sign_in_codes")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("purpose", "text", (column) => column.notNull())
    .addColumn("email_lower", "text", (column) => column.notNull())
    .addColumn("hmac", "text", (column) => column.notNull())
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("expires_at", "text", (column) => column.notNull())
    .addColumn("wrong", "integer", (column) => column.notNull())
    .addColumn("closed_at", "text")
    .execute();
  await db.schema
    .createIndex("sign_in_codes_of_address")
    .on("sign_in_codes")
    .columns(["email_lower", "purpose", "created_at"])
    .execute();
  await db.schema.createIndex("sign_in_codes_expiry").on("sign_in_codes").column("expires_at").execute();

  await strictTable(db, "sign_in_tokens")
    .addColumn("sha256", "text", (column) => column.primaryKey())
    .addColumn("purpose", "text", (column) => column.notNull())
    .addColumn("email_lower", "text", (column) => column.notNull())
    .addColumn("return_to", "text")
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("expires_at", "text", (column) => column.notNull())
    .addColumn("used_at", "text")
    .addColumn("revoked_at", "text")
    .execute();
  await db.schema
    .createIndex("sign_in_tokens_of_address")
    .on("sign_in_tokens")
    .columns(["email_lower", "created_at"])
    .execute();
  await db.schema.createIndex("sign_in_tokens_expiry").on("sign_in_tokens").column("expires_at").execute();

  await strictTable(db, "sign_ups")
    .addColumn("code", "text", (column) => column.primaryKey().references("sign_in_codes.id"))
    .addColumn("email", "text", (column) => column.notNull())
    .addColumn("email_lower", "text", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("password_hash", "text", (column) => column.notNull())
    .addColumn("locale", "text")
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("expires_at", "text", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("sign_ups_of_address").on("sign_ups").columns(["email_lower", "created_at"]).execute();
}
