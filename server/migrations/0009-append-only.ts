import type { Kysely } from "kysely";
import { appendOnly } from "../kernel/schema.ts";

/** What people signed, and each state of the document, is written once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await appendOnly(db, "signing_submissions");
  await appendOnly(db, "revisions");
}
