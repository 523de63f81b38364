import type { WebhookSpec } from "../../kernel/openapi-webhooks.ts";
import { type EventType, eventTypes } from "../envelopes/audit-contract.ts";
import { eventSchemas, type SentEventType } from "./contract.ts";
import { eventExamples } from "./examples.ts";

/** When each type is sent (specification, Events). */
const summaries: Record<SentEventType, string> = {
  "envelope.created": "An envelope was created",
  "envelope.ready": "The document is rendered and the envelope is ready for its recipients",
  "recipient.sent": "It became a recipient's turn; with e-mail delivery, their link was sent",
  "recipient.viewed": "A recipient opened the signing page for the first time",
  "recipient.signed": "A recipient signed, or was countersigned automatically",
  "recipient.declined": "A recipient declined",
  "envelope.completed": "Every recipient has finished; `data.values` has what they filled in",
  "envelope.sealed": "The sealed PDF is ready to download",
  "envelope.declined": "The envelope ended because a recipient declined",
  "envelope.voided": "The envelope was voided",
  "envelope.expired": "`expiresAt` passed before every recipient had finished",
  "signing_link.used": "A visitor started an envelope from a signing link",
  "webhook.test": "A test was requested with `POST /v1/webhook-endpoints/{id}/test`",
};

const isSent = (type: EventType): type is SentEventType => Object.hasOwn(eventSchemas, type);

/** What is sent to webhook endpoints, for the description of the interface. */
export const webhooks: readonly WebhookSpec[] = eventTypes.filter(isSent).map((name) => ({
  name,
  summary: summaries[name],
  schema: eventSchemas[name],
  example: eventExamples[name],
}));
