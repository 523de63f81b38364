import type { Kysely } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** Templates, the PDFs they stand on, the draft each may have, and their published versions. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "templates")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("organization", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("name_search", "text", (column) => column.notNull())
    .addColumn("description", "text")
    .addColumn("mode", "text", (column) => column.notNull())
    .addColumn("metadata", "text", (column) => column.notNull())
    .addColumn("latest_version", "integer")
    .addColumn("roles", "text", (column) => column.notNull())
    .addColumn("in_use", "integer", (column) => column.notNull())
    .addColumn("created_by", "text")
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("updated_at", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("templates_newest")
    .on("templates")
    .columns(["organization", "created_at", "id"])
    .execute();

  await strictTable(db, "template_files")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("template", "text", (column) => column.notNull().references("templates.id"))
    .addColumn("filename", "text")
    .addColumn("source_type", "text", (column) => column.notNull())
    .addColumn("size", "integer", (column) => column.notNull())
    .addColumn("sha256", "text", (column) => column.notNull())
    .addColumn("source_sha256", "text", (column) => column.notNull())
    .addColumn("page_count", "integer", (column) => column.notNull())
    .addColumn("pages", "text", (column) => column.notNull())
    .addColumn("has_form_fields", "integer", (column) => column.notNull())
    .addColumn("warnings", "text", (column) => column.notNull())
    .addColumn("created_at", "text", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("template_files_of_template").on("template_files").columns(["template"]).execute();

  await strictTable(db, "template_drafts")
    .addColumn("template", "text", (column) => column.primaryKey().references("templates.id"))
    .addColumn("content", "text", (column) => column.notNull())
    .addColumn("roles", "text", (column) => column.notNull())
    .addColumn("variables", "text", (column) => column.notNull())
    .addColumn("settings", "text", (column) => column.notNull())
    .addColumn("file", "text")
    .addColumn("content_hash", "text", (column) => column.notNull())
    .addColumn("page_count", "integer")
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("updated_at", "text", (column) => column.notNull())
    .execute();

  await strictTable(db, "template_versions")
    .addColumn("template", "text", (column) => column.notNull().references("templates.id"))
    .addColumn("version", "integer", (column) => column.notNull())
    .addColumn("content", "text", (column) => column.notNull())
    .addColumn("roles", "text", (column) => column.notNull())
    .addColumn("variables", "text", (column) => column.notNull())
    .addColumn("settings", "text", (column) => column.notNull())
    .addColumn("file_sha256", "text", (column) => column.notNull())
    .addColumn("page_count", "integer", (column) => column.notNull())
    .addColumn("pages", "text", (column) => column.notNull())
    .addColumn("warnings", "text", (column) => column.notNull())
    .addColumn("content_hash", "text", (column) => column.notNull())
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("published_at", "text", (column) => column.notNull())
    .addColumn("published_by", "text")
    .addPrimaryKeyConstraint("template_versions_key", ["template", "version"])
    .execute();
}
