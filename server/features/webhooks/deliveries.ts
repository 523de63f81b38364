import { toTs } from "../../kernel/clock.ts";
import { decodeCursor, type Page, pageOf } from "../../kernel/cursor.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, invalid, notFound } from "../../kernel/errors.ts";
import { newId } from "../../kernel/ids.ts";
import { RetryLater } from "../../kernel/job-handler.ts";
import { findLive } from "../../kernel/job-store.ts";
import { enqueue } from "../../kernel/jobs.ts";
import type { Remember } from "../../kernel/request.ts";
import type { Actor } from "../../kernel/wire.ts";
import { recordAdminAct } from "../identity/service.ts";
import type { DeliveryStatus, DeliveryTrigger, WebhookDelivery, WebhookHour } from "./contract.ts";
import { bodyOfTest } from "./events.ts";
import { deliverEvent, releaseHeld, replayPage } from "./jobs.ts";
import { presentDelivery } from "./present.ts";
import { horizonMs } from "./schedule.ts";
import * as store from "./store.ts";
import type { DeliveryRow, EndpointRow, EventRow } from "./tables.ts";

type Addressed = { endpoint: EndpointRow; event: Pick<EventRow, "id" | "type"> };

/** Queues a first attempt for each, in the transaction of its cause; for a paused endpoint it waits for that to be resumed. */
export async function queueDeliveries(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  addressed: readonly Addressed[],
  trigger: Exclude<DeliveryTrigger, "retry">,
): Promise<DeliveryRow[]> {
  if (addressed.length === 0) return [];
  const now = deps.clock.now();
  const rows = addressed.map(({ endpoint, event }): DeliveryRow => {
    const fresh = { attempt: 1, trigger, at: now, createdAt: now, until: now + horizonMs };
    return newDelivery({ endpoint: endpoint.id, url: endpoint.url, event: event.id, type: event.type }, fresh);
  });
  await store.insertDeliveries(tx, rows);
  for (const [index, { endpoint }] of addressed.entries()) {
    const row = rows[index];
    if (row !== undefined && endpoint.enabled === 1) await enqueueAttempt(tx, row, now);
  }
  return rows;
}

/** An attempt to be made at `at`. Times are milliseconds since the epoch. */
export function newDelivery(
  of: { endpoint: string; url: string; event: string; type: EventRow["type"] },
  plan: { attempt: number; trigger: DeliveryTrigger; at: number; createdAt: number; until: number },
): DeliveryRow {
  return {
    id: newId("dlv"),
    endpoint: of.endpoint,
    event: of.event,
    event_type: of.type,
    attempt: plan.attempt,
    trigger: plan.trigger,
    status: "pending",
    status_code: null,
    error_code: null,
    error_message: null,
    duration_ms: null,
    url: of.url,
    response_body: null,
    created_at: toTs(plan.createdAt),
    sent_at: null,
    next_attempt_at: toTs(plan.at),
    final: 0,
    until: toTs(plan.until),
  };
}

/** One job an attempt: resuming an endpoint queues those that wait, and some of them may be queued still. */
export async function enqueueAttempt(tx: Tx, { id, endpoint }: DeliveryRow, runAt: number): Promise<void> {
  await enqueue(tx, deliverEvent, { delivery: id, endpoint }, { runAt, dedupeKey: `webhooks.deliver:${id}` });
}

/** Marks an attempt that is never made. */
export async function giveUp(tx: Tx, id: string): Promise<void> {
  await store.settleDelivery(tx, id, { status: "failed", final: 1, next_attempt_at: null });
}

const atOnce = 200;

/** Queues a page of what waited while the endpoint was paused, gives up what waited too long, and queues the next page. */
export async function releasePage(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  { endpoint: id, after }: { endpoint: string; after: string },
): Promise<void> {
  const endpoint = await store.findEndpoint(tx, id);
  if (endpoint === undefined || endpoint.enabled === 0) return;
  const now = deps.clock.now();
  const rows = await store.listPending(tx, id, { after, limit: atOnce });
  for (const row of rows) {
    if (Date.parse(row.until) < now) await giveUp(tx, row.id);
    else await enqueueAttempt(tx, row, Math.max(now, Date.parse(row.next_attempt_at ?? "") || now));
  }
  const last = rows.at(-1);
  if (last !== undefined && rows.length === atOnce) await enqueue(tx, releaseHeld, { endpoint: id, after: last.id });
}

/** One page, newest first. @throws AppError validation-failed for a cursor that is not ours */
export async function listDeliveries(
  deps: Deps,
  endpoint: string,
  query: { limit: number; cursor?: string | undefined; status?: DeliveryStatus | undefined },
): Promise<Page<WebhookDelivery>> {
  const list = `webhook-deliveries:${endpoint}`;
  const { status, limit, cursor } = query;
  const before = cursor === undefined ? undefined : decodeCursor(deps.secrets, list, cursor);
  const rows = await store.listDeliveries(deps.db.read, endpoint, { status, before, limit: limit + 1 });
  return pageOf(deps.secrets, list, rows, limit, (row) => ({ t: row.created_at, id: row.id }), presentDelivery);
}

const hourMs = 3_600_000;

