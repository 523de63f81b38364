import type { Kysely } from "kysely";
import { appendOnly, strictTable } from "../kernel/schema.ts";

/** The tree over all sealed documents, its signed anchors, and the links to download a sealed document. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "leaves")
    .addColumn("leaf_index", "integer", (column) => column.primaryKey())
    .addColumn("envelope", "text", (column) => column.notNull())
    .addColumn("test_mode", "integer", (column) => column.notNull())
    .addColumn("leaf", "text", (column) => column.notNull())
    .addColumn("leaf_hash", "text", (column) => column.notNull())
    .addColumn("document_sha256", "text", (column) => column.notNull())
    .addColumn("sealed_at", "text", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("leaves_of_document").on("leaves").column("document_sha256").execute();
  await db.schema.createIndex("leaves_of_envelope").on("leaves").column("envelope").execute();
  await appendOnly(db, "leaves");

  await strictTable(db, "merkle_nodes")
    .addColumn("level", "integer", (column) => column.notNull())
    .addColumn("node_index", "integer", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("merkle_nodes_key", ["level", "node_index"])
    .execute();
  await appendOnly(db, "merkle_nodes");

  await strictTable(db, "anchors")
    .addColumn("sequence", "integer", (column) => column.primaryKey())
    .addColumn("tree_size", "integer", (column) => column.notNull().unique())
    .addColumn("root_hash", "text", (column) => column.notNull())
    .addColumn("previous_anchor_hash", "text")
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("kid", "text", (column) => column.notNull())
    .addColumn("anchor_hash", "text", (column) => column.notNull())
    .addColumn("signature", "text", (column) => column.notNull())
    .addColumn("consistency", "text", (column) => column.notNull())
    .addColumn("timestamp_token", "text")
    .execute();
  await appendOnly(db, "anchors");

  await strictTable(db, "download_tokens")
    .addColumn("token_sha256", "text", (column) => column.primaryKey())
    .addColumn("envelope", "text", (column) => column.notNull())
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("expires_at", "text", (column) => column.notNull())
    .execute();
}
