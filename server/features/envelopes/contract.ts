import { z } from "zod";
import { endpoint } from "../../kernel/endpoint.ts";
import {
  Actor,
  Cursor,
  Email,
  Hex64,
  Locale,
  limitOf,
  listOf,
  Metadata,
  pageQuery,
  pdf,
  QueryBoolean,
  Ts,
} from "../../kernel/wire.ts";
import {
  AttachmentType,
  FieldInput,
  RecipientKind,
  ReminderSettings,
  VariableValue,
  Verification,
  Warning,
} from "../templates/contract.ts";
import { AuditEntry, AuditTrail } from "./audit-contract.ts";

/** Envelopes: creation, state, people, documents (contract §3); the audit trail's shapes come from audit-contract.ts. */

export { AuditEntry, AuditTrail, AuditType, AuditVerification, EventType, eventTypes } from "./audit-contract.ts";

export const envelopeStatuses = ["rendering", "sent", "completed", "declined", "voided", "expired"] as const;
export const EnvelopeStatus = z.enum(envelopeStatuses).meta({ id: "EnvelopeStatus" });
export type EnvelopeStatus = z.infer<typeof EnvelopeStatus>;

export const sealStatuses = ["not_started", "pending", "sealed", "failed"] as const;
export const SealStatus = z.enum(sealStatuses).meta({ id: "SealStatus" });
export type SealStatus = z.infer<typeof SealStatus>;

export const recipientStatuses = ["pending", "sent", "viewed", "completed", "declined", "canceled"] as const;
export const RecipientStatus = z.enum(recipientStatuses).meta({ id: "RecipientStatus" });
export type RecipientStatus = z.infer<typeof RecipientStatus>;

export const Delivery = z.enum(["email", "embedded"]).meta({
  id: "Delivery",
  description:
    "`embedded`: no signing request by mail; sign through sessions made with POST /v1/envelopes/{id}/sessions",
});
export type Delivery = z.infer<typeof Delivery>;

export const maxRecipients = 20;
export const maxCarbonCopies = 20;
export const maxViewers = 100;

const personName = z.string().trim().min(1).max(200);

export const RecipientInput = z
  .strictObject({
    role: z.string().min(1).max(64).meta({ description: "Role of the template version" }),
    name: personName,
    email: Email,
    phone: z
      .string()
      .regex(/^\+[1-9]\d{6,14}$/, "Use the international form, for example +41441234567.")
      .optional(),
    locale: Locale.optional(),
    order: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .meta({ description: "Turn; equal numbers sign at the same time. Default: the role's" }),
    delivery: Delivery.default("email"),
    verification: Verification.optional().meta({ description: "Default: the role's" }),
    redirectUrl: z.string().max(2048).optional(),
  })
  .meta({ id: "RecipientInput" });
export type RecipientInput = z.output<typeof RecipientInput>;

export const PersonInput = z
  .strictObject({ email: Email, name: personName.optional(), locale: Locale.optional() })
  .meta({ id: "PersonInput" });
export type PersonInput = z.output<typeof PersonInput>;

