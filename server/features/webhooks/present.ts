import type { Ts } from "../../kernel/clock.ts";
import type { WebhookDelivery, WebhookEndpoint } from "./contract.ts";
import type { DeliveryRow, EndpointRow } from "./tables.ts";

/** Rows outward. */

/** @param sent attempts of the last 24 hours */
export function presentEndpoint(
  row: EndpointRow,
  sent: { succeeded: number; failed: number },
  now: Ts,
): WebhookEndpoint {
  const attempts = sent.succeeded + sent.failed;
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    events: JSON.parse(row.events),
    enabled: row.enabled === 1,
    testMode: row.test_mode === 1,
    health: {
      successRate: attempts === 0 ? null : sent.succeeded / attempts,
      attempts,
      lastSuccessAt: row.last_success_at,
      lastFailureAt: row.last_failure_at,
      lastStatusCode: row.last_status_code,
      failingSince: row.failing_since,
    },
    secretRotatedAt: row.rotated_at,
    previousSecretExpiresAt: stillSigning(row, now),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Until when the secret before signs too; null when it does not. */
export function stillSigning({ previous_expires_at: expires }: EndpointRow, now: Ts): Ts | null {
  return expires !== null && expires > now ? expires : null;
}

export function presentDelivery(row: DeliveryRow): WebhookDelivery {
  return {
    id: row.id,
    endpoint: row.endpoint,
    event: row.event,
    eventType: row.event_type,
    attempt: row.attempt,
    trigger: row.trigger,
    status: row.status,
    statusCode: row.status_code,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? "" },
    durationMs: row.duration_ms,
    url: row.url,
    responseBody: row.response_body,
    createdAt: row.created_at,
    sentAt: row.sent_at,
    nextAttemptAt: row.next_attempt_at,
    final: row.final === 1,
  };
}
