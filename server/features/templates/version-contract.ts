import { z } from "zod";
import { Actor, Hex64, Locale, Ts } from "../../kernel/wire.ts";
import { DocumentContent } from "./document-content.ts";
import { isField, OverlayItem, Role } from "./fields.ts";
import { Variable } from "./variables.ts";

/** What a version of a template is (contract §2). Isomorphic. */

export const templateLimits = {
  pdfBytes: 25 * 1024 * 1024,
  docxBytes: 10 * 1024 * 1024,
  draftBytes: 5 * 1024 * 1024,
  pages: 500,
  roles: 20,
  fields: 500,
  items: 2000,
  variables: 200,
} as const;

export const TemplateMode = z.enum(["overlay", "document"]).meta({ id: "TemplateMode" });
export type TemplateMode = z.infer<typeof TemplateMode>;

export const PageBox = z
  .object({
    page: z.int().meta({ description: "1-based" }),
    width: z.number(),
    height: z.number(),
    rotation: z.union([z.literal(0), z.literal(90), z.literal(180), z.literal(270)]),
  })
  .meta({ id: "PageBox", description: "Size in points of a page as displayed" });
export type PageBox = z.infer<typeof PageBox>;
export const Warning = z
  .object({ code: z.string(), message: z.string(), page: z.int().optional(), count: z.int().optional() })
  .meta({ id: "Warning" });
export type Warning = z.infer<typeof Warning>;

export const OverlayContent = z
  .strictObject({
    mode: z.literal("overlay"),
    file: z.string().max(64).meta({ description: "tfl_…" }),
    items: z
      .array(OverlayItem)
      .max(templateLimits.items)
      .refine((items) => items.filter(isField).length <= templateLimits.fields, {
        message: `At most ${templateLimits.fields} fields.`,
        params: { code: "max" },
      }),
  })
  .meta({ id: "OverlayContent" });
export type OverlayContent = z.infer<typeof OverlayContent>;
export const TemplateContent = z
  .discriminatedUnion("mode", [OverlayContent, DocumentContent])
  .meta({ id: "TemplateContent" });
export type TemplateContent = z.infer<typeof TemplateContent>;

export const ReminderSettings = z
  .strictObject({
    firstAfterDays: z.int().min(1).max(30),
    everyDays: z.int().min(1).max(30).nullable(),
    max: z.int().min(1).max(10),
  })
  .meta({ id: "ReminderSettings" });
export type ReminderSettings = z.infer<typeof ReminderSettings>;

const signatureMethods = ["draw", "type", "upload"] as const;
export const settingsShape = {
  locale: Locale,
  expiresInDays: z.int().min(1).max(365).nullable(),
  reminders: ReminderSettings.nullable(),
  allowDecline: z.boolean(),
  allowReassign: z.boolean(),
  signatureMethods: z
    .array(z.enum(signatureMethods))
    .min(1)
    .refine((methods) => new Set(methods).size === methods.length, {
      message: "Name each method once.",
      params: { code: "duplicate" },
    })
    .meta({ uniqueItems: true }),
  consentText: z.string().min(1).max(10_000).nullable().meta({ description: "null: the built-in text of the locale" }),
};
export const VersionSettings = z.object(settingsShape).meta({ id: "VersionSettings" });
export type VersionSettings = z.infer<typeof VersionSettings>;
export const defaultSettings: VersionSettings = {
  locale: "en",
  expiresInDays: null,
  reminders: null,
  allowDecline: true,
  allowReassign: false,
  signatureMethods: ["draw", "type", "upload"],
  consentText: null,
};

export const TemplateVersion = z
  .object({
    template: z.string(),
    version: z.int().nullable().meta({ description: "null for the draft" }),
    status: z.enum(["draft", "published"]),
    mode: TemplateMode,
    content: TemplateContent,
    roles: z.array(Role),
    variables: z.array(Variable),
    settings: VersionSettings,
    pageCount: z.int().nullable(),
    warnings: z.array(Warning).meta({ description: "Of the file; of a published version also what publishing found" }),
    contentHash: Hex64.meta({
      description: "SHA-256 of the JCS of {mode, content, roles, variables, settings, fileSha256}",
    }),
    createdAt: Ts,
    updatedAt: Ts,
    publishedAt: Ts.nullable(),
    publishedBy: Actor.nullable(),
  })
  .meta({ id: "TemplateVersion" });
export type TemplateVersion = z.infer<typeof TemplateVersion>;