export const CreateEnvelope = z
  .strictObject({
    template: z.string().min(1).max(64).meta({ description: "Template id" }),
    templateVersion: z.union([z.int().min(1), z.literal("latest")]).default("latest"),
    title: z.string().trim().min(1).max(200).optional().meta({ description: "Default: name of the template" }),
    message: z.string().max(2000).optional(),
    recipients: z.array(RecipientInput).max(maxRecipients),
    cc: z.array(PersonInput).max(maxCarbonCopies).default([]),
    viewers: z.array(PersonInput).max(maxViewers).default([]),
    viewerDocumentAccess: z.boolean().default(false),
    variables: z.record(z.string(), VariableValue).default({}),
    values: z
      .record(z.string(), z.record(z.string(), FieldInput))
      .default({})
      .meta({ description: "Prefilled values: role, then field id" }),
    externalId: z.string().min(1).max(255).optional(),
    dedupeOn: z.literal("external_id").optional().meta({
      description: "Answers with the existing envelope when one with this externalId exists in the same mode",
    }),
    metadata: Metadata.default({}),
    expiresAt: Ts.optional().meta({
      description: "One hour to 365 days ahead. Default: setting of the template version",
    }),
    reminders: ReminderSettings.nullable().optional(),
    locale: Locale.optional(),
  })
  .meta({
    id: "CreateEnvelope",
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

export const Recipient = z
  .object({
    id: z.string(),
    role: z.string(),
    kind: RecipientKind,
    status: RecipientStatus,
    locale: z.string().nullable(),
    name: z.string(),
    email: z.string(),
    phone: z.string().nullable(),
    order: z.int(),
    delivery: Delivery,
    verification: Verification,
    redirectUrl: z.string().nullable(),
    sentAt: Ts.nullable(),
    lastSentAt: Ts.nullable(),
    viewedAt: Ts.nullable(),
    verifiedAt: Ts.nullable(),
    completedAt: Ts.nullable(),
    declinedAt: Ts.nullable(),
    declineReason: z.string().nullable(),
    deliveryError: z
      .object({ code: z.enum(["bounced", "rejected", "unreachable"]), message: z.string(), at: Ts })
      .nullable(),
  })
  .meta({ id: "Recipient" });
export type Recipient = z.infer<typeof Recipient>;

export const CarbonCopy = z
  .object({
    id: z.string(),
    email: z.string(),
    name: z.string().nullable(),
    locale: z.string().nullable(),
    notifiedAt: Ts.nullable(),
  })
  .meta({ id: "CarbonCopy" });
export type CarbonCopy = z.infer<typeof CarbonCopy>;

export const Viewer = z
  .object({
    id: z.string(),
    email: z.string(),
    name: z.string().nullable(),
    locale: z.string().nullable(),
    documentAccess: z.boolean(),
    invitedAt: Ts.nullable(),
    firstViewedAt: Ts.nullable(),
    lastViewedAt: Ts.nullable(),
    createdAt: Ts,
  })
  .meta({ id: "Viewer" });
export type Viewer = z.infer<typeof Viewer>;

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
    variables: z.record(z.string(), VariableValue),
    recipients: z.record(z.string(), z.record(z.string(), FieldValue)),
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
    metadata: z.record(z.string(), z.string()),
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
  .strictObject({ reason: z.string().trim().min(1).max(500), notify: z.boolean().default(true) })
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
  q: z
    .string()
    .max(200)
    .optional()
    .meta({ description: "In title, externalId, name or e-mail of a recipient; or the id" }),
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

const id = z.object({ id: z.string() });
const jsonBytes = 1024 * 1024;
const tag = "Envelopes";
const one = { kind: "json", schema: Envelope } as const;

export const createEnvelope = endpoint({
  method: "POST",
  path: "/v1/envelopes",
  id: "createEnvelope",
  tag,
  summary: "Create and send an envelope; dry_run validates and renders only",
  credential: "key",
  permission: "envelope:send",
  idempotent: true,
  query: z.object({
    dry_run: QueryBoolean.optional(),
    test_mode: QueryBoolean.optional().meta({ description: "Dashboard sessions only; a key fixes the mode" }),
  }),
  body: { kind: "json", schema: CreateEnvelope, maxBytes: jsonBytes },
  responses: {
    201: { ...one, description: "Created" },
    200: {
      kind: "json",
      schema: z.union([EnvelopeDryRun, Envelope]),
      description: "A dry run, or with `x-deduplicated: true` the envelope that already has this externalId",
      headers: { "x-deduplicated": "`true` when the envelope existed before" },
    },
  },
  errors: ["payment-required", "plan-upgrade-required", "no-published-version", "render-failed"],
});

export const listEnvelopes = endpoint({
  method: "GET",
  path: "/v1/envelopes",
  id: "listEnvelopes",
  tag,
  summary: "List envelopes, newest first",
  credential: "key",
  permission: "envelope:read",
  query: ListEnvelopesQuery,
  responses: { 200: { kind: "json", schema: EnvelopeList } },
});

export const getEnvelope = endpoint({
  method: "GET",
  path: "/v1/envelopes/{id}",
  id: "getEnvelope",
  tag,
  summary: "Get an envelope",
  credential: "key",
  permission: "envelope:read",
  params: id,
  responses: { 200: one },
});

export const getDocument = endpoint({
  method: "GET",
  path: "/v1/envelopes/{id}/document",
  id: "getEnvelopeDocument",
  tag,
  summary: "Download the rendered original, the sealed PDF or the certificate of completion",
  credential: "key",
  permission: "envelope:read",
  params: id,
  query: z.object({ version: z.enum(documentVersions).default("original") }),
  responses: { 200: { kind: "bytes", types: [pdf] } },
  errors: ["document-not-ready"],
});

export const voidEnvelope = endpoint({
  method: "POST",
  path: "/v1/envelopes/{id}/void",
  id: "voidEnvelope",
  tag,
  summary: "Void an envelope in progress",
  credential: "key",
  permission: "envelope:void",
  idempotent: true,
  params: id,
  body: { kind: "json", schema: VoidEnvelope, maxBytes: jsonBytes },
  responses: { 200: one },
  errors: ["envelope-not-in-progress"],
});

export const addViewers = endpoint({
  method: "POST",
  path: "/v1/envelopes/{id}/viewers",
  id: "addViewers",
  tag,
  summary: "Add viewers to an envelope in progress",
  credential: "key",
  permission: "envelope:send",
  params: id,
  body: { kind: "json", schema: AddViewers, maxBytes: jsonBytes },
  responses: { 200: { kind: "json", schema: ViewerList } },
  errors: ["plan-upgrade-required", "envelope-not-in-progress"],
});

export const deleteViewer = endpoint({
  method: "DELETE",
  path: "/v1/envelopes/{id}/viewers/{viewer}",
  id: "deleteViewer",
  tag,
  summary: "Revoke a viewer",
  credential: "key",
  permission: "envelope:send",
  params: z.object({ id: z.string(), viewer: z.string() }),
  responses: { 204: { kind: "empty" } },
});

export const resendToRecipient = endpoint({
  method: "POST",
  path: "/v1/envelopes/{id}/recipients/{recipient}/resend",
  id: "resendToRecipient",
  tag,
  summary: "E-mail a fresh signing link; earlier links of this recipient stop working",
  credential: "key",
  permission: "envelope:send",
  idempotent: true,
  params: z.object({ id: z.string(), recipient: z.string() }),
  responses: { 200: { kind: "json", schema: Recipient } },
  errors: ["envelope-not-in-progress", "not-recipients-turn", "recipient-finished", "rate-limited"],
});

export const listEvents = endpoint({
  method: "GET",
  path: "/v1/envelopes/{id}/events",
  id: "listEnvelopeEvents",
  tag,
  summary: "The audit trail, oldest first, with the check of its hash chain",
  credential: "key",
  permission: "envelope:read",
  params: id,
  query: z.object({ limit: limitOf(100), cursor: Cursor.optional() }),
  responses: { 200: { kind: "json", schema: AuditTrail } },
});

export const streamEvents = endpoint({
  method: "GET",
  path: "/v1/envelopes/{id}/events/stream",
  id: "streamEnvelopeEvents",
  tag,
  summary: "The audit trail as server-sent events; `Last-Event-ID` resumes after a `seq`",
  credential: "key",
  permission: "envelope:read",
  params: id,
  responses: {
    200: {
      kind: "events",
      schema: AuditEntry,
      description: "Each `data` is one entry; `event: end` closes the stream",
    },
    204: { kind: "empty", description: "The envelope is settled and the caller has seen its last entry" },
  },
});

export const endpoints = [
  createEnvelope,
  listEnvelopes,
  getEnvelope,
  getDocument,
  voidEnvelope,
  addViewers,
  deleteViewer,
  resendToRecipient,
  listEvents,
  streamEvents,
];
