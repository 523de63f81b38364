import { z } from "zod";
import { endpoint } from "../../kernel/endpoint.ts";
import {
  Actor,
  Cursor,
  docx,
  GivenLocale,
  Hex64,
  Line,
  Lines,
  limitOf,
  listOf,
  Metadata,
  pageQuery,
  pdf,
  QueryBoolean,
  QueryText,
  Ts,
} from "../../kernel/wire.ts";
import { DocumentContent } from "./document-content.ts";
import { FieldInput, PlacedField, Role } from "./fields.ts";
import { textFaults } from "./texts.ts";
import { Variable, VariableValue } from "./variables.ts";
import {
  PageBox,
  settingsShape,
  TemplateContent,
  TemplateMode,
  TemplateVersion,
  templateLimits,
  Warning,
} from "./version-contract.ts";

/** Templates, their files, drafts and versions (contract §2). What other features and the web apps need stands here. */

export {
  AttachmentType,
  attachmentTypes,
  availableVerifications,
  Box,
  boxTolerance,
  Field,
  FieldInput,
  isField,
  OverlayItem,
  PlacedField,
  RecipientKind,
  Role,
  rolesWithoutSignature,
  type StaticItem,
  TextStyle,
  textFaces,
  Verification,
  verifications,
} from "./fields.ts";
export { Variable, VariableValue } from "./variables.ts";
export {
  defaultSettings,
  OverlayContent,
  PageBox,
  ReminderSettings,
  TemplateContent,
  TemplateMode,
  TemplateVersion,
  templateLimits,
  VersionSettings,
  Warning,
} from "./version-contract.ts";

import { recordOf } from "../../kernel/record.ts";

const templateName = Line(200);

export const Template = z
  .object({
    id: z.string().meta({ example: "tpl_4fQz8KcW0aXn5RtY7uJb2MdE" }),
    name: z.string(),
    description: z.string().nullable(),
    mode: TemplateMode,
    metadata: Metadata,
    latestVersion: z.int().nullable().meta({ description: "null until the first publish" }),
    hasDraft: z.boolean(),
    draftUpdatedAt: Ts.nullable(),
    listed: z.boolean().meta({ description: "false: made for one envelope, and found by its id alone" }),
    roles: z.array(z.string()).meta({ description: "Role names of the latest version, else of the draft" }),
    inUse: z.boolean().meta({ description: "Ever used by an envelope or a signing link: it cannot be deleted" }),
    createdAt: Ts,
    updatedAt: Ts,
    createdBy: Actor.nullable(),
  })
  .meta({ id: "Template" });
export type Template = z.infer<typeof Template>;

export const CreateTemplate = z
  .strictObject({
    name: templateName,
    mode: TemplateMode.default("overlay"),
    description: Lines(2000).optional(),
    metadata: Metadata.default({}),
    listed: z.boolean().default(true).meta({
      description: "false: for one envelope. It is in no list, and deleted when none was made of it within 24 hours",
    }),
  })
  .meta({ id: "CreateTemplate", example: { name: "Non-disclosure agreement" } });
export type CreateTemplate = z.infer<typeof CreateTemplate>;
export const TemplateList = listOf("TemplateList", Template);

export const TemplateFile = z
  .object({
    id: z.string().meta({ example: "tfl_Yt5Rn0Xa4cWz8KfQ2MdEb7uJ" }),
    template: z.string(),
    filename: z.string().nullable().meta({ description: "From Content-Disposition" }),
    sourceType: z.enum([pdf, docx]),
    contentType: z.literal(pdf),
    size: z.int(),
    sha256: Hex64,
    sourceSha256: Hex64,
    pageCount: z.int(),
    pages: z.array(PageBox),
    hasFormFields: z.boolean(),
    warnings: z.array(Warning),
    createdAt: Ts,
  })
  .meta({ id: "TemplateFile" });
export type TemplateFile = z.infer<typeof TemplateFile>;

const FieldProposal = z
  .object({
    field: PlacedField,
    source: z
      .enum(["form", "tag", "line"])
      .meta({ description: "A form field of the PDF, a tag in its text, or a line or box of the page" }),
  })
  .meta({ id: "FieldProposal" });
