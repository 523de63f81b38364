import type { AuditObserver } from "../envelopes/service.ts";
import { queueDeliveries } from "./deliveries.ts";
import { bodyOf, isEvent, wants } from "./events.ts";
import * as store from "./store.ts";

/** Stores the events of an envelope and queues them for every endpoint of its mode that asks for them. */
export const storeEvents: AuditObserver = async (tx, deps, { envelope, entries, record }) => {
  if (entries.some(({ type }) => type === "envelope.documents_deleted")) await store.deleteEventsOf(tx, envelope);
  const told = entries.filter(isEvent);
  if (told.length === 0) return;
  const now = await record();
  const { organization, test_mode } = now.envelope;
  const events = told.map((entry) => ({
    id: entry.id,
    organization,
    test_mode,
    type: entry.type,
    envelope,
    body: bodyOf(entry, now),
    created_at: entry.at,
  }));
  await store.insertEvents(tx, events);
  const endpoints = await store.listEndpoints(tx, { organization, testMode: test_mode === 1 });
  const addressed = events.flatMap((event) =>
    endpoints.filter((endpoint) => wants(endpoint, event.type)).map((endpoint) => ({ endpoint, event })),
  );
  await queueDeliveries(tx, deps, addressed, "event");
};
