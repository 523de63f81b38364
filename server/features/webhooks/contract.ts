import { z } from "zod";
import { endpoint } from "../../kernel/endpoint.ts";
import { blank } from "../../kernel/text-patterns.ts";
import { Line, listOf, pageQuery, QueryBoolean, Ts } from "../../kernel/wire.ts";
import { EventType } from "../envelopes/audit-contract.ts";
import { Envelope, EnvelopeValues } from "../envelopes/contract.ts";

/** Webhook endpoints, the events that are sent to them, and the record of each attempt (contract §8). Isomorphic. */

const id = z.string();

export const Event = z
  .object({
    id: z.string().meta({ description: "evt_…; the same on every attempt, and the header `webhook-id`" }),
    type: EventType,
    createdAt: Ts,
    testMode: z.boolean(),
    data: z.object({
      envelope: Envelope.nullable().meta({ description: "As of the event; null on `webhook.test` alone" }),
      values: EnvelopeValues.optional().meta({ description: "On `envelope.completed` alone" }),
      recipient: id.optional().meta({ description: "rcp_…, on `recipient.*`" }),
      signingLink: id.optional().meta({ description: "lnk_…, on `signing_link.used`" }),
      endpoint: id.optional().meta({ description: "whe_…, on `webhook.test`" }),
    }),
  })
  .meta({ id: "Event", description: "What is posted to a webhook endpoint" });
export type Event = z.infer<typeof Event>;

const about = (type: EventType, data: Record<string, z.ZodType>) =>
  z.object({
    ...Event.shape,
    type: z.literal(type),
    data: z.object({ envelope: Envelope, ...data }),
  });
const ofRecipient = { recipient: id.meta({ description: "rcp_…" }) };

/** The body of each type that is sent. */
export const eventSchemas = {
  "envelope.created": about("envelope.created", {}).meta({ id: "EnvelopeCreatedEvent" }),
  "envelope.ready": about("envelope.ready", {}).meta({ id: "EnvelopeReadyEvent" }),
  "recipient.sent": about("recipient.sent", ofRecipient).meta({ id: "RecipientSentEvent" }),
  "recipient.viewed": about("recipient.viewed", ofRecipient).meta({ id: "RecipientViewedEvent" }),
  "recipient.signed": about("recipient.signed", ofRecipient).meta({ id: "RecipientSignedEvent" }),
  "recipient.declined": about("recipient.declined", ofRecipient).meta({ id: "RecipientDeclinedEvent" }),
  "envelope.completed": about("envelope.completed", { values: EnvelopeValues }).meta({ id: "EnvelopeCompletedEvent" }),
  "envelope.sealed": about("envelope.sealed", {}).meta({ id: "EnvelopeSealedEvent" }),
  "envelope.declined": about("envelope.declined", {}).meta({ id: "EnvelopeDeclinedEvent" }),
  "envelope.voided": about("envelope.voided", {}).meta({ id: "EnvelopeVoidedEvent" }),
  "envelope.expired": about("envelope.expired", {}).meta({ id: "EnvelopeExpiredEvent" }),
  "signing_link.used": about("signing_link.used", { signingLink: id }).meta({ id: "SigningLinkUsedEvent" }),
  "webhook.test": z
    .object({
      ...Event.shape,
      type: z.literal("webhook.test"),
      data: z.object({ envelope: z.null(), endpoint: id.meta({ description: "whe_…" }) }),
    })
    .meta({ id: "WebhookTestEvent" }),
} as const satisfies Partial<Record<EventType, z.ZodType>>;
export type SentEventType = keyof typeof eventSchemas;

export const WebhookHealth = z
  .object({
    successRate: z
      .number()
      .nullable()
      .meta({ description: "0 to 1, of the attempts of the last 24 hours; null without" }),
    attempts: z.int().meta({ description: "In the last 24 hours" }),
    lastSuccessAt: Ts.nullable(),
    lastFailureAt: Ts.nullable(),
    lastStatusCode: z.int().nullable().meta({ description: "Of the last attempt; null when it had no answer" }),
    failingSince: Ts.nullable().meta({ description: "First failure since the last success" }),
  })
  .meta({ id: "WebhookHealth" });

export const WebhookEndpoint = z
  .object({
    id: z.string(),
    url: z.string(),
    description: z.string().nullable(),
    events: z.array(EventType).meta({ description: "Empty for all" }),
    enabled: z.boolean(),
    testMode: z.boolean(),
    health: WebhookHealth,
    secretRotatedAt: Ts.nullable(),
    previousSecretExpiresAt: Ts.nullable().meta({ description: "Until then the secret before signs too" }),
    createdAt: Ts,
    updatedAt: Ts,
    secret: z.string().optional().meta({ description: "`whsec_…`, where an endpoint is created alone" }),
  })
  .meta({ id: "WebhookEndpoint" });
export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>;
export const WebhookEndpointList = listOf("WebhookEndpointList", WebhookEndpoint);