/** How the attempts of the present hour and of the 23 before went, oldest first; hours are those of UTC. */
export async function hoursOf(deps: Pick<Deps, "clock" | "db">, endpoint: string): Promise<WebhookHour[]> {
  const present = Math.floor(deps.clock.now() / hourMs);
  const hours = Array.from({ length: 24 }, (_, index) => toTs((present - 23 + index) * hourMs));
  const counts = await store.countSentByHour(deps.db.read, endpoint, hours[0] ?? "");
  return hours.map((hour) => {
    const of = (status: DeliveryStatus) =>
      counts.find((count) => count.status === status && hour.startsWith(count.hour))?.count ?? 0;
    return { hour, succeeded: of("succeeded"), failed: of("failed") };
  });
}

/** @throws AppError endpoint-disabled while it is paused */
export async function sendTest(deps: Deps, { id }: EndpointRow): Promise<WebhookDelivery> {
  return await deps.db.tx(async (tx) => {
    const endpoint = await requireEnabled(tx, id);
    const { organization, test_mode } = endpoint;
    const event = { id: newId("evt"), type: "webhook.test" as const };
    const created_at = deps.clock.ts();
    const body = bodyOfTest(endpoint, event.id, created_at);
    await store.insertEvents(tx, [{ ...event, organization, test_mode, envelope: null, body, created_at }]);
    return await queueOne(tx, deps, { endpoint, event }, "test");
  });
}

async function requireEnabled(tx: Tx, id: string): Promise<EndpointRow> {
  const endpoint = await store.findEndpoint(tx, id);
  if (endpoint === undefined) throw notFound("The webhook endpoint");
  if (endpoint.enabled === 0) throw new AppError("endpoint-disabled");
  return endpoint;
}

async function queueOne(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  addressed: Addressed,
  trigger: "test" | "redeliver",
): Promise<WebhookDelivery> {
  const [row] = await queueDeliveries(tx, deps, [addressed], trigger);
  if (row === undefined) throw new Error("nothing was queued");
  return presentDelivery(row);
}

/**
 * Sends an event to an endpoint again, whatever types that one asks for, with a fresh schedule.
 * @throws AppError validation-failed for an endpoint that is unknown, mode-mismatch, endpoint-disabled
 */
export async function redeliver(
  deps: Deps,
  event: EventRow,
  to: string,
  owner: store.Owner,
  remember: Remember | null,
): Promise<WebhookDelivery> {
  return await deps.db.tx(async (tx) => {
    const found = await store.findOwnEndpoint(tx, to, owner);
    if (found === undefined) {
      throw invalid([{ pointer: "#/endpoint", code: "reference", detail: "There is no such webhook endpoint." }]);
    }
    if (found.test_mode !== event.test_mode) throw new AppError("mode-mismatch");
    const delivery = await queueOne(tx, deps, { endpoint: await requireEnabled(tx, to), event }, "redeliver");
    await remember?.(tx, { status: 202, body: delivery });
    return delivery;
  });
}

/**
 * Sends the events since a moment again, those of the types that the endpoint asks for.
 * @returns how many
 * @throws AppError endpoint-disabled; conflict while another replay to it is under way
 */
export async function replay(
  deps: Deps,
  { actor, ip }: { actor: Actor; ip: string | null },
  found: EndpointRow,
  since: string,
): Promise<number> {
  const { id, organization } = found;
  const until = deps.clock.ts();
  const after = { at: toTs(Date.parse(since)), id: "" };
  // Before the transaction: it reads every event since then.
  const events = await store.countEvents(deps.db.read, found, spanOf(found, after, until));
  return await deps.db.tx(async (tx) => {
    const endpoint = await requireEnabled(tx, id);
    if ((await findLive(tx, replayPage, id)).length > 0)
      throw new AppError("conflict", {
        detail: "Events are being sent to this endpoint again: wait for the end of that.",
      });
    if (events > 0) await enqueue(tx, replayPage, { endpoint: id, until, after });
    const data = { url: new URL(endpoint.url).origin, since: after.at, events };
    await recordAdminAct(tx, deps, organization, { actor, ip, action: "webhook.replayed", target: id, data });
    return events;
  });
}

function spanOf({ events }: EndpointRow, after: { at: string; id: string }, until: string): store.Span {
  return { after: { t: after.at, id: after.id }, until, types: JSON.parse(events) };
}

/** How many attempts of an endpoint may wait while a replay adds more: what happens meanwhile goes in between. */
const mostWaiting = 500;

/** @throws RetryLater while the endpoint has enough to do */
export async function awaitRoom(deps: Deps, endpoint: string): Promise<void> {
  if ((await store.countPending(deps.db.read, endpoint, mostWaiting)) >= mostWaiting)
    throw new RetryLater("the endpoint has enough to do", 5000);
}

/** One page of a replay, and the job for the next one. */
export async function queueReplayed(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  page: { endpoint: string; until: string; after: { at: string; id: string } },
): Promise<void> {
  const endpoint = await store.findEndpoint(tx, page.endpoint);
  if (endpoint === undefined) return;
  const span = spanOf(endpoint, page.after, page.until);
  const events = await store.listEvents(tx, endpoint, span, atOnce);
  await queueDeliveries(
    tx,
    deps,
    events.map((event) => ({ endpoint, event })),
    "redeliver",
  );
  const last = events.at(-1);
  if (last === undefined || events.length < atOnce) return;
  await enqueue(tx, replayPage, { ...page, after: { at: last.created_at, id: last.id } });
}
