import type { Kysely } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** What administrators of the machine decide: the plan of an organization, steps of the setup left out; and how the data grew. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "organization_plans")
    .addColumn("organization", "text", (column) => column.primaryKey().references("organizations.id"))
    .addColumn("plan", "text", (column) => column.notNull())
    .execute();
  await strictTable(db, "setup_skips")
    .addColumn("step", "text", (column) => column.primaryKey())
    .addColumn("at", "text", (column) => column.notNull())
    .execute();
  await strictTable(db, "storage_samples")
    .addColumn("day", "text", (column) => column.primaryKey())
    .addColumn("bytes", "integer", (column) => column.notNull())
    .execute();
}
