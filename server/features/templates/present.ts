import type { z } from "zod";
import { Actor, docx, pdf } from "../../kernel/wire.ts";
import {
  PageBox,
  Role,
  type Template,
  TemplateContent,
  type TemplateFile,
  type TemplateVersion,
  Variable,
  VersionSettings,
  Warning,
} from "./contract.ts";
import type { TemplateDraftRow, TemplateFileRow, TemplateVersionRow, TemplateWithDraft } from "./store.ts";

/** Rows to wire shapes. What we stored was validated when it came in, so here it is parsed by the same schemas. */

const roleNames = (text: string): string[] => JSON.parse(text);

export function presentTemplate(row: TemplateWithDraft): Template {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    mode: row.mode,
    metadata: JSON.parse(row.metadata),
    latestVersion: row.latest_version,
    hasDraft: row.draft_updated_at !== null,
    draftUpdatedAt: row.draft_updated_at,
    roles: roleNames(row.roles),
    listed: row.listed === 1,
    inUse: row.in_use === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    createdBy: actorOf(row.created_by),
  };
}

function actorOf(text: string | null): Actor | null {
  return text === null ? null : Actor.parse(JSON.parse(text));
}

export function presentFile(row: TemplateFileRow): TemplateFile {
  return {
    id: row.id,
    template: row.template,
    filename: row.filename,
    sourceType: row.source_type === docx ? docx : pdf,
    contentType: pdf,
    size: row.size,
    sha256: row.sha256,
    sourceSha256: row.source_sha256,
    pageCount: row.page_count,
    pages: pagesOf(row.pages),
    hasFormFields: row.has_form_fields === 1,
    warnings: warningsOf(row.warnings),
    createdAt: row.created_at,
  };
}

const PageBoxes = PageBox.array();
const Warnings = Warning.array();
const Roles = Role.array();
const Variables = Variable.array();
export const pagesOf = (text: string): PageBox[] => PageBoxes.parse(JSON.parse(text));
export const warningsOf = (text: string): Warning[] => Warnings.parse(JSON.parse(text));

/** What a draft and a version have in common, out of its JSON columns. */
export type Definition = {
  content: TemplateContent;
  roles: Role[];
  variables: Variable[];
  settings: VersionSettings;
};

export function definitionOf(row: Pick<TemplateDraftRow, "content" | "roles" | "variables" | "settings">): Definition {
  const read = <S extends z.ZodType>(schema: S, text: string): z.output<S> => schema.parse(JSON.parse(text));
  return {
    content: read(TemplateContent, row.content),
    roles: read(Roles, row.roles),
    variables: read(Variables, row.variables),
    settings: read(VersionSettings, row.settings),
  };
}

/** @param file the one that the draft stands on, if there is one */
export function presentDraft(row: TemplateDraftRow, file: TemplateFileRow | undefined): TemplateVersion {
  const definition = definitionOf(row);
  return {
    template: row.template,
    version: null,
    status: "draft",
    mode: definition.content.mode,
    ...definition,
    pageCount: row.page_count,
    warnings: file ? warningsOf(file.warnings) : [],
    contentHash: row.content_hash,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    publishedAt: null,
    publishedBy: null,
  };
}

export function presentVersion(row: TemplateVersionRow): TemplateVersion {
  const definition = definitionOf(row);
  return {
    template: row.template,
    version: row.version,
    status: "published",
    mode: definition.content.mode,
    ...definition,
    pageCount: row.page_count,
    warnings: warningsOf(row.warnings),
    contentHash: row.content_hash,
    createdAt: row.created_at,
    updatedAt: row.published_at,
    publishedAt: row.published_at,
    publishedBy: actorOf(row.published_by),
  };
}
