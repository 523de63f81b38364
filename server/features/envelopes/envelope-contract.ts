import { z } from "zod";
import { recordOf } from "../../kernel/record.ts";
import {
  Actor,
  GivenLocale,
  Hex64,
  Key,
  Line,
  Lines,
  listOf,
  Metadata,
  pageQuery,
  QueryBoolean,
  QueryText,
  SomeLines,
  Ts,
} from "../../kernel/wire.ts";
import {
  AttachmentType,
  FieldInput,
  ReminderSettings,
  VariableValue,
  Verification,
  Warning,
} from "../templates/contract.ts";
import {
  CarbonCopy,
  Delivery,
  maxCarbonCopies,
  maxRecipients,
  maxViewers,
  PersonInput,
  Recipient,
  RecipientInput,
  Viewer,
} from "./people-contract.ts";

/** The envelope and what is sent to make, find and end one (contract §3). Isomorphic. */

export const envelopeStatuses = ["rendering", "sent", "completed", "declined", "voided", "expired"] as const;
export const EnvelopeStatus = z.enum(envelopeStatuses).meta({ id: "EnvelopeStatus" });
export type EnvelopeStatus = z.infer<typeof EnvelopeStatus>;

export const sealStatuses = ["not_started", "pending", "sealed", "failed"] as const;
export const SealStatus = z.enum(sealStatuses).meta({ id: "SealStatus" });
export type SealStatus = z.infer<typeof SealStatus>;

export const CreateEnvelope = z
  .strictObject({
    template: z.string().min(1).max(64).meta({ description: "Template id" }),
    templateVersion: z.union([z.int().min(1), z.literal("latest")]).default("latest"),
    title: Line(200).optional().meta({ description: "Default: name of the template" }),
    message: Lines(2000).optional(),
    recipients: z.array(RecipientInput).max(maxRecipients),
    cc: z.array(PersonInput).max(maxCarbonCopies).default([]),
    viewers: z.array(PersonInput).max(maxViewers).default([]),
    viewerDocumentAccess: z.boolean().default(false),
    variables: recordOf(z.string(), VariableValue).default({}),
    values: recordOf(z.string(), recordOf(z.string(), FieldInput))
      .default({})
      .meta({ description: "Prefilled values: role, then field id" }),
    externalId: Key(255).optional(),
    dedupeOn: z.literal("external_id").optional().meta({
      description: "Answers with the existing envelope when one with this externalId exists in the same mode",
    }),
    metadata: Metadata.default({}),
    expiresAt: Ts.optional().meta({
      description: "One hour to 365 days ahead. Default: setting of the template version",
    }),
    reminders: ReminderSettings.nullable().optional(),
    locale: GivenLocale.optional(),
  })
  .meta({
    id: "CreateEnvelope",
    dependentRequired: { dedupeOn: ["externalId"] },
    example: {
      template: "tpl_0123456789ABCDEFGHIJKLMN",
      title: "Rental agreement, Bahnhofstrasse 1",
      recipients: [
        { role: "tenant", name: "Ada Muster", email: "ada@example.com" },
        { role: "landlord", name: "Ben Beispiel", email: "ben@example.com", order: 2 },
      ],
      variables: { rent: 1850 },
      externalId: "contract-4711",
      dedupeOn: "external_id",
    },
  });
export type CreateEnvelope = z.output<typeof CreateEnvelope>;

export const SignatureValue = z
  .object({ method: z.enum(["draw", "type", "upload", "automatic"]), signedAt: Ts })
  .meta({ id: "SignatureValue" });
export type SignatureValue = z.infer<typeof SignatureValue>;

export const AttachmentValue = z
  .object({ id: z.string(), filename: z.string(), contentType: AttachmentType, size: z.int(), sha256: Hex64 })
  .meta({ id: "AttachmentValue" });
export type AttachmentValue = z.infer<typeof AttachmentValue>;

export const FieldValue = z.union([FieldInput, SignatureValue, z.array(AttachmentValue)]).meta({ id: "FieldValue" });
export type FieldValue = z.infer<typeof FieldValue>;

export const EnvelopeValues = z
  .object({
    variables: recordOf(z.string(), VariableValue),
    recipients: recordOf(z.string(), recordOf(z.string(), FieldValue)),
  })
  .meta({ id: "EnvelopeValues" });
export type EnvelopeValues = z.infer<typeof EnvelopeValues>;

export const Failure = z
  .object({ stage: z.enum(["render", "seal"]), code: z.string(), message: z.string(), at: Ts })
  .meta({ id: "EnvelopeFailure" });
