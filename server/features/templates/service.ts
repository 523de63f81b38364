import { decodeCursor, pageOf } from "../../kernel/cursor.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { newId } from "../../kernel/ids.ts";
import type { Remember } from "../../kernel/request.ts";
import type { Actor } from "../../kernel/wire.ts";
import type { CreateTemplate, Template } from "./contract.ts";
import { presentTemplate } from "./present.ts";
import * as store from "./store.ts";

export { type DrawnValue, fieldDrawings } from "./drawings.ts";
export {
  NoSuchVersion,
  type PublishedVersion,
  publishedVersion,
  rolesWithoutSignature,
  uploadWarnings,
} from "./published.ts";
export { type FieldBoxes, placeFields, readBoxes, storedBoxes } from "./rendering.ts";
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
    listed: input.listed ? 1 : 0,
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
