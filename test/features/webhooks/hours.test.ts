import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { WebhookEndpoint, WebhookHour } from "../../../server/features/webhooks/contract.ts";
import { newDelivery } from "../../../server/features/webhooks/deliveries.ts";
import { insertDeliveries } from "../../../server/features/webhooks/store.ts";
import { toTs } from "../../../server/kernel/clock.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";

const clock = movableClock("2026-03-02T09:20:00.000Z");
let app: TestAppliance;
beforeAll(async () => {
  app = await startAppliance({ clock });
});
afterAll(() => app.stop());

test("the attempts of an endpoint are counted by the hour of the last day", async () => {
  const json = { url: "https://8.8.8.8/hooks" };
  const { id, url } = WebhookEndpoint.parse((await app.json("/v1/webhook-endpoints", { json })).body);
  const attempt = (endpoint: string, at: string, status: "succeeded" | "failed" | "pending") => {
    const plan = { attempt: 1, trigger: "event", at: 0, createdAt: 0, until: 0 } as const;
    const of = { endpoint, url, event: "evt_1", type: "envelope.created" } as const;
    return { ...newDelivery(of, plan), status, sent_at: status === "pending" ? null : toTs(Date.parse(at)) };
  };
  const rows = [
    attempt(id, "2026-03-02T09:19:00.000Z", "succeeded"),
    attempt(id, "2026-03-02T09:00:00.000Z", "succeeded"),
    attempt(id, "2026-03-02T09:10:00.000Z", "failed"),
    attempt(id, "2026-03-02T09:10:00.000Z", "pending"),
    attempt(id, "2026-03-01T10:00:00.000Z", "failed"),
    attempt(id, "2026-03-01T09:59:59.999Z", "failed"),
    attempt("whe_other", "2026-03-02T09:10:00.000Z", "failed"),
  ];
  await app.deps.db.tx((tx) => insertDeliveries(tx, rows));
  const headers = { cookie: await app.signIn(), origin: new URL(app.url).origin };
  const answer = await app.json(`/auth/webhook-endpoints/${id}/hours`, { key: null, headers });
  const { hours } = z.object({ hours: z.array(WebhookHour) }).parse(answer.body);
  expect(hours).toHaveLength(24);
  expect(hours[0]).toEqual({ hour: "2026-03-01T10:00:00.000Z", succeeded: 0, failed: 1 });
  expect(hours[23]).toEqual({ hour: "2026-03-02T09:00:00.000Z", succeeded: 2, failed: 1 });
  expect(hours.slice(1, 23).every(({ succeeded, failed }) => succeeded + failed === 0)).toBe(true);
});
