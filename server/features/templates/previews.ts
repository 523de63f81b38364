import type { Watermark } from "../../../workers/protocol.ts";
import { hashOf } from "../../kernel/blobs.ts";
import type { Reader } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, invalid, notFound } from "../../kernel/errors.ts";
import { type ProblemError, pointer } from "../../kernel/problem.ts";
import {
  type FieldInput,
  isField,
  type OverlayContent,
  type PlacedField,
  type RenderPreview,
  type TemplateVersion,
} from "./contract.ts";
import { type DrawnValue, fieldDrawings, staticDrawings } from "./drawings.ts";
import { drawn } from "./failures.ts";
import { presentDraft, presentVersion } from "./present.ts";
import { baseOf } from "./proposals.ts";
import * as store from "./store.ts";
import { checkFieldInput, checkVariables, computeFormulas, defaultOf, takesInput, visibleFields } from "./values.ts";

/** A version as the path names it, and the PDF that it stands on. */
export type NamedVersion = { version: TemplateVersion; fileSha256: string | null; at: string };

/**
 * @param name a number, `latest` or `draft`; anything else does not exist
 * @throws AppError `not-found`
 */
export async function versionByName(reader: Reader, template: store.TemplateRow, name: string): Promise<NamedVersion> {
  if (name === "draft") {
    const draft = await store.findDraft(reader, template.id);
    if (draft === undefined) throw notFound("The draft");
    const file = await store.findDraftFile(reader, draft);
    return { version: presentDraft(draft, file), fileSha256: file?.sha256 ?? null, at: draft.updated_at };
  }
  const number = name === "latest" ? template.latest_version : /^[1-9]\d{0,8}$/.test(name) ? Number(name) : null;
  const row = number === null ? undefined : await store.findVersion(reader, template.id, number);
  if (row === undefined) throw notFound("The version");
  return { version: presentVersion(row), fileSha256: row.file_sha256, at: row.published_at };
}

/**
 * The base PDF of a version. A draft gives the upload, or with `edited` the upload with its white-outs, texts and
 * pictures; a published version always the latter. Variables stand in it as their marks.
 * @throws AppError `document-not-ready`, `render-failed`
 */
export async function versionDocument(
  deps: Deps,
  { version, fileSha256, at }: NamedVersion,
  edited: boolean,
): Promise<{ bytes: Uint8Array; etag: string }> {
  const { content, variables, settings } = version;
  if (content.mode !== "overlay") {
    const detail = "Documents of Document-mode templates come with a later version of this appliance.";
    throw new AppError("document-not-ready", { detail });
  }
  if (fileSha256 === null) {
    throw new AppError("document-not-ready", { detail: "The draft names no file of this template." });
  }
  const draft = version.status === "draft";
  if (draft && !edited) return { bytes: await deps.blobs.get(fileSha256), etag: fileSha256 };
  const base = await versionBase(deps, { content, fileSha256, draft, at });
  const drawings = staticDrawings(content, variables, {}, settings.locale, "mark");
  if (drawings.length === 0) return { bytes: base, etag: draft ? await hashOf([base]) : fileSha256 };
  const { tail } = await drawn(deps.pool.run("stamp", { pdf: base, drawings, watermark: null, at }), {
    parameter: "version",
  });
  const parts = [base, tail];
  return { bytes: Buffer.concat(parts), etag: await hashOf(parts) };
}

/** What a published version is drawn on was stored with it; for a draft it is made. @throws AppError `render-failed` */
async function versionBase(
  deps: Deps,
  { draft, ...of }: { content: OverlayContent; fileSha256: string; draft: boolean; at: string },
): Promise<Uint8Array> {
  if (!draft) return await deps.blobs.get(of.fileSha256);
  const { parts } = await baseOf(deps, of, { parameter: "version" });
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
}

const watermark: Watermark = "PREVIEW";

/**
 * A version with these variables and values, fields without a value outlined, marked as a preview.
 * @throws AppError `validation-failed` for wrong types and unknown names, `render-failed`
 */
export async function renderPreview(
  deps: Deps,
  { version, fileSha256 }: NamedVersion,
  input: RenderPreview,
): Promise<Uint8Array> {
  const { content, variables, settings } = version;
  if (content.mode !== "overlay") {
    const detail = "Previews of Document-mode templates come with a later version of this appliance.";
    throw new AppError("render-failed", { detail });
  }
  const fields = content.items.filter(isField);
  const given = checkVariables(variables, input.variables ?? {}, "#/variables");
  const values = checkValues(version, fields, input.values ?? {});
  // A preview never fails on what is missing: it shows the label instead.
  const errors = [...given.errors.filter((error) => error.code !== "required"), ...values.errors];
  if (errors.length > 0) throw invalid(errors);
  if (fileSha256 === null) {
    const errors: ProblemError[] = [
      { parameter: "version", code: "reference", detail: "The draft names no file of this template." },
    ];
    throw new AppError("render-failed", { detail: "The draft names no file of this template.", errors });
  }
  const locale = input.locale ?? settings.locale;
  const shown = version.roles.flatMap((role) =>
    visibleFields(
      fields.filter((field) => field.role === role.name),
      values.values,
    ),
  );
  const drawings = [
    ...staticDrawings(content, variables, given.values, locale, "label"),
    ...fieldDrawings(shown, valuesToDraw(fields, values.values), { locale, placeholders: true }),
  ];
  const draft = version.status === "draft";
  const at = deps.clock.ts();
  const pdf = await versionBase(deps, { content, fileSha256, draft, at });
  const task = deps.pool.run("stamp", { pdf, drawings, watermark, at, newPictures: draft });
  const { tail } = await drawn(task, { parameter: "version" });
  return Buffer.concat([pdf, tail]);
}

/** The values given by role and field, flat by field id, over the defaults. */
function checkValues(
  version: TemplateVersion,
  fields: readonly PlacedField[],
  given: NonNullable<RenderPreview["values"]>,
): { values: Record<string, FieldInput>; errors: ProblemError[] } {
  const values: Record<string, FieldInput> = {};
  const errors: ProblemError[] = [];
  for (const field of fields) if (takesInput(field)) values[field.id] = defaultOf(field);
  for (const [role, ofRole] of Object.entries(given)) {
    if (!version.roles.some(({ name }) => name === role)) {
      errors.push({ pointer: pointer(["values", role]), code: "reference", detail: `There is no role \`${role}\`.` });
      continue;
    }
    for (const [id, value] of Object.entries(ofRole)) {
      const at = pointer(["values", role, id]);
      const field = fields.find((candidate) => candidate.id === id && candidate.role === role);
      if (field === undefined) {
        errors.push({ pointer: at, code: "reference", detail: `The role \`${role}\` has no field \`${id}\`.` });
        continue;
      }
      const found = checkFieldInput(field, value, at);
      errors.push(...found);
      if (found.length === 0) values[id] = value;
    }
  }
  return { values, errors };
}

/** A draft may hold formulas that publishing would refuse; a preview then leaves their place empty. */
function valuesToDraw(fields: readonly PlacedField[], values: Record<string, FieldInput>): Record<string, DrawnValue> {
  try {
    return { ...values, ...computeFormulas(fields, values) };
  } catch {
    return values;
  }
}
