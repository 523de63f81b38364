import { type Kysely, sql } from "kysely";
import { appendOnly, strictTable } from "../kernel/schema.ts";

/** Where the chain of the operators' acts stood when an anchor was signed. Anchors of before saw nothing of it: one row says so. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "operator_heads")
    .addColumn("anchor", "integer", (column) => column.primaryKey())
    .addColumn("anchor_hash", "text")
    .addColumn("seq", "integer")
    .addColumn("hash", "text")
    .addColumn("kid", "text")
    .addColumn("signature", "text")
    .execute();
  await sql`insert into operator_heads (anchor) select coalesce(max(sequence), 0) from anchors`.execute(db);
  await appendOnly(db, "operator_heads");
}
