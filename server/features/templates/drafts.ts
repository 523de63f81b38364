import { createHash } from "node:crypto";
import { canonicalize, type Json } from "../../kernel/canonical.ts";
import type { Reader } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, invalid, notFound } from "../../kernel/errors.ts";
import { matchesTag } from "../../kernel/if-match.ts";
import type { Remember } from "../../kernel/request.ts";
import type { Actor } from "../../kernel/wire.ts";
import { defaultSettings, isField, type SaveTemplateDraft, type TemplateVersion } from "./contract.ts";
import { fieldDrawings, staticDrawings } from "./drawings.ts";
import { drawn } from "./failures.ts";
import { type Definition, definitionOf, pagesOf, presentDraft, presentVersion, warningsOf } from "./present.ts";
import { type Base, baseOf } from "./proposals.ts";
import { publishErrors } from "./publish-checks.ts";
import * as store from "./store.ts";

/**
 * Replaces the whole draft. Only its form is checked; what a version needs is checked when it is published.
 * @param ifMatch the If-Match header: entity tags of the draft that the caller began with
 * @throws AppError `precondition-failed`, `validation-failed`, `not-found` when the template was deleted meanwhile
 */
export async function saveDraft(
  deps: Deps,
  template: store.TemplateRow,
  input: SaveTemplateDraft,
  ifMatch: string | null,
): Promise<TemplateVersion> {
  if (input.content.mode !== template.mode) {
    const detail = `This template is of mode \`${template.mode}\`, which cannot be changed.`;
    throw invalid([{ pointer: "#/content/mode", code: "conflict", detail }]);
  }
  const definition: Definition = {
    content: input.content,
    roles: input.roles,
    variables: input.variables,
    settings: settingsOf(input.settings),
  };
  const columns = columnsOf(definition);
  return await deps.db.tx(async (tx) => {
    if (!(await store.isTemplate(tx, template.id))) throw notFound("The template");
    const before = await store.findDraft(tx, template.id);
    if (ifMatch !== null && (!before || !matchesTag(ifMatch, draftTag({ contentHash: before.content_hash }))))
      throw new AppError("precondition-failed");
    const file = await fileOf(tx, template.id, definition);
    const now = deps.clock.ts();
    const row: store.TemplateDraftRow = {
      template: template.id,
      ...columns,
      file: file?.id ?? null,
      content_hash: contentHash(definition, file?.sha256 ?? null),
      page_count: file?.page_count ?? null,
      created_at: before?.created_at ?? now,
      updated_at: now,
    };
    await store.replaceDraft(tx, row);
    await store.updateTemplate(tx, template.id, {
      ...(input.name === undefined ? {} : { name: input.name, name_search: input.name.toLowerCase() }),
      ...(input.listed === undefined ? {} : { listed: input.listed ? 1 : 0 }),
      ...(template.latest_version === null ? { roles: roleNames(definition) } : {}),
      updated_at: now,
    });
    return presentDraft(row, file);
  });
}

function settingsOf(given: SaveTemplateDraft["settings"]): Definition["settings"] {
  const { locale, expiresInDays, reminders, allowDecline, allowReassign, signatureMethods, consentText } = given ?? {};
  return {
    locale: locale ?? defaultSettings.locale,
    expiresInDays: expiresInDays ?? defaultSettings.expiresInDays,
    reminders: reminders ?? defaultSettings.reminders,
    allowDecline: allowDecline ?? defaultSettings.allowDecline,
    allowReassign: allowReassign ?? defaultSettings.allowReassign,
    signatureMethods: signatureMethods ?? defaultSettings.signatureMethods,
    consentText: consentText ?? defaultSettings.consentText,
  };
}

const roleNames = ({ roles }: Definition) => JSON.stringify(roles.map((role) => role.name));

function columnsOf(definition: Definition) {
  return {
    content: JSON.stringify(definition.content),
    roles: JSON.stringify(definition.roles),
    variables: JSON.stringify(definition.variables),
    settings: JSON.stringify(definition.settings),
  };
}