/** `https` without a user and a fragment. */
const httpsUrl = z
  .string()
  .max(2048)
  .refine((text) => {
    const url = /\s/.test(text) ? null : URL.parse(text);
    return url !== null && url.protocol === "https:" && url.username === "" && url.password === "" && url.hash === "";
  }, "Use an https URL without a user name and a fragment.")
  .meta({ format: "uri", pattern: `^https://[^@#${blank}]+$` });
const events = z
  .array(EventType)
  .max(EventType.options.length)
  .transform((types) => [...new Set(types)])
  .meta({ description: "Empty for all" });

export const CreateWebhookEndpoint = z
  .strictObject({
    url: httpsUrl,
    description: Line(500).optional(),
    events: events.optional(),
    testMode: z.boolean().optional().meta({ description: "Dashboard sessions only; a key fixes the mode" }),
  })
  .meta({
    id: "CreateWebhookEndpoint",
    example: {
      url: "https://crm.example.com/hooks/signet",
      description: "CRM",
      events: ["envelope.completed", "envelope.sealed"],
    },
  });
export type CreateWebhookEndpoint = z.output<typeof CreateWebhookEndpoint>;

export const UpdateWebhookEndpoint = z
  .strictObject({
    url: httpsUrl.optional(),
    description: Line(500).nullable().optional(),
    events: events.optional(),
    enabled: z.boolean().optional().meta({ description: "False pauses: events wait for up to three days" }),
  })
  .meta({ id: "UpdateWebhookEndpoint", example: { enabled: false } });
export type UpdateWebhookEndpoint = z.output<typeof UpdateWebhookEndpoint>;

export const WebhookSecret = z
  .object({ secret: z.string().meta({ description: "`whsec_…`" }), previousSecretExpiresAt: Ts.nullable() })
  .meta({ id: "WebhookSecret" });

export const deliveryStatuses = ["pending", "succeeded", "failed"] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];
export const deliveryTriggers = ["event", "retry", "redeliver", "test"] as const;
export type DeliveryTrigger = (typeof deliveryTriggers)[number];
export const deliveryErrorCodes = [
  "timeout",
  "dns",
  "connect",
  "tls",
  "address-blocked",
  "redirect",
  "bad-status",
  "too-large",
] as const;
export type DeliveryErrorCode = (typeof deliveryErrorCodes)[number];

export const WebhookDelivery = z
  .object({
    id: z.string(),
    endpoint: z.string(),
    event: z.string().meta({ description: "evt_…" }),
    eventType: EventType,
    attempt: z.int().meta({ description: "1 for the first" }),
    trigger: z.enum(deliveryTriggers),
    status: z.enum(deliveryStatuses),
    statusCode: z.int().nullable(),
    error: z.object({ code: z.enum(deliveryErrorCodes), message: z.string() }).nullable(),
    durationMs: z.int().nullable(),
    url: z.string(),
    responseBody: z.string().nullable().meta({
      description: "The first 1024 bytes of the answer; null where a private network answered",
    }),
    createdAt: Ts,
    sentAt: Ts.nullable(),
    nextAttemptAt: Ts.nullable(),
    final: z.boolean().meta({ description: "No further attempt follows" }),
  })
  .meta({ id: "WebhookDelivery", description: "One attempt" });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const WebhookHour = z.object({
  hour: Ts.meta({ description: "When it begins" }),
  succeeded: z.int(),
  failed: z.int(),
});
export type WebhookHour = z.infer<typeof WebhookHour>;

export const RedeliverEvent = z
  .strictObject({ endpoint: z.string().min(1).max(64).meta({ description: "whe_…" }) })
  .meta({ id: "RedeliverEvent", example: { endpoint: "whe_0123456789ABCDEFGHIJKLMN" } });

const tag = "Webhooks";
const params = z.object({ id });
const jsonBytes = 1024 * 1024;
const one = { kind: "json", schema: WebhookEndpoint } as const;
const secret = { kind: "json", schema: WebhookSecret } as const;
const attempt = { kind: "json", schema: WebhookDelivery, description: "The attempt, which is under way" } as const;
const managed = { tag, credential: "key", permission: "org:manage" } as const;

export const createWebhookEndpoint = endpoint({
  ...managed,
  method: "POST",
  path: "/v1/webhook-endpoints",
  id: "createWebhookEndpoint",
  summary: "Register an endpoint; its secret is shown once",
  idempotent: true,
  body: { kind: "json", schema: CreateWebhookEndpoint, maxBytes: jsonBytes },
  responses: { 201: { ...one, description: "With `secret`" } },
  errors: ["url-not-allowed", "conflict"],
});

export const listWebhookEndpoints = endpoint({
  ...managed,
  method: "GET",
  path: "/v1/webhook-endpoints",
  id: "listWebhookEndpoints",
  summary: "List endpoints with their delivery health, newest first",
  query: z.strictObject({
    ...pageQuery,
    testMode: QueryBoolean.optional().meta({ description: "Dashboard sessions; default false" }),
  }),
  responses: { 200: { kind: "json", schema: WebhookEndpointList } },
});

