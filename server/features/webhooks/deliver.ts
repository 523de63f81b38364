import { toTs } from "../../kernel/clock.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Commit } from "../../kernel/job-handler.ts";
import { OutboundError } from "../../kernel/outbound.ts";
import type { DeliveryErrorCode } from "./contract.ts";
import { enqueueAttempt, giveUp, newDelivery } from "./deliveries.ts";
import { watchFailing } from "./failing.ts";
import { nextAttempt } from "./schedule.ts";
import { signingSecrets } from "./secrets.ts";
import { signatureOf } from "./signature.ts";
import * as store from "./store.ts";
import type { DeliveryRow, EndpointRow, EventRow } from "./tables.ts";

/** From the look-up of the name to the last byte of the answer. */
const timeoutMs = 10_000;
/** What is read of an answer, and what is kept of it, in bytes. */
const readBytes = 64 * 1024;
const keptBytes = 1024;
/** How late an attempt may begin that was planned for the end of its time. */
const graceMs = 3_600_000;

/** How an attempt went; no error when it succeeded. */
type Outcome = Pick<DeliveryRow, "status_code" | "response_body" | "duration_ms"> & {
  error: { code: DeliveryErrorCode; message: string } | null;
};

/** Makes one attempt; what is to be recorded of it is committed by the caller. */
export async function deliver(deps: Deps, id: string): Promise<Commit | undefined> {
  const found = await store.findPending(deps.db.read, id);
  if (found === undefined) return undefined;
  const { delivery, endpoint, event } = found;
  // Events are kept for 90 days, and a redelivery may outlive its own.
  if (event === undefined) return (tx) => giveUp(tx, id);
  if (endpoint.enabled === 0) return (tx) => keepWaiting(tx, deps, delivery);
  const sentAt = deps.clock.now();
  // The first attempt is made however late it is: a machine that was off for a week has told nobody anything.
  if (delivery.attempt > 1 && sentAt > Date.parse(delivery.until) + graceMs) return (tx) => giveUp(tx, id);
  const outcome = await send(deps, endpoint, event, sentAt);
  return (tx) => record(tx, deps, delivery, endpoint.url, sentAt, outcome);
}

/** The endpoint may have been resumed while this attempt was looking: what waits was queued then, but for what was running. */
async function keepWaiting(tx: Tx, deps: Deps, delivery: DeliveryRow): Promise<void> {
  const endpoint = await store.findEndpoint(tx, delivery.endpoint);
  if (endpoint?.enabled === 1) await enqueueAttempt(tx, delivery, deps.clock.now());
}

async function send(deps: Deps, endpoint: EndpointRow, { id, body }: EventRow, sentAt: number): Promise<Outcome> {
  const timestamp = Math.floor(sentAt / 1000);
  const secrets = signingSecrets(deps, endpoint, toTs(sentAt));
  const headers = {
    "content-type": "application/json",
    "user-agent": "SvcWebhooks/1",
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatureOf(secrets, { id, timestamp, body }),
  };
  const begun = performance.now();
  const took = () => Math.round(performance.now() - begun);
  try {
    const request = { method: "POST", headers, body, timeoutMs, maxBytes: readBytes, cut: true };
    const answer = await deps.outbound.fetch("webhook", endpoint.url, request);
    const { status, headers: answered } = answer;
    const kept = answer.privateTarget ? null : beginningOf(answer.body);
    if (status >= 200 && status < 300)
      return { status_code: status, response_body: kept, duration_ms: took(), error: null };
    const retryAfter = answered["retry-after"];
    if (retryAfter !== undefined)
      deps.log.info(
        { endpoint: endpoint.id, status, retryAfter: String(retryAfter).slice(0, 64) },
        "a webhook endpoint names a time to wait",
      );
    const code = status >= 300 && status < 400 ? ("redirect" as const) : ("bad-status" as const);
    const error = { code, message: `the answer was ${status}` };
    return { status_code: status, response_body: kept, duration_ms: took(), error };
  } catch (thrown) {
    if (!(thrown instanceof OutboundError)) throw thrown;
    const { code, message, status = null } = thrown;
    const error = { code: code === "url-not-allowed" ? ("address-blocked" as const) : code, message };
    return { status_code: status, response_body: null, duration_ms: took(), error };
  }
}

/** The start of an answer as text, cut between two characters. */
function beginningOf(body: Uint8Array): string {
  return new TextDecoder().decode(body.subarray(0, keptBytes), { stream: body.length > keptBytes });
}

async function record(
  tx: Tx,
  deps: Deps,
  delivery: DeliveryRow,
  url: string,
  sentAt: number,
  { error, ...answer }: Outcome,
): Promise<void> {
  const now = deps.clock.now();
  const next = error === null ? null : nextAttempt(delivery.attempt, now, Date.parse(delivery.until));
  const settled = await store.settleDelivery(tx, delivery.id, {
    ...answer,
    status: error === null ? "succeeded" : "failed",
    error_code: error?.code ?? null,
    error_message: error?.message ?? null,
    url,
    sent_at: toTs(sentAt),
    next_attempt_at: next === null ? null : toTs(next),
    final: next === null ? 1 : 0,
  });
  // Endpoint or event were deleted while the receiver answered.
  if (!settled) return;
  const endpoint = await store.findEndpoint(tx, delivery.endpoint);
  if (endpoint === undefined) return;
  // It has been pointed elsewhere while the old receiver answered: that one's health is no longer of interest.
  const current = endpoint.url === url;
  if (error === null) {
    if (!current) return;
    const health = { last_success_at: toTs(now), failing_since: null, alarmed_at: null };
    await store.updateEndpoint(tx, endpoint.id, { ...health, last_status_code: answer.status_code });
    return;
  }
  if (current) await noteFailure(tx, endpoint, answer.status_code, now);
  if (next === null) return;
  const { event, event_type: type, until } = delivery;
  const plan = { attempt: delivery.attempt + 1, trigger: "retry" as const, at: next, createdAt: now };
  const following = newDelivery(
    { endpoint: endpoint.id, url: endpoint.url, event, type },
    { ...plan, until: Date.parse(until) },
  );
  await store.insertDeliveries(tx, [following]);
  if (endpoint.enabled === 1) await enqueueAttempt(tx, following, next);
}

async function noteFailure(tx: Tx, endpoint: EndpointRow, statusCode: number | null, now: number): Promise<void> {
  const at = toTs(now);
  const since = endpoint.failing_since ?? at;
  const health = { last_failure_at: at, last_status_code: statusCode, failing_since: since };
  await store.updateEndpoint(tx, endpoint.id, health);
  if (endpoint.failing_since === null) await watchFailing(tx, endpoint.id, since);
}