/** The file that a draft stands on; none when it names no file of its template. */
async function fileOf(
  reader: Reader,
  template: string,
  { content }: Definition,
): Promise<store.TemplateFileRow | undefined> {
  return content.mode === "overlay" ? await store.findFile(reader, template, content.file) : undefined;
}

/** The entity tag of a draft, with its quotes. */
export function draftTag(version: Pick<TemplateVersion, "contentHash">): string {
  return `"${version.contentHash}"`;
}

/** SHA-256 over the canonical text of what the version is (contract §2). */
function contentHash(definition: Definition, fileSha256: string | null): string {
  const { content, roles, variables, settings } = definition;
  // Through its text: members that are undefined are absent in JSON.
  const plain: Json = JSON.parse(
    JSON.stringify({ mode: content.mode, content, roles, variables, settings, fileSha256 }),
  );
  return createHash("sha256").update(canonicalize(plain)).digest("hex");
}

/**
 * Makes the draft a new version. It is checked in full and drawn once for trial, so that no envelope fails on it.
 * @throws AppError `draft-missing`, `validation-failed` with pointers into the draft, `render-failed`, `conflict`
 */
export async function publish(
  deps: Deps,
  template: store.TemplateRow,
  publishedBy: Actor,
  remember: Remember | null,
): Promise<TemplateVersion> {
  const draft = await store.findDraft(deps.db.read, template.id);
  if (draft === undefined) throw new AppError("draft-missing");
  const definition = definitionOf(draft);
  if (definition.content.mode !== "overlay") {
    const detail = "Document-mode templates come with a later version of this appliance and cannot be published yet.";
    throw new AppError("render-failed", { detail });
  }
  const file = await fileOf(deps.db.read, template.id, definition);
  const errors = publishErrors(definition, file ? pagesOf(file.pages) : null);
  if (errors.length > 0 || file === undefined) throw invalid(errors);
  const now = deps.clock.ts();
  const base = await baseOf(
    deps,
    { content: definition.content, fileSha256: file.sha256, at: now },
    { pointer: "#/content" },
  );
  // Kept as a file of its own, so that no envelope has to do it again.
  const stored = base.parts.length === 1 ? file : await deps.blobs.put(Buffer.concat(base.parts));
  const trial = await drawTrial(deps, definition, base);
  const known = warningsOf(file.warnings).filter(({ code }) => !(base.formTaken && code === "form-fields"));
  return await deps.db.tx(async (tx) => {
    const [present, current] = [
      await store.findDraft(tx, template.id),
      await store.findTemplate(tx, template.organization, template.id),
    ];
    if (present === undefined || current === undefined) throw new AppError("draft-missing");
    if (present.content_hash !== draft.content_hash) {
      throw new AppError("conflict", {
        detail: "The draft was changed while it was being published. Publish it again.",
      });
    }
    const row: store.TemplateVersionRow = {
      template: template.id,
      version: (current.latest_version ?? 0) + 1,
      ...columnsOf(definition),
      file_sha256: stored.sha256,
      page_count: file.page_count,
      pages: file.pages,
      warnings: JSON.stringify([...known, ...base.warnings, ...trial]),
      content_hash: draft.content_hash,
      created_at: draft.created_at,
      published_at: now,
      published_by: JSON.stringify(publishedBy),
    };
    await store.insertVersion(tx, row);
    await store.deleteDraft(tx, template.id);
    const change = { latest_version: row.version, roles: roleNames(definition), updated_at: now };
    await store.updateTemplate(tx, template.id, change);
    const published = presentVersion(row);
    await remember?.(tx, { status: 201, body: published });
    return published;
  });
}

/** @returns what the drawing warned of */
async function drawTrial(deps: Deps, { content, variables, settings }: Definition, { parts }: Base) {
  if (content.mode !== "overlay") return [];
  const drawings = [
    ...staticDrawings(content, variables, {}, settings.locale, "label"),
    ...fieldDrawings(content.items.filter(isField), {}, { locale: settings.locale, placeholders: true }),
  ];
  if (drawings.length === 0) return [];
  const pdf = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  const task = deps.pool.run("stamp", { pdf, drawings, watermark: null, at: deps.clock.ts(), newPictures: true });
  return (await drawn(task, { pointer: "#/content" })).warnings;
}
