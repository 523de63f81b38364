import type { Kysely } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** Invitations into organizations, and the one-time links that create the first owner. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "invitations")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("organization", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("email", "text", (column) => column.notNull())
    .addColumn("email_lower", "text", (column) => column.notNull())
    .addColumn("role", "text", (column) => column.notNull())
    .addColumn("token_sha256", "text", (column) => column.notNull().unique())
    .addColumn("invited_by", "text", (column) => column.notNull())
    .addColumn("locale", "text", (column) => column.notNull())
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("expires_at", "text", (column) => column.notNull())
    .addColumn("last_sent_at", "text", (column) => column.notNull())
    .addColumn("accepted_at", "text")
    .addColumn("accepted_by", "text", (column) => column.references("users.id"))
    .addColumn("revoked_at", "text")
    .execute();
  await db.schema
    .createIndex("invitations_of_organization")
    .on("invitations")
    .columns(["organization", "created_at", "id"])
    .execute();
  await db.schema.createIndex("invitations_of_address").on("invitations").column("email_lower").execute();
  await strictTable(db, "first_owner_links")
    .addColumn("token_sha256", "text", (column) => column.primaryKey())
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("expires_at", "text", (column) => column.notNull())
    .addColumn("used_at", "text")
    .execute();
}
