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
    select distinct consent ->> 'textSha256' as sha256 from signing_submissions where consent is not null
  `.execute(db);
  const wanted = new Set(accepted.rows.map(({ sha256 }) => sha256));
  const texts = await sql<{ text: string }>`
    select distinct settings ->> 'consentText' as text from template_versions where settings ->> 'consentText' is not null
  `.execute(db);
  for (const { text } of texts.rows) {
    const sha256 = createHash("sha256").update(text, "utf8").digest("hex");
    if (wanted.has(sha256)) await sql`insert into consent_texts (sha256, text) values (${sha256}, ${text})`.execute(db);
  }
  await appendOnly(db, "consent_texts");
}
