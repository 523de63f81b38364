import { type SqlBool, sql } from "kysely";
import type { Ts } from "../../kernel/clock.ts";
import type { Place } from "../../kernel/cursor.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { TemplateMode } from "./contract.ts";

export type TemplateRow = {
  id: string;
  organization: string;
  name: string;
  /** Lower case, for the search. */
  name_search: string;
  description: string | null;
  mode: TemplateMode;
  metadata: string;
  latest_version: number | null;
  /** JSON: role names of the latest version, else of the draft. */
  roles: string;
  in_use: number;
  /** 0: made for one envelope. */
  listed: number;
  created_by: string | null;
  created_at: Ts;
  updated_at: Ts;
};
export type TemplateFileRow = {
  id: string;
  template: string;
  filename: string | null;
  source_type: string;
  size: number;
  sha256: string;
  source_sha256: string;
  page_count: number;
  pages: string;
  has_form_fields: number;
  warnings: string;
  created_at: Ts;
};
export type TemplateDraftRow = {
  template: string;
  content: string;
  roles: string;
  variables: string;
  settings: string;
  /** The file that the content names, when it is one of this template. */
  file: string | null;
  content_hash: string;
  page_count: number | null;
  created_at: Ts;
  updated_at: Ts;
};
export type TemplateVersionRow = {
  template: string;
  version: number;
  content: string;
  roles: string;
  variables: string;
  settings: string;
  file_sha256: string;
  page_count: number;
  pages: string;
  warnings: string;
  content_hash: string;
  created_at: Ts;
  published_at: Ts;
  published_by: string | null;
};

declare module "../../kernel/db.ts" {
  interface Tables {
    templates: TemplateRow;
    template_files: TemplateFileRow;
    template_drafts: TemplateDraftRow;
    template_versions: TemplateVersionRow;
  }
}

/** A template with what its list entry says of the draft. */
export type TemplateWithDraft = TemplateRow & { draft_updated_at: Ts | null };

export async function insertTemplate(tx: Tx, row: TemplateRow): Promise<void> {
  await tx.insertInto("templates").values(row).execute();
}

const withDraft = (reader: Reader) =>
  reader
    .selectFrom("templates")
    .leftJoin("template_drafts", "template_drafts.template", "templates.id")
    .selectAll("templates")
    .select("template_drafts.updated_at as draft_updated_at");

export async function findTemplate(
  reader: Reader,
  organization: string,
  id: string,
): Promise<TemplateWithDraft | undefined> {
  return await withDraft(reader)
    .where("templates.id", "=", id)
    .where("templates.organization", "=", organization)
    .executeTakeFirst();
}

/** Asked where a row of the template is written: it may have been deleted since the caller found it. */
export async function isTemplate(reader: Reader, id: string): Promise<boolean> {
  return (await reader.selectFrom("templates").select("id").where("id", "=", id).executeTakeFirst()) !== undefined;
}

/** Newest first, one more than `limit`. One that was made for one envelope is found by its id alone. */
export async function listTemplates(
  reader: Reader,
  organization: string,
  page: { limit: number; after: Place | null; q: string | undefined },
): Promise<TemplateWithDraft[]> {
  let query = withDraft(reader).where("templates.organization", "=", organization);
  const { after, q } = page;
  if (after !== null) {
    query = query.where((eb) =>
      eb.or([
        eb("templates.created_at", "<", after.t),
        eb.and([eb("templates.created_at", "=", after.t), eb("templates.id", "<", after.id)]),
      ]),
    );
  }
  if (q === undefined || q === "") query = query.where("templates.listed", "=", 1);
  else {
    const pattern = `%${q.toLowerCase().replace(/[\\%_]/g, "\\$&")}%`;
    query = query.where((eb) =>
      eb.or([
        eb("templates.id", "=", q),
        eb.and([
          eb("templates.listed", "=", 1),
          sql<SqlBool>`${eb.ref("templates.name_search")} like ${pattern} escape '\\'`,
        ]),
      ]),
    );
  }
  return await query
    .orderBy("templates.created_at", "desc")
    .orderBy("templates.id", "desc")
    .limit(page.limit + 1)
    .execute();
}

