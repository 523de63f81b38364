import type { Ts } from "../../kernel/clock.ts";
import type { EventType } from "../envelopes/audit-contract.ts";
import type { DeliveryErrorCode, DeliveryStatus, DeliveryTrigger } from "./contract.ts";

export type EndpointRow = {
  /** whe_… */
  id: string;
  organization: string;
  test_mode: number;
  url: string;
  description: string | null;
  /** JSON array of event types; empty for all. */
  events: string;
  enabled: 0 | 1;
  /** Sealed; `whsec_` and the base64 of 32 bytes. */
  secret: string;
  previous_secret: string | null;
  previous_expires_at: Ts | null;
  rotated_at: Ts | null;
  last_success_at: Ts | null;
  last_failure_at: Ts | null;
  /** Of the last answer, whichever it was; null when the last attempt had none. */
  last_status_code: number | null;
  /** The first failure since the last success, or since it was resumed or got another URL. */
  failing_since: Ts | null;
  /** When the owners were told of it. */
  alarmed_at: Ts | null;
  created_at: Ts;
  updated_at: Ts;
};

export type EventRow = {
  /** evt_…, that of the audit entry it was made from; a test has one of its own. */
  id: string;
  organization: string;
  test_mode: number;
  type: EventType;
  envelope: string | null;
  /** What is sent, byte for byte, on every attempt. */
  body: string;
  created_at: Ts;
};

/** One attempt, made or still to be made. */
export type DeliveryRow = {
  /** dlv_… */
  id: string;
  endpoint: string;
  event: string;
  event_type: EventType;
  attempt: number;
  trigger: DeliveryTrigger;
  status: DeliveryStatus;
  status_code: number | null;
  error_code: DeliveryErrorCode | null;
  error_message: string | null;
  duration_ms: number | null;
  url: string;
  response_body: string | null;
  created_at: Ts;
  sent_at: Ts | null;
  next_attempt_at: Ts | null;
  final: 0 | 1;
  /** No attempt of this delivery is begun after that. */
  until: Ts;
};

declare module "../../kernel/db.ts" {
  interface Tables {
    webhook_endpoints: EndpointRow;
    webhook_events: EventRow;
    webhook_deliveries: DeliveryRow;
  }
}
