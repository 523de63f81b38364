import { expect, test } from "vitest";
import { createEvents } from "../../server/kernel/events.ts";
import { createLog } from "../../server/kernel/log.ts";
import { createMetrics } from "../../server/kernel/metrics.ts";

function capture() {
  const lines: string[] = [];
  const log = createLog("info", { write: (line: string) => void lines.push(line) });
  return { log, last: () => JSON.parse(lines.at(-1) ?? "{}"), lines };
}

test("an entry is one JSON line with its level by name and its time", () => {
  const { log, last } = capture();
  log.child({ request: "req_1" }).info({ envelope: "env_1" }, "sealed");
  expect(last()).toMatchObject({ level: "info", request: "req_1", envelope: "env_1", msg: "sealed" });
  expect(last().time).toMatch(/^\d{4}-.*Z$/);
});

test("secrets are struck out at every level that is logged", () => {
  const { log, last, lines } = capture();
  const secret = "svc_live_hidden";
  const all = {
    authorization: secret,
    cookie: secret,
    "x-api-key": secret,
    token: secret,
    password: secret,
    code: secret,
  };
  log.info({ ...all, secret, key: secret, request: { headers: all }, headers: { "set-cookie": secret } }, "call");
  expect(lines.join("")).not.toContain("hidden");
  expect(last().request.headers.cookie).toBe("[redacted]");
});

test("an error is logged with stack, cause and system code, and without what else hangs on it", () => {
  const { log, last, lines } = capture();
  const cause = Object.assign(new Error("inner"), { code: "ENOENT", body: "private words" });
  log.error({ err: Object.assign(new Error("outer", { cause }), { request: { body: "private words" } }) }, "failed");
  expect(last().err).toMatchObject({
    type: "Error",
    message: "outer",
    cause: { message: "inner", errorCode: "ENOENT" },
  });
  expect(last().err.stack).toContain("log.test");
  expect(lines.join("")).not.toContain("private words");
});

test("metrics come out in Prometheus text, queue depths asked at the scrape", async () => {
  const metrics = createMetrics();
  metrics.httpRequests.inc({ method: "GET", route: "/v1/envelopes/:id", status: "200" });
  metrics.measureQueue({
    depths: async () => ({ queued: 3, running: 1, dead: 2 }),
    ages: async () => new Map([["mail", 12.5]]),
  });
  const { contentType, text } = await metrics.render();
  expect(contentType).toContain("text/plain");
  expect(text).toContain('signet_http_requests_total{method="GET",route="/v1/envelopes/:id",status="200"} 1');
  expect(text).toContain('signet_jobs{status="dead"} 2');
  expect(text).toContain('signet_job_queue_age_seconds{queue="mail"} 12.5');
  expect(text).toContain("process_resident_memory_bytes");
  expect((await metrics.render()).text).toContain("signet_jobs");
});

test("subscribers of a topic are told until they leave", () => {
  const events = createEvents();
  const seen: string[] = [];
  const listener = () => void seen.push("x");
  const first = events.subscribe("a", listener);
  const second = events.subscribe("a", () => {
    seen.push("y");
    second();
  });
  events.publish("a");
  events.publish("b");
  events.publish("a");
  first();
  first();
  events.publish("a");
  expect(seen).toEqual(["x", "y", "x"]);
});
