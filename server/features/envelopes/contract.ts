import { z } from "zod";
import { endpoint } from "../../kernel/endpoint.ts";
import { Cursor, limitOf, pdf, QueryBoolean } from "../../kernel/wire.ts";
import { AuditEntry, AuditTrail } from "./audit-contract.ts";
import { endpoints as dashboardEndpoints } from "./dashboard-contract.ts";
import {
  AddViewers,
  CreateEnvelope,
  documentVersions,
  Envelope,
  EnvelopeDryRun,
  EnvelopeList,
  ListEnvelopesQuery,
  ViewerList,
  VoidEnvelope,
} from "./envelope-contract.ts";
import { Recipient } from "./people-contract.ts";

/** Operations on envelopes (contract §14). Their shapes are written in the files beside; what others need comes from here. */

export { AuditTrail } from "./audit-contract.ts";
export {
  AttachmentValue,
  CreateEnvelope,
  type DocumentVersion,
  Envelope,
  EnvelopeDryRun,
  EnvelopeList,
  EnvelopeStatus,
  EnvelopeValues,
  envelopeStatuses,
  FieldValue,
  ListEnvelopesQuery,
  SealStatus,
  sealLevels,
  sources,
  VoidEnvelope,
} from "./envelope-contract.ts";
export {
  CarbonCopy,
  Delivery,
  PersonInput,
  Recipient,
  RecipientInput,
  RecipientStatus,
  recipientStatuses,
  Viewer,
} from "./people-contract.ts";

const id = z.object({ id: z.string() });
const jsonBytes = 1024 * 1024;
const tag = "Envelopes";
const one = { kind: "json", schema: Envelope } as const;

export const createEnvelope = endpoint({
  method: "POST",
  path: "/v1/envelopes",
  id: "createEnvelope",
  needsRoom: true,
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
  links: {
    createSigningSession: {
      parameters: { id: "$response.body#/id" },
      body: { recipient: "$response.body#/recipients/0/id" },
    },
  },
  errors: ["payment-required", "plan-upgrade-required", "feature-disabled", "no-published-version", "render-failed"],
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
  errors: ["document-not-ready", "conflict"],
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
  ...dashboardEndpoints,
];