export type FieldProposal = z.infer<typeof FieldProposal>;
export const FieldProposals = z
  .object({
    data: z.array(FieldProposal).max(templateLimits.fields),
    roles: z.array(z.string()).meta({ description: "The role names that the fields use" }),
  })
  .meta({ id: "FieldProposals" });
export type FieldProposals = z.infer<typeof FieldProposals>;

export const SaveTemplateDraft = z
  .strictObject({
    name: templateName.optional().meta({ description: "Renames the template" }),
    content: TemplateContent,
    roles: z.array(Role).max(templateLimits.roles),
    variables: z.array(Variable).max(templateLimits.variables),
    settings: z
      .strictObject({ ...settingsShape, locale: GivenLocale })
      .partial()
      .optional(),
    listed: z.boolean().optional().meta({
      description: "Unchanged when absent. true: a template that was made for one envelope is kept, and listed",
    }),
  })
  .superRefine(({ content, roles, variables, settings }, context) => {
    for (const { path, code, message } of textFaults({ content, roles, variables, settings }))
      context.addIssue({ code: "custom", path, message, params: { code } });
  })
  .meta({ id: "SaveTemplateDraft" });
export type SaveTemplateDraft = z.infer<typeof SaveTemplateDraft>;

export const TemplateVersionList = listOf("TemplateVersionList", TemplateVersion);

export const RenderPreview = z
  .strictObject({
    variables: recordOf(z.string(), VariableValue).optional(),
    values: recordOf(z.string(), recordOf(z.string(), FieldInput))
      .optional()
      .meta({ description: "By role and field id" }),
    locale: GivenLocale.optional(),
  })
  .meta({ id: "RenderPreview", example: { variables: { company: "Example Ltd" } } });
export type RenderPreview = z.infer<typeof RenderPreview>;

export const DocumentImport = z
  .object({ content: DocumentContent, variables: z.array(Variable), warnings: z.array(Warning) })
  .meta({ id: "DocumentImport" });

const tag = "Templates";
const common = { tag, credential: "key" } as const;
const id = z.object({ id: z.string() });
const idAndVersion = z.object({
  id: z.string(),
  version: z.string().meta({ description: "A number, `latest` or `draft`", pattern: "^(draft|latest|[1-9][0-9]*)$" }),
});
const json = <S extends z.ZodType>(schema: S) => ({ kind: "json", schema }) as const;
/** For links: the template of the same path. */
const ofTemplate = { id: "$request.path.id" };
const pdfBytes = { kind: "bytes", types: [pdf] } as const;

