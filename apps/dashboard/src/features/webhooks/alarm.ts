import type { WebhookEndpoint } from "../../../../../server/features/webhooks/contract.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** Whether nothing has reached the endpoint for more than a day, as its owners are told by mail too. */
export function isAlarming({ enabled, health: { failingSince } }: WebhookEndpoint, now: number): boolean {
  return enabled && failingSince !== null && now - Date.parse(failingSince) >= dayMs;
}