/** @returns false when the template was used, or is gone */
export async function deleteUnusedTemplate(tx: Tx, organization: string, id: string): Promise<boolean> {
  const unused = await tx
    .selectFrom("templates")
    .select("id")
    .where("id", "=", id)
    .where("organization", "=", organization)
    .where("in_use", "=", 0)
    .executeTakeFirst();
  if (!unused) return false;
  await deleteTemplates(tx, [id]);
  return true;
}

/** Those that were made for one envelope and never used. @returns how many */
export async function deleteUnlistedBefore(tx: Tx, before: Ts): Promise<number> {
  const rows = await tx
    .selectFrom("templates")
    .select("id")
    .where("listed", "=", 0)
    .where("in_use", "=", 0)
    .where("updated_at", "<=", before)
    .limit(1000)
    .execute();
  await deleteTemplates(
    tx,
    rows.map(({ id }) => id),
  );
  return rows.length;
}

async function deleteTemplates(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.deleteFrom("template_drafts").where("template", "in", ids).execute();
  await tx.deleteFrom("template_versions").where("template", "in", ids).execute();
  await tx.deleteFrom("template_files").where("template", "in", ids).execute();
  await tx.deleteFrom("templates").where("id", "in", ids).execute();
}

/** @returns whether the template is there */
export async function markUsed(tx: Tx, id: string): Promise<boolean> {
  const result = await tx.updateTable("templates").set({ in_use: 1 }).where("id", "=", id).executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function updateTemplate(
  tx: Tx,
  id: string,
  change: Partial<Pick<TemplateRow, "name" | "name_search" | "roles" | "latest_version" | "listed">> & {
    updated_at: Ts;
  },
): Promise<void> {
  await tx.updateTable("templates").set(change).where("id", "=", id).execute();
}

export async function insertFile(tx: Tx, row: TemplateFileRow): Promise<void> {
  await tx.insertInto("template_files").values(row).execute();
}

export async function findFile(reader: Reader, template: string, id: string): Promise<TemplateFileRow | undefined> {
  return await reader
    .selectFrom("template_files")
    .selectAll()
    .where("id", "=", id)
    .where("template", "=", template)
    .executeTakeFirst();
}

export async function findDraft(reader: Reader, template: string): Promise<TemplateDraftRow | undefined> {
  return await reader.selectFrom("template_drafts").selectAll().where("template", "=", template).executeTakeFirst();
}

/** The file that a draft stands on. */
export async function findDraftFile(
  reader: Reader,
  { template, file }: Pick<TemplateDraftRow, "template" | "file">,
): Promise<TemplateFileRow | undefined> {
  return file === null ? undefined : await findFile(reader, template, file);
}

export async function replaceDraft(tx: Tx, row: TemplateDraftRow): Promise<void> {
  await tx.deleteFrom("template_drafts").where("template", "=", row.template).execute();
  await tx.insertInto("template_drafts").values(row).execute();
}

export async function deleteDraft(tx: Tx, template: string): Promise<void> {
  await tx.deleteFrom("template_drafts").where("template", "=", template).execute();
}

export async function insertVersion(tx: Tx, row: TemplateVersionRow): Promise<void> {
  await tx.insertInto("template_versions").values(row).execute();
}

export async function findVersion(
  reader: Reader,
  template: string,
  version: number,
): Promise<TemplateVersionRow | undefined> {
  return await reader
    .selectFrom("template_versions")
    .selectAll()
    .where("template", "=", template)
    .where("version", "=", version)
    .executeTakeFirst();
}

/** Newest first, one more than `limit`. */
export async function listVersions(
  reader: Reader,
  template: string,
  page: { limit: number; before: number | null },
): Promise<TemplateVersionRow[]> {
  let query = reader.selectFrom("template_versions").selectAll().where("template", "=", template);
  if (page.before !== null) query = query.where("version", "<", page.before);
  return await query
    .orderBy("version", "desc")
    .limit(page.limit + 1)
    .execute();
}
