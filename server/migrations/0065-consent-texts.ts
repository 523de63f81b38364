import { createHash } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { appendOnly, strictTable } from "../kernel/schema.ts";

/**
 * The statements that people accepted, by the hash that was recorded of each. Those of senders are taken from the versions of
 * their templates; those that Signet comes with are in the program.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "consent_texts")
    .addColumn("sha256", "text", (column) => column.primaryKey())
    .addColumn("text", "text", (column) => column.notNull())
    .execute();
  const accepted = await sql<{ sha256: string }>`
    select distinct consent ->> 'textSha256' as sha256 from signing_submissions where json_valid(consent)
  `.execute(db);
  const wanted = new Set(accepted.rows.map(({ sha256 }) => sha256));
  const versions = await sql<{ settings: string }>`
    select distinct settings from template_versions where json_valid(settings)
  `.execute(db);
  for (const { settings } of versions.rows) {
    // Read here: SQLite reads half a surrogate pair otherwise than what was hashed.
    const { consentText: text } = JSON.parse(settings);
    if (typeof text !== "string") continue;
    const sha256 = createHash("sha256").update(text, "utf8").digest("hex");
    if (wanted.has(sha256))
      await sql`insert or ignore into consent_texts (sha256, text) values (${sha256}, ${text})`.execute(db);
  }
  await appendOnly(db, "consent_texts");
}
