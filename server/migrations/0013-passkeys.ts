import type { Kysely } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** Passkeys, and accounts elsewhere that sign a person in; with what each ceremony has to remember until it ends. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "passkeys")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("user", "text", (column) => column.notNull().references("users.id"))
    .addColumn("credential_id", "text", (column) => column.notNull().unique())
    .addColumn("public_key", "text", (column) => column.notNull())
    .addColumn("counter", "integer", (column) => column.notNull())
    .addColumn("transports", "text", (column) => column.notNull())
    .addColumn("backed_up", "integer", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("last_used_at", "text")
    .execute();
  await db.schema.createIndex("passkeys_of_user").on("passkeys").column("user").execute();
  await strictTable(db, "passkey_challenges")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("purpose", "text", (column) => column.notNull())
    .addColumn("user", "text", (column) => column.references("users.id"))
    .addColumn("challenge_sha256", "text", (column) => column.notNull())
    .addColumn("expires_at", "text", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("passkey_challenges_by_expiry").on("passkey_challenges").column("expires_at").execute();
  await strictTable(db, "social_identities")
    .addColumn("provider", "text", (column) => column.notNull())
    .addColumn("issuer", "text", (column) => column.notNull())
    .addColumn("subject", "text", (column) => column.notNull())
    .addColumn("user", "text", (column) => column.notNull().references("users.id"))
    .addColumn("email", "text")
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("last_used_at", "text")
    .addPrimaryKeyConstraint("social_identities_key", ["provider", "issuer", "subject"])
    .execute();
  await db.schema.createIndex("social_identities_of_user").on("social_identities").column("user").execute();
  await strictTable(db, "social_states")
    .addColumn("state_sha256", "text", (column) => column.primaryKey())
    .addColumn("browser_sha256", "text", (column) => column.notNull())
    .addColumn("provider", "text", (column) => column.notNull())
    .addColumn("secrets", "text", (column) => column.notNull())
    .addColumn("return_to", "text")
    .addColumn("user", "text", (column) => column.references("users.id"))
    .addColumn("expires_at", "text", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("social_states_by_expiry").on("social_states").column("expires_at").execute();
}