export const createTemplate = endpoint({
  ...common,
  method: "POST",
  path: "/v1/templates",
  id: "createTemplate",
  needsRoom: true,
  summary: "Create a template",
  permission: "template:write",
  idempotent: true,
  body: { kind: "json", schema: CreateTemplate, maxBytes: 1024 * 1024 },
  responses: { 201: json(Template) },
});
export const listTemplates = endpoint({
  ...common,
  method: "GET",
  path: "/v1/templates",
  id: "listTemplates",
  summary: "List templates",
  permission: "template:read",
  query: z.strictObject({
    ...pageQuery,
    q: QueryText(200).optional().meta({ description: "Part of the name, or an id" }),
  }),
  responses: { 200: json(TemplateList) },
});
export const getTemplate = endpoint({
  ...common,
  method: "GET",
  path: "/v1/templates/{id}",
  id: "getTemplate",
  summary: "Get a template",
  permission: "template:read",
  params: id,
  responses: { 200: json(Template) },
});
export const deleteTemplate = endpoint({
  ...common,
  method: "DELETE",
  path: "/v1/templates/{id}",
  id: "deleteTemplate",
  summary: "Delete a template that was never used",
  permission: "template:write",
  params: id,
  responses: { 204: { kind: "empty" } },
  errors: ["template-in-use"],
});
export const uploadTemplateFile = endpoint({
  ...common,
  method: "POST",
  path: "/v1/templates/{id}/files",
  id: "uploadTemplateFile",
  needsRoom: true,
  summary: "Upload the PDF that an overlay is placed on",
  permission: "template:write",
  idempotent: true,
  params: id,
  body: { kind: "raw", types: { [pdf]: templateLimits.pdfBytes, [docx]: templateLimits.docxBytes } },
  responses: { 201: json(TemplateFile) },
  errors: ["payload-too-large", "unsupported-media-type", "invalid-document"],
});
export const proposeFields = endpoint({
  ...common,
  method: "GET",
  path: "/v1/templates/{id}/files/{file}/proposals",
  id: "proposeFields",
  summary: "Propose fields for an uploaded PDF",
  permission: "template:read",
  params: z.object({ id: z.string(), file: z.string() }),
  responses: { 200: json(FieldProposals) },
  errors: ["render-failed"],
});
export const importDocument = endpoint({
  ...common,
  method: "POST",
  path: "/v1/templates/{id}/import",
  id: "importDocument",
  needsRoom: true,
  summary: "Turn a Word file into a Document-mode body; stores nothing",
  permission: "template:write",
  params: id,
  body: { kind: "raw", types: { [docx]: templateLimits.docxBytes } },
  responses: { 200: json(DocumentImport) },
  errors: ["conflict", "payload-too-large", "unsupported-media-type", "invalid-document"],
});
export const saveTemplateDraft = endpoint({
  ...common,
  method: "PUT",
  path: "/v1/templates/{id}/draft",
  id: "saveTemplateDraft",
  summary: "Create or replace the draft",
  permission: "template:write",
  params: id,
  body: { kind: "json", schema: SaveTemplateDraft, maxBytes: templateLimits.draftBytes },
  responses: { 200: { ...json(TemplateVersion), headers: { ETag: "Of the saved draft; give it back as If-Match" } } },
  links: {
    publishTemplate: { parameters: ofTemplate },
    getTemplateVersion: { parameters: { ...ofTemplate, version: "draft" } },
    getTemplateDocument: { parameters: { ...ofTemplate, version: "draft" } },
    renderTemplate: { parameters: { ...ofTemplate, version: "draft" } },
  },
  errors: ["precondition-failed"],
});
export const publishTemplate = endpoint({
  ...common,
  method: "POST",
  path: "/v1/templates/{id}/publish",
  id: "publishTemplate",
  needsRoom: true,
  summary: "Publish the draft as a new immutable version",
  permission: "template:publish",
  idempotent: true,
  params: id,
  responses: { 201: json(TemplateVersion) },
  errors: ["draft-missing", "render-failed"],
});
export const listTemplateVersions = endpoint({
  ...common,
  method: "GET",
  path: "/v1/templates/{id}/versions",
  id: "listTemplateVersions",
  summary: "List versions, the draft first, then newest first",
  permission: "template:read",
  params: id,
  query: z.strictObject({ limit: limitOf(20), cursor: Cursor.optional() }),
  responses: { 200: json(TemplateVersionList) },
});
export const getTemplateVersion = endpoint({
  ...common,
  method: "GET",
  path: "/v1/templates/{id}/versions/{version}",
  id: "getTemplateVersion",
  summary: "Get a version",
  permission: "template:read",
  params: idAndVersion,
  responses: { 200: { ...json(TemplateVersion), headers: { ETag: "Of the draft" } } },
});
export const getTemplateDocument = endpoint({
  ...common,
  method: "GET",
  path: "/v1/templates/{id}/versions/{version}/document",
  id: "getTemplateDocument",
  summary: "Get the base PDF of a version",
  permission: "template:read",
  params: idAndVersion,
  query: z.strictObject({
    edited: QueryBoolean.optional().meta({
      description: "For a draft: with its white-outs, texts and pictures applied",
    }),
  }),
  responses: { 200: pdfBytes },
  errors: ["document-not-ready", "render-failed"],
});
export const renderTemplate = endpoint({
  ...common,
  method: "POST",
  path: "/v1/templates/{id}/versions/{version}/render",
  id: "renderTemplate",
  summary: "Render a preview, watermarked PREVIEW",
  permission: "template:read",
  idempotent: true,
  params: idAndVersion,
  body: { kind: "json", schema: RenderPreview, maxBytes: 1024 * 1024, optional: true },
  responses: { 200: pdfBytes },
  errors: ["render-failed"],
});

export const endpoints = [
  createTemplate,
  listTemplates,
  getTemplate,
  deleteTemplate,
  uploadTemplateFile,
  proposeFields,
  importDocument,
  saveTemplateDraft,
  publishTemplate,
  listTemplateVersions,
  getTemplateVersion,
  getTemplateDocument,
  renderTemplate,
] as const;
