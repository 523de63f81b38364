import { decodeCursor, pageOf } from "../../kernel/cursor.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { newId } from "../../kernel/ids.ts";
import type { Remember } from "../../kernel/request.ts";
import type { Actor } from "../../kernel/wire.ts";
import {
  type CreateTemplate,
  isField,
  type OverlayContent,
  type PageBox,
  type PlacedField,
  type Role,
  rolesWithoutSignature as signersWithoutField,
  type Template,
  type TemplateMode,
  type Variable,
  type VersionSettings,
  type Warning,
} from "./contract.ts";
import { definitionOf, pagesOf, presentTemplate, warningsOf } from "./present.ts";
import * as store from "./store.ts";

export { type DrawnValue, fieldDrawings, staticDrawings } from "./drawings.ts";
export { surelyFits } from "./text-fit.ts";
export { checkFieldInput, checkVariables, computeFormulas, isEmpty, requiredErrors, visibleFields } from "./values.ts";

export async function createTemplate(
  deps: Deps,
  organization: string,
  createdBy: Actor,
  input: CreateTemplate,
  remember: Remember | null,
): Promise<Template> {
  const now = deps.clock.ts();
  const row: store.TemplateRow = {
    id: newId("tpl"),
    organization,
    name: input.name,
    name_search: input.name.toLowerCase(),
    description: input.description ?? null,
    mode: input.mode,
    metadata: JSON.stringify(input.metadata),
    latest_version: null,
    roles: "[]",
    in_use: 0,
    created_by: JSON.stringify(createdBy),
    created_at: now,
    updated_at: now,
  };
  const created = presentTemplate({ ...row, draft_updated_at: null });
  await deps.db.tx(async (tx) => {
    await store.insertTemplate(tx, row);
    await remember?.(tx, { status: 201, body: created });
  });
  return created;
}

export async function listTemplates(
  deps: Deps,
  organization: string,
  query: { limit: number; cursor?: string | undefined; q?: string | undefined },
) {
  const after = query.cursor === undefined ? null : decodeCursor(deps.secrets, "templates", query.cursor);
  const rows = await store.listTemplates(deps.db.read, organization, { limit: query.limit, after, q: query.q });
  return pageOf(
    deps.secrets,
    "templates",
    rows,
    query.limit,
    (row) => ({ t: row.created_at, id: row.id }),
    presentTemplate,
  );
}

/** @throws AppError `not-found`, also for a template of another organization */
export async function templateById(reader: Reader, organization: string, id: string): Promise<store.TemplateWithDraft> {
  const row = await store.findTemplate(reader, organization, id);
  if (!row) throw notFound("The template");
  return row;
}

/** @throws AppError `template-in-use` */
export async function deleteTemplate(deps: Deps, template: store.TemplateRow): Promise<void> {
  const deleted = await deps.db.tx((tx) => store.deleteUnusedTemplate(tx, template.organization, template.id));
  if (!deleted) throw new AppError("template-in-use");
}

/** From here on the template cannot be deleted. @throws AppError `not-found` when it was deleted in the meantime */
export async function markTemplateUsed(tx: Tx, template: string): Promise<void> {
  if (!(await store.markUsed(tx, template))) throw notFound("The template");
}

/** A published version as envelopes use it. Immutable, so one object serves everybody: do not change it. */
export type PublishedVersion = {
  template: { id: string; name: string; mode: TemplateMode };
  version: number;
  content: OverlayContent;
  roles: Role[];
  variables: Variable[];
  settings: VersionSettings;
  /** Blob of the PDF that everything is drawn on. */
  fileSha256: string;
  pages: PageBox[];
  pageCount: number;
  warnings: Warning[];
  contentHash: string;
};

/** All fields of a version, in the order in which they were placed. */
export function placedFields({ content }: Pick<PublishedVersion, "content">): PlacedField[] {
  return content.items.filter(isField);
}

/** Signers in whose name nothing in the document would be signed. */
export function rolesWithoutSignature({ roles, content }: Pick<PublishedVersion, "roles" | "content">): Role[] {
  return signersWithoutField({ roles, items: content.items });
}

/** Why there is no such version; the caller knows which member or parameter named it. */
export class NoSuchVersion extends Error {
  readonly reason: "template-not-found" | "no-published-version" | "version-not-found";
  constructor(reason: NoSuchVersion["reason"]) {
    super(`no template version: ${reason}`);
    this.name = "NoSuchVersion";
    this.reason = reason;
  }
}

type VersionBody = Omit<PublishedVersion, "template">;
const remembered = new WeakMap<Deps["db"], Map<string, VersionBody>>();
const mostRemembered = 50;

/**
 * The version that an envelope is made from.
 * @throws NoSuchVersion
 */
export async function publishedVersion(
  deps: Pick<Deps, "db">,
  reader: Reader,
  organization: string,
  template: string,
  version: number | "latest",
): Promise<PublishedVersion> {
  const row = await store.findTemplate(reader, organization, template);
  if (!row) throw new NoSuchVersion("template-not-found");
  if (row.latest_version === null) throw new NoSuchVersion("no-published-version");
  const number = version === "latest" ? row.latest_version : version;
  const body = await versionBody(deps, reader, template, number);
  return { template: { id: row.id, name: row.name, mode: row.mode }, ...body };
}

/** What was found when the document of an envelope's version was uploaded. @throws NoSuchVersion */
export async function uploadWarnings(
  deps: Pick<Deps, "db">,
  reader: Reader,
  of: { template: string; template_version: number },
): Promise<readonly Warning[]> {
  const { warnings } = await versionBody(deps, reader, of.template, of.template_version);
  return warnings;
}

/** Versions never change, so parsing each once is enough. The memory belongs to the database it was read from. */
async function versionBody(
  deps: Pick<Deps, "db">,
  reader: Reader,
  template: string,
  version: number,
): Promise<VersionBody> {
  const cache = remembered.get(deps.db) ?? new Map<string, VersionBody>();
  remembered.set(deps.db, cache);
  const key = `${template} ${version}`;
  const known = cache.get(key);
  if (known) {
    // Moves it to the end: the first of the map is the one that was not asked for the longest.
    cache.delete(key);
    cache.set(key, known);
    return known;
  }
  const row = await store.findVersion(reader, template, version);
  if (!row) throw new NoSuchVersion("version-not-found");
  const { content, ...definition } = definitionOf(row);
  if (content.mode !== "overlay") throw new NoSuchVersion("version-not-found");
  const body: VersionBody = {
    version: row.version,
    content,
    ...definition,
    fileSha256: row.file_sha256,
    pages: pagesOf(row.pages),
    pageCount: row.page_count,
    warnings: warningsOf(row.warnings),
    contentHash: row.content_hash,
  };
  cache.set(key, body);
  const [oldest] = cache.keys();
  if (cache.size > mostRemembered && oldest !== undefined) cache.delete(oldest);
  return body;
}
