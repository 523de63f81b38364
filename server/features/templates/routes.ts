import { bind } from "../../kernel/binding.ts";
import { decodeCursor, encodeCursor } from "../../kernel/cursor.ts";
import type { Deps } from "../../kernel/deps.ts";
import { notFound } from "../../kernel/errors.ts";
import { pdf } from "../../kernel/wire.ts";
import * as contract from "./contract.ts";
import { draftTag, publish, saveDraft } from "./drafts.ts";
import { uploadFile, wordComesLater } from "./files.ts";
import { presentDraft, presentTemplate, presentVersion } from "./present.ts";
import { type NamedVersion, renderPreview, versionByName, versionDocument } from "./previews.ts";
import { proposeFields } from "./proposals.ts";
import { createTemplate, deleteTemplate, listTemplates, templateById } from "./service.ts";
import * as store from "./store.ts";

type Named = { caller: { organization: string }; params: { id: string } };
const template = (deps: Deps, { caller, params }: Named) => templateById(deps.db.read, caller.organization, params.id);

async function version(
  deps: Deps,
  { caller, params }: { caller: { organization: string }; params: { id: string; version: string } },
): Promise<{ template: store.TemplateWithDraft; named: NamedVersion }> {
  const row = await templateById(deps.db.read, caller.organization, params.id);
  return { template: row, named: await versionByName(deps.db.read, row, params.version) };
}

export const bindings = [
  bind(contract.createTemplate)({
    async handle(deps, { caller, body, request }) {
      const { organization, actor } = caller;
      return { status: 201, body: await createTemplate(deps, organization, actor, body, request.remember) };
    },
  }),
  bind(contract.listTemplates)({
    async handle(deps, { caller, query }) {
      return { status: 200, body: await listTemplates(deps, caller.organization, query) };
    },
  }),
  bind(contract.getTemplate)({
    load: template,
    async handle(_deps, _call, row) {
      return { status: 200, body: presentTemplate(row) };
    },
  }),
  bind(contract.deleteTemplate)({
    load: template,
    async handle(deps, _call, row) {
      await deleteTemplate(deps, row);
      return { status: 204 };
    },
  }),
  bind(contract.uploadTemplateFile)({
    load: template,
    async handle(deps, { body, request }, row) {
      return { status: 201, body: await uploadFile(deps, row.id, body, request.remember) };
    },
  }),
  bind(contract.proposeFields)({
    async load(deps, call) {
      const { id } = await template(deps, call);
      const file = await store.findFile(deps.db.read, id, call.params.file);
      if (file === undefined) throw notFound("The file");
      return file;
    },
    async handle(deps, _call, file) {
      return { status: 200, body: await proposeFields(deps, file) };
    },
  }),
  bind(contract.importDocument)({
    load: template,
    async handle() {
      throw wordComesLater();
    },
  }),
  bind(contract.saveTemplateDraft)({
    load: template,
    async handle(deps, { body, request }, row) {
      const draft = await saveDraft(deps, row, body, request.header("if-match"));
      return { status: 200, body: draft, headers: { ETag: draftTag(draft) } };
    },
  }),
  bind(contract.publishTemplate)({
    load: template,
    async handle(deps, { caller, request }, row) {
      return { status: 201, body: await publish(deps, row, caller.actor, request.remember) };
    },
  }),
  bind(contract.listTemplateVersions)({
    load: template,
    async handle(deps, { query }, row) {
      return { status: 200, body: await versionPage(deps, row, query) };
    },
  }),
  bind(contract.getTemplateVersion)({
    load: version,
    async handle(_deps, _call, { named }) {
      const headers = named.version.status === "draft" ? { ETag: draftTag(named.version) } : {};
      return { status: 200, body: named.version, headers };
    },
  }),
  bind(contract.getTemplateDocument)({
    load: version,
    async handle(deps, { query }, { template, named }) {
      const { bytes, etag } = await versionDocument(deps, named, query.edited ?? false);
      return { status: 200, bytes, contentType: pdf, etag, disposition: "inline", filename: `${template.name}.pdf` };
    },
  }),
  bind(contract.renderTemplate)({
    load: version,
    async handle(deps, { body }, { template, named }) {
      const bytes = await renderPreview(deps, named, body ?? {});
      return { status: 200, bytes, contentType: pdf, disposition: "inline", filename: `${template.name}.pdf` };
    },
  }),
];

/** The draft first, then the versions from the newest on; the cursor names the last version of the page. */
async function versionPage(
  deps: Deps,
  row: store.TemplateRow,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
) {
  const list = `versions:${row.id}`;
  const before = cursor === undefined ? null : Number(decodeCursor(deps.secrets, list, cursor).id);
  const draft = before === null ? await store.findDraft(deps.db.read, row.id) : undefined;
  const room = limit - (draft ? 1 : 0);
  const rows = await store.listVersions(deps.db.read, row.id, { limit: room, before });
  const shown = rows.slice(0, room);
  const hasMore = rows.length > room;
  const last = shown.at(-1);
  // A page of nothing but the draft is followed by all versions.
  const place = last ?? { published_at: row.updated_at, version: Number.MAX_SAFE_INTEGER };
  return {
    data: [
      ...(draft ? [presentDraft(draft, await store.findDraftFile(deps.db.read, draft))] : []),
      ...shown.map(presentVersion),
    ],
    hasMore,
    nextCursor: hasMore ? encodeCursor(deps.secrets, list, { t: place.published_at, id: String(place.version) }) : null,
  };
}