export type Failure = z.infer<typeof Failure>;

export const sealLevels = ["B-T", "B-LT", "B-LTA"] as const;
export const sources = ["api", "dashboard", "signing_link"] as const;

export const Envelope = z
  .object({
    id: z.string(),
    status: EnvelopeStatus,
    seal: SealStatus,
    recipients: z.array(Recipient),
    externalId: z.string().nullable(),
    metadata: recordOf(z.string(), z.string()),
    testMode: z.boolean(),
    expiresAt: Ts.nullable(),
    reminders: ReminderSettings.nullable(),
    viewerDocumentAccess: z.boolean(),
    locale: z.string(),
    viewers: z.array(Viewer).optional().meta({ description: "Only where a single envelope is answered" }),
    title: z.string(),
    message: z.string().nullable(),
    template: z.string(),
    templateVersion: z.int(),
    cc: z.array(CarbonCopy),
    source: z.enum(sources),
    signingLink: z.string().nullable(),
    createdBy: Actor,
    pageCount: z.int().nullable(),
    documentSha256: Hex64.nullable().meta({ description: "The rendered original" }),
    sealedSha256: Hex64.nullable().meta({ description: "The newest sealed file" }),
    sealLevel: z.enum(sealLevels).nullable(),
    anchorSequence: z.int().nullable(),
    voidReason: z.string().nullable(),
    declinedBy: z.string().nullable(),
    declinedReason: z.string().nullable(),
    failure: Failure.nullable(),
    createdAt: Ts,
    updatedAt: Ts,
    sentAt: Ts.nullable(),
    completedAt: Ts.nullable(),
    declinedAt: Ts.nullable(),
    voidedAt: Ts.nullable(),
    expiredAt: Ts.nullable(),
    sealedAt: Ts.nullable(),
    warnings: z.array(Warning).optional().meta({
      description:
        "Only where a single envelope is answered: what had to be done to the uploaded document, as the certificate says too",
    }),
    values: EnvelopeValues.optional().meta({
      description: "GET /v1/envelopes/{id} only: the variables, and the values of the recipients that finished",
    }),
  })
  .meta({ id: "Envelope" });
export type Envelope = z.infer<typeof Envelope>;
export const EnvelopeList = listOf("EnvelopeList", Envelope);

export const EnvelopeDryRun = z
  .object({
    dryRun: z.literal(true),
    template: z.string(),
    templateVersion: z.int(),
    testMode: z.boolean(),
    pageCount: z.int(),
    documentSha256: Hex64,
    size: z.int(),
    recipients: z.array(
      z.object({
        role: z.string(),
        name: z.string(),
        email: z.string(),
        order: z.int(),
        delivery: Delivery,
        verification: Verification,
        fields: z.int(),
      }),
    ),
    unusedVariables: z.array(z.string()),
    warnings: z.array(Warning),
    wouldCount: z.boolean().meta({ description: "Whether its completion would count against the plan" }),
  })
  .meta({ id: "EnvelopeDryRun" });
export type EnvelopeDryRun = z.infer<typeof EnvelopeDryRun>;

export const VoidEnvelope = z
  .strictObject({ reason: SomeLines(500), notify: z.boolean().default(true) })
  .meta({ id: "VoidEnvelope", example: { reason: "Wrong address in clause 3" } });
export type VoidEnvelope = z.output<typeof VoidEnvelope>;

export const AddViewers = z
  .strictObject({ viewers: z.array(PersonInput).min(1).max(maxViewers) })
  .meta({ id: "AddViewers", example: { viewers: [{ email: "lea@example.com", name: "Lea Muster" }] } });
export type AddViewers = z.output<typeof AddViewers>;
export const ViewerList = listOf("ViewerList", Viewer);

export const ListEnvelopesQuery = z.object({
  status: EnvelopeStatus.optional(),
  seal: SealStatus.optional(),
  q: QueryText(200).optional().meta({ description: "In title, externalId, name or e-mail of a recipient; or the id" }),
  template: z
    .string()
    .regex(/^tpl_[A-Za-z0-9]{10,40}$/, "Use a template id.")
    .optional(),
  testMode: QueryBoolean.optional(),
  ...pageQuery,
});
export type ListEnvelopesQuery = z.output<typeof ListEnvelopesQuery>;

export const documentVersions = ["original", "sealed", "certificate"] as const;
export type DocumentVersion = (typeof documentVersions)[number];