export const getWebhookEndpoint = endpoint({
  ...managed,
  method: "GET",
  path: "/v1/webhook-endpoints/{id}",
  id: "getWebhookEndpoint",
  summary: "Get an endpoint",
  params,
  responses: { 200: one },
});

export const updateWebhookEndpoint = endpoint({
  ...managed,
  method: "PATCH",
  path: "/v1/webhook-endpoints/{id}",
  id: "updateWebhookEndpoint",
  summary: "Change an endpoint, pause or resume it",
  params,
  body: { kind: "json", schema: UpdateWebhookEndpoint, maxBytes: jsonBytes },
  responses: { 200: one },
  errors: ["url-not-allowed"],
});

export const deleteWebhookEndpoint = endpoint({
  ...managed,
  method: "DELETE",
  path: "/v1/webhook-endpoints/{id}",
  id: "deleteWebhookEndpoint",
  summary: "Delete an endpoint with its deliveries; what waits to be sent is dropped",
  params,
  responses: { 204: { kind: "empty" } },
});

export const revealWebhookSecret = endpoint({
  method: "POST",
  path: "/v1/webhook-endpoints/{id}/secret",
  id: "revealWebhookSecret",
  tag,
  summary: "Reveal the signing secret",
  credential: "dashboard",
  permission: "org:manage",
  params,
  responses: { 200: secret },
  errors: ["fresh-sign-in-required"],
});

export const rotateWebhookSecret = endpoint({
  ...managed,
  method: "POST",
  path: "/v1/webhook-endpoints/{id}/secret/rotate",
  id: "rotateWebhookSecret",
  summary: "Replace the signing secret; the old one signs too for 24 hours",
  params,
  responses: { 200: secret },
});

export const listWebhookDeliveries = endpoint({
  ...managed,
  method: "GET",
  path: "/v1/webhook-endpoints/{id}/deliveries",
  id: "listWebhookDeliveries",
  summary: "List attempts of the last 30 days, newest first",
  params,
  query: z.strictObject({ ...pageQuery, status: z.enum(deliveryStatuses).optional() }),
  responses: { 200: { kind: "json", schema: listOf("WebhookDeliveryList", WebhookDelivery) } },
});

export const testWebhookEndpoint = endpoint({
  ...managed,
  method: "POST",
  path: "/v1/webhook-endpoints/{id}/test",
  id: "testWebhookEndpoint",
  summary: "Send a `webhook.test` event",
  params,
  responses: { 202: attempt },
  links: {
    redeliverEvent: { parameters: { id: "$response.body#/event" }, body: { endpoint: "$response.body#/endpoint" } },
  },
  errors: ["endpoint-disabled"],
});

export const redeliverEvent = endpoint({
  ...managed,
  method: "POST",
  path: "/v1/events/{id}/redeliver",
  id: "redeliverEvent",
  summary: "Deliver an event to an endpoint again; events are kept for 90 days",
  idempotent: true,
  params,
  body: { kind: "json", schema: RedeliverEvent, maxBytes: jsonBytes },
  responses: { 202: attempt },
  errors: ["mode-mismatch", "endpoint-disabled"],
});

export const replayEvents = endpoint({
  method: "POST",
  path: "/auth/webhook-endpoints/{id}/replay",
  id: "replayEvents",
  tag: "Dashboard",
  summary: "Deliver every event since a moment to an endpoint again",
  credential: "dashboard",
  permission: "org:manage",
  params,
  body: { kind: "json", schema: z.strictObject({ since: Ts }), maxBytes: jsonBytes },
  responses: { 202: { kind: "json", schema: z.object({ events: z.int() }) } },
  errors: ["endpoint-disabled", "conflict"],
  published: false,
});

export const getEvent = endpoint({
  method: "GET",
  path: "/auth/events/{id}",
  id: "getEvent",
  tag: "Dashboard",
  summary: "Get an event as it is sent",
  credential: "dashboard",
  permission: "org:manage",
  params,
  responses: { 200: { kind: "json", schema: Event } },
  published: false,
});

export const getWebhookHours = endpoint({
  method: "GET",
  path: "/auth/webhook-endpoints/{id}/hours",
  id: "getWebhookHours",
  tag: "Dashboard",
  summary: "Count the attempts of the present hour and of the 23 before, oldest first",
  credential: "dashboard",
  permission: "org:manage",
  params,
  responses: { 200: { kind: "json", schema: z.object({ hours: z.array(WebhookHour) }) } },
  published: false,
});

export const endpoints = [
  createWebhookEndpoint,
  listWebhookEndpoints,
  getWebhookEndpoint,
  updateWebhookEndpoint,
  deleteWebhookEndpoint,
  revealWebhookSecret,
  rotateWebhookSecret,
  listWebhookDeliveries,
  testWebhookEndpoint,
  redeliverEvent,
  replayEvents,
  getEvent,
  getWebhookHours,
] as const;
