import type { AuditEntry, EventType } from "../envelopes/audit-contract.ts";
import { type EnvelopeRecord, presentListed, valuesOf } from "../envelopes/service.ts";
import { type Event, eventSchemas, type SentEventType } from "./contract.ts";
import type { EndpointRow } from "./tables.ts";

/** Events as they are sent (contract §8). */

/** Whether the entry of a trail is an event, too. */
export function isEvent(entry: AuditEntry): entry is AuditEntry & { type: SentEventType } {
  return Object.hasOwn(eventSchemas, entry.type);
}

/** The text that is sent: written once, the same on every attempt. */
export function bodyOf(entry: AuditEntry & { type: SentEventType }, record: EnvelopeRecord): string {
  const { recipient } = entry.data;
  const { signing_link: signingLink } = record.envelope;
  return textOf({
    id: entry.id,
    type: entry.type,
    createdAt: entry.at,
    testMode: record.envelope.test_mode === 1,
    data: {
      envelope: presentListed(record),
      ...(entry.type === "envelope.completed" ? { values: valuesOf(record) } : {}),
      ...(entry.type.startsWith("recipient.") && typeof recipient === "string" ? { recipient } : {}),
      ...(entry.type === "signing_link.used" && signingLink !== null ? { signingLink } : {}),
    },
  });
}

export function bodyOfTest({ id: endpoint, test_mode }: EndpointRow, id: string, createdAt: string): string {
  const data = { envelope: null, endpoint };
  return textOf({ id, type: "webhook.test", createdAt, testMode: test_mode === 1, data });
}

const textOf = (event: Event): string => JSON.stringify(event);

/** Whether an endpoint asks for events of this type. */
export function wants({ events }: Pick<EndpointRow, "events">, type: EventType): boolean {
  const types: unknown[] = JSON.parse(events);
  return types.length === 0 || types.includes(type);
}
