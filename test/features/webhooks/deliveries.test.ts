import { createHmac } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { appendAudit, loadEnvelope } from "../../../server/features/envelopes/service.ts";
import { Event, WebhookDelivery, WebhookEndpoint, WebhookSecret } from "../../../server/features/webhooks/contract.ts";
import { queueDeliveries } from "../../../server/features/webhooks/deliveries.ts";
import { bodyOf } from "../../../server/features/webhooks/events.ts";
import { deliverEvent, replayPage, tidyWebhooks } from "../../../server/features/webhooks/jobs.ts";
import { findEndpoint, insertEvents } from "../../../server/features/webhooks/store.ts";
import { clampDelays } from "../../../server/kernel/job-store.ts";
import { enqueue } from "../../../server/kernel/jobs.ts";
import { systemActor } from "../../../server/kernel/wire.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { auditOf, enter, ok, publishTemplate, refusal, send, submission } from "../../harness/scenario.ts";
import { allowing, type Receiver, startReceiver } from "../../harness/webhook-receiver.ts";

/** What reaches a receiver, when, and what is recorded of it. */

const clock = movableClock();
let receiver: Receiver;
let app: TestAppliance;
let template: string;
beforeAll(async () => {
  receiver = await startReceiver();
  app = await startAppliance({ clock, env: allowing(receiver) });
  template = await publishTemplate(app);
});
afterAll(async () => {
  await app.stop();
  await receiver.stop();
});

const path = "/v1/webhook-endpoints";
const trailEntry = {
  v: 1 as const,
  seq: 9,
  id: "evt_LARGEST00000000000000000",
  type: "envelope.completed" as const,
  actor: systemActor,
  ip: null,
  userAgent: null,
  data: {},
  prevHash: "0".repeat(64),
  hash: "0".repeat(64),
};
beforeEach(async () => {
  await app.jobs.idle();
  const { data } = z.object({ data: z.array(z.object({ id: z.string() })) }).parse((await ok(app, 200, path)).body);
  for (const { id } of data) await ok(app, 204, `${path}/${id}`, { method: "DELETE" });
  receiver.received.length = 0;
  receiver.answer = (_request, response) => void response.writeHead(204).end();
});

async function endpoint(json: Record<string, unknown> = {}) {
  return WebhookEndpoint.parse((await ok(app, 201, path, { json: { url: receiver.url, ...json } })).body);
}
const endpointOf = async (id: string) => WebhookEndpoint.parse((await ok(app, 200, `${path}/${id}`)).body);
async function deliveriesOf(id: string, query = "") {
  const page = z.object({ data: z.array(WebhookDelivery), hasMore: z.boolean(), nextCursor: z.string().nullable() });
  return page.parse((await ok(app, 200, `${path}/${id}/deliveries?${query}`)).body);
}
async function ping(id: string) {
  // What is made in the same millisecond stands in no order.
  clock.advance(1);
  return WebhookDelivery.parse((await ok(app, 202, `${path}/${id}/test`, { method: "POST" })).body);
}
const runTidy = async () => {
  await app.deps.db.tx((tx) => enqueue(tx, tidyWebhooks, {}));
  await app.jobs.idle();
};
async function later(ms: number) {
  clock.advance(ms);
  app.jobs.wake();
  await app.jobs.idle();
}
const answering = (status: number, headers: Record<string, string> = {}, body = "no") => {
  receiver.answer = (_request, response) => void response.writeHead(status, headers).end(body);
};
const signed = (secret: string | undefined, { headers, body }: Receiver["received"][number]) => {
  const key = Buffer.from((secret ?? "").slice("whsec_".length), "base64");
  const text = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  return `v1,${createHmac("sha256", key).update(text).digest("base64")}`;
};

test("every event of an envelope's life is posted once, signed, with the envelope as it was then", async () => {
  const { id, secret } = await endpoint();
  const { id: envelope } = await send(app, template);
  for (const email of ["ada@example.com", "ben@example.com"]) {
    const bearer = await enter(app, email);
    await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
    await app.jobs.idle();
  }
  const trail = (await auditOf(app, envelope)).data;
  const types = new Set<string>(Event.shape.type.options);
  const wanted = trail.filter(({ type }) => types.has(type)).map(({ id }) => id);
  expect(wanted).toHaveLength(10);
  expect(receiver.received.map(({ headers }) => headers["webhook-id"]).sort()).toEqual([...wanted].sort());
  for (const one of receiver.received) {
    expect(one.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "SvcWebhooks/1",
      "webhook-timestamp": String(Math.floor(clock.now() / 1000)),
      "webhook-signature": signed(secret, one),
    });
    const event = Event.parse(JSON.parse(one.body));
    const entry = trail.find((found) => found.id === event.id);
    expect(event).toMatchObject({
      id: one.headers["webhook-id"],
      type: entry?.type,
      createdAt: entry?.at,
      testMode: false,
    });
    expect(event.data.envelope?.id).toBe(envelope);
    expect(event.data.recipient, event.type).toBe(
      entry?.type.startsWith("recipient.") ? entry.data.recipient : undefined,
    );
    expect("values" in event.data, event.type).toBe(event.type === "envelope.completed");
  }
  const of = (type: string) =>
    receiver.received.map(({ body }) => Event.parse(JSON.parse(body))).find((event) => event.type === type)?.data;
  expect(of("envelope.created")?.envelope).toMatchObject({ status: "rendering", documentSha256: null });
  expect(of("envelope.ready")?.envelope).toMatchObject({ status: "sent", seal: "not_started" });
  expect(of("envelope.completed")?.values?.recipients).toMatchObject({ Tenant: { city: "Zürich", months: 24 } });
  expect(of("envelope.sealed")?.envelope).toMatchObject({ status: "completed", seal: "sealed" });
  expect((await endpointOf(id)).health).toMatchObject({
    successRate: 1,
    attempts: 10,
    lastStatusCode: 204,
    failingSince: null,
  });
});

test("an endpoint gets the types that it asks for, of its own mode", async () => {
  await endpoint({ events: ["envelope.created", "envelope.voided"] });
  await send(app, template, { key: "test" });
  const { id } = await send(app, template);
  await ok(app, 200, `/v1/envelopes/${id}/void`, { json: { reason: "A mistake" } });
  await app.jobs.idle();
  const told = receiver.received.map(({ body }) => Event.parse(JSON.parse(body)));
  expect(told.map(({ type, data }) => `${type} ${data.envelope?.id}`)).toEqual([
    `envelope.created ${id}`,
    `envelope.voided ${id}`,
  ]);
});

test("the signature of the contract's vector", async () => {
  const { signatureOf } = await import("../../../server/features/webhooks/signature.ts");
  const body = '{"id":"evt_000000000000000000000001","type":"webhook.test"}';
  const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
  expect(signatureOf([secret], { id: "evt_000000000000000000000001", timestamp: 1795252800, body })).toBe(
    "v1,xw4cUngyZW7yVS3vs7iNZZUjmnpi5ZrDJH86IdBFZWw=",
  );
  for (const bad of [
    "",
    "whsec_",
    "whsec_AAAA",
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    `${secret}=`,
    `${secret} `,
  ])
    expect(() => signatureOf([bad], { id: "evt_1", timestamp: 1, body }), bad).toThrow("no webhook secret");
});

test("a failed delivery is tried nine more times within three days, with the same id and the same bytes", async () => {
  answering(500, { "retry-after": "86400" }, "x".repeat(70_000));
  const { id } = await endpoint();
  const first = await ping(id);
  expect(first).toMatchObject({
    attempt: 1,
    trigger: "test",
    status: "pending",
    eventType: "webhook.test",
    final: false,
  });
  const began = clock.now();
  await app.jobs.idle();
  const times: number[] = [];
  for (;;) {
    const [next] = (await deliveriesOf(id, "status=pending")).data;
    if (next === undefined) break;
    const wait = Date.parse(next.nextAttemptAt ?? "") - clock.now();
    times.push(wait);
    // A millisecond early nothing happens.
    await later(wait - 1);
    expect((await deliveriesOf(id, "status=pending")).data).toEqual([next]);
    await later(1);
  }
  const minutes = times.map((ms) => ms / 60_000);
  expect(minutes.slice(0, 2)).toEqual([5 / 60, 5]);
  for (const [index, planned] of [30, 120, 300, 600, 840, 1200].entries()) {
    expect(minutes[index + 2]).toBeGreaterThanOrEqual(planned * 0.9);
    expect(minutes[index + 2]).toBeLessThanOrEqual(planned * 1.1);
  }
  expect(clock.now() - began).toBe(72 * 3_600_000);
  expect(receiver.received).toHaveLength(10);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([first.event]));
  const data = (await deliveriesOf(id)).data.sort((a, b) => b.attempt - a.attempt);
  expect(data.map(({ attempt }) => attempt)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  expect(data.map(({ trigger }) => trigger)).toEqual([...Array(9).fill("retry"), "test"]);
  expect(data[0]).toMatchObject({
    status: "failed",
    statusCode: 500,
    error: { code: "bad-status", message: "the answer was 500" },
    final: true,
    nextAttemptAt: null,
    // Of a private network the answer is not kept.
    responseBody: null,
    url: receiver.url,
  });
  expect(data.slice(1).every(({ final, nextAttemptAt }) => !final && nextAttemptAt !== null)).toBe(true);
  await later(100 * 3_600_000);
  expect(receiver.received).toHaveLength(10);
});

test("what goes wrong is named, and none of it ends the retries", async () => {
  const { id } = await endpoint();
  const failing = async (answer: Receiver["answer"]) => {
    receiver.answer = answer;
    await ping(id);
    await app.jobs.idle();
    const { data } = await deliveriesOf(id, "status=failed");
    return data[0];
  };
  const destroyed = await failing((request) => void request.socket.destroy());
  expect(destroyed).toMatchObject({ error: { code: "connect" }, statusCode: null, final: false });
  const moved = await failing((_request, response) => void response.writeHead(301, { location: receiver.url }).end());
  expect(moved).toMatchObject({ error: { code: "redirect" }, statusCode: 301, final: false });
  const gone = await failing((_request, response) => void response.writeHead(410).end());
  expect(gone).toMatchObject({ error: { code: "bad-status" }, statusCode: 410, final: false });
  expect((await endpointOf(id)).health).toMatchObject({ lastStatusCode: 410, successRate: 0, attempts: 3 });
  const busy = await failing((_request, response) => void response.writeHead(429, { "retry-after": "3600" }).end());
  expect(busy).toMatchObject({ error: { code: "bad-status" }, statusCode: 429, final: false });
  expect(Date.parse(busy?.nextAttemptAt ?? "") - clock.now()).toBe(5000);
  // A large answer is cut and no failure.
  receiver.answer = (_request, response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
    };
    response.on("drain", more);
    more();
  };
  await ping(id);
  await app.jobs.idle();
  expect((await deliveriesOf(id, "status=succeeded")).data[0]).toMatchObject({
    statusCode: 200,
    error: null,
    final: true,
  });
});

test("an answer that does not come in ten seconds fails; one that comes byte by byte, too", async () => {
  const { id } = await endpoint();
  const { id: other } = await endpoint();
  let dripping: NodeJS.Timeout | undefined;
  receiver.answer = (_request, response, body) => {
    if (body.includes(id)) return;
    response.writeHead(200, { "content-length": "1000" });
    dripping = setInterval(() => response.write("."), 200);
  };
  await ping(id);
  await ping(other);
  await app.jobs.idle();
  clearInterval(dripping);
  for (const one of [id, other]) {
    const [delivery] = (await deliveriesOf(one, "status=failed")).data;
    expect(delivery).toMatchObject({ error: { code: "timeout" }, final: false });
    expect(delivery?.durationMs).toBeGreaterThanOrEqual(9_900);
    expect(delivery?.durationMs).toBeLessThan(12_000);
  }
}, 30_000);

test("a host without address, a stranger's certificate, and an address that has become private", async () => {
  const { id } = await endpoint({ url: "https://not-there.invalid/hooks" });
  await ping(id);
  await app.jobs.idle();
  expect((await deliveriesOf(id, "status=failed")).data[0]).toMatchObject({ error: { code: "dns" } });
  // Registered while it was allowed, as a name that later leads elsewhere.
  const set = async (url: string) =>
    await app.deps.db.tx(
      async (tx) => void (await tx.updateTable("webhook_endpoints").set({ url }).where("id", "=", id).execute()),
    );
  await set("https://127.0.0.1:1/hooks");
  await ping(id);
  await app.jobs.idle();
  expect((await deliveriesOf(id, "status=failed")).data[0]).toMatchObject({ error: { code: "address-blocked" } });
  await set(`https://127.0.0.1:${receiver.port}/hooks`);
  await ping(id);
  await app.jobs.idle();
  expect((await deliveriesOf(id, "status=failed")).data[0]).toMatchObject({ error: { code: "tls" } });
  expect(receiver.received).toEqual([]);
});

test("a paused endpoint gets its events when it is resumed, but for those that are three days old", async () => {
  const { id } = await endpoint({ events: ["envelope.created"] });
  answering(503);
  const failed = await send(app, template);
  await later(5000);
  expect(receiver.received).toHaveLength(2);
  const pause = async (enabled: boolean) => await ok(app, 200, `${path}/${id}`, { method: "PATCH", json: { enabled } });
  await pause(false);
  const held = await send(app, template);
  await later(70 * 3_600_000);
  expect(receiver.received).toHaveLength(2);
  const young = await send(app, template);
  await later(3 * 3_600_000);
  answering(200);
  await pause(true);
  await app.jobs.idle();
  const told = receiver.received.slice(2).map(({ body }) => Event.parse(JSON.parse(body)).data.envelope?.id);
  expect(told).toEqual([young.id]);
  const given = (await deliveriesOf(id, "status=failed")).data.filter(({ final }) => final);
  expect(given.map(({ attempt, sentAt }) => ({ attempt, sentAt }))).toEqual(
    expect.arrayContaining([
      { attempt: 1, sentAt: null },
      { attempt: 3, sentAt: null },
    ]),
  );
  expect([failed.id, held.id]).not.toContain(told[0]);
});

test("owners get one mail about an endpoint that has taken nothing for a day, until it works again", async () => {
  const { id } = await endpoint();
  const told = async () =>
    (await app.mail()).filter(({ kind, link }) => kind === "webhook_failing" && link?.endsWith(id));
  answering(410);
  await ping(id);
  await app.jobs.idle();
  await later(23 * 3_600_000);
  expect(await told()).toEqual([]);
  await later(3_600_000 + 60_000);
  expect((await told()).map(({ to }) => to.email)).toEqual([app.owner.email]);
  expect((await told())[0]?.text).toContain("410");
  await ping(id);
  await later(30 * 3_600_000);
  expect(await told()).toHaveLength(1);
  answering(200);
  await ping(id);
  await app.jobs.idle();
  expect((await endpointOf(id)).health).toMatchObject({ failingSince: null, lastStatusCode: 200 });
  answering(500);
  await ping(id);
  await app.jobs.idle();
  await later(25 * 3_600_000);
  expect(await told()).toHaveLength(2);
});

test("after a rotation both secrets sign for a day, the new one first", async () => {
  const { id, secret } = await endpoint();
  const rotated = WebhookSecret.parse((await ok(app, 200, `${path}/${id}/secret/rotate`, { method: "POST" })).body);
  await ping(id);
  await app.jobs.idle();
  const [during] = receiver.received;
  if (during === undefined) throw new Error("nothing came");
  expect(during.headers["webhook-signature"]).toBe(`${signed(rotated.secret, during)} ${signed(secret, during)}`);
  await later(86_400_000);
  await ping(id);
  await app.jobs.idle();
  const after = receiver.received.at(-1);
  if (after === undefined) throw new Error("nothing came");
  expect(after.headers["webhook-signature"]).toBe(signed(rotated.secret, after));
  expect(await endpointOf(id)).toMatchObject({ previousSecretExpiresAt: null });
});

test("an event is delivered again, and all since a moment", async () => {
  const cookie = await app.signIn();
  const browser = { key: null, headers: { cookie, origin: app.url } };
  const since = clock.ts();
  await later(1000);
  const { id: envelope } = await send(app, template);
  const inTest = await send(app, template, { key: "test" });
  const { id } = await endpoint({ events: ["envelope.created"] });
  const [created, ready] = (await auditOf(app, envelope)).data;
  const redeliver = (event: string | undefined, to = id) =>
    [`/v1/events/${event}/redeliver`, { json: { endpoint: to } }] as const;
  const delivery = WebhookDelivery.parse((await ok(app, 202, ...redeliver(ready?.id))).body);
  expect(delivery).toMatchObject({ trigger: "redeliver", attempt: 1, event: ready?.id, status: "pending" });
  await app.jobs.idle();
  expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual([ready?.id]);
  const shown = await ok(app, 200, `/auth/events/${ready?.id}`, browser);
  expect(shown.body).toEqual(JSON.parse(receiver.received[0]?.body ?? ""));

  const replayed = await ok(app, 202, `/auth/webhook-endpoints/${id}/replay`, { ...browser, json: { since } });
  expect(replayed.body).toEqual({ events: 1 });
  await app.jobs.idle();
  expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual([ready?.id, created?.id]);

  const [testEvent] = (await auditOf(app, inTest.id, "test")).data;
  expect(await refusal(app, ...redeliver(testEvent?.id))).toMatchObject({ status: 404 });
  expect(await refusal(app, ...redeliver("evt_none"))).toMatchObject({ status: 404 });
  const [to, options] = redeliver(testEvent?.id);
  expect(await refusal(app, to, { ...options, ...browser })).toMatchObject({ status: 409, code: "mode-mismatch" });
  expect(await refusal(app, ...redeliver(created?.id, "whe_none"))).toMatchObject({ status: 422, at: ["#/endpoint"] });
  await ok(app, 200, `${path}/${id}`, { method: "PATCH", json: { enabled: false } });
  expect(await refusal(app, ...redeliver(created?.id))).toMatchObject({ status: 409, code: "endpoint-disabled" });
});

test("a replay of many events goes page by page", async () => {
  const { id } = await endpoint({ events: ["envelope.created"] });
  const cookie = await app.signIn();
  const [event] = await app.deps.db.read
    .selectFrom("webhook_events")
    .selectAll()
    .where("test_mode", "=", 0)
    .limit(1)
    .execute();
  if (event === undefined) throw new Error("there is no event");
  await later(1000);
  const since = clock.ts();
  const rows = Array.from({ length: 210 }, (_, index) => ({
    ...event,
    id: `evt_${String(index).padStart(24, "0")}`,
    type: "envelope.created" as const,
    created_at: since,
  }));
  await app.deps.db.tx(async (tx) => void (await tx.insertInto("webhook_events").values(rows).execute()));
  const browser = { key: null, headers: { cookie, origin: app.url } };
  const { body } = await ok(app, 202, `/auth/webhook-endpoints/${id}/replay`, { ...browser, json: { since } });
  expect(body).toEqual({ events: 210 });
  await app.jobs.idle();
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(210);
  const page = await deliveriesOf(id, "limit=100");
  expect(page.data).toHaveLength(100);
  const next = await deliveriesOf(id, `limit=100&cursor=${page.nextCursor}`);
  expect(new Set([...page.data, ...next.data].map((one) => one.id)).size).toBe(200);
  await app.deps.db.tx(
    async (tx) => void (await tx.deleteFrom("webhook_events").where("created_at", "=", since).execute()),
  );
});

test("the largest event is delivered whole: 20 recipients with 500 full fields", async () => {
  const { id } = await endpoint({ events: ["envelope.completed"] });
  const { id: envelope } = await send(app, template);
  const record = await loadEnvelope(app.deps.db.read, envelope);
  const [first] = record?.recipients ?? [];
  if (record === undefined || first === undefined) throw new Error("there is no envelope");
  const words = (length: number) => "署".repeat(length);
  const fields = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`field-${n}`, words(4000)]));
  const recipients = Array.from({ length: 20 }, (_, n) => ({
    ...first,
    role: `role-${n}`,
    values: JSON.stringify(fields),
  }));
  const variables = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`variable_${n}`, words(1700)]));
  const largest = { ...record, recipients, envelope: { ...record.envelope, variables: JSON.stringify(variables) } };
  const body = bodyOf({ ...trailEntry, envelope, at: clock.ts() }, largest);
  expect(Buffer.byteLength(body)).toBeGreaterThan(7_000_000);
  await app.deps.db.tx(async (tx) => {
    const event = { id: trailEntry.id, type: "envelope.completed" as const };
    const { organization, test_mode } = record.envelope;
    await insertEvents(tx, [{ ...event, organization, test_mode, envelope, body, created_at: clock.ts() }]);
    const to = await findEndpoint(tx, id);
    if (to !== undefined) await queueDeliveries(tx, app.deps, [{ endpoint: to, event }], "event");
  });
  await app.jobs.idle();
  expect(receiver.received.map((one) => one.body === body)).toEqual([true]);
  expect(Event.parse(JSON.parse(body)).data.values?.recipients["role-19"]?.["field-24"]).toBe(words(4000));
});

test("when the documents of an envelope are deleted, its events go with what they said", async () => {
  answering(500);
  const { id } = await endpoint();
  const { id: envelope } = await send(app, template);
  expect((await deliveriesOf(id, "status=pending")).data.length).toBeGreaterThan(0);
  const type = "envelope.documents_deleted" as const;
  await app.deps.db.tx((tx) =>
    appendAudit(tx, app.deps, envelope, [{ type, actor: systemActor, data: { keepDays: 1 } }]),
  );
  expect((await deliveriesOf(id)).data).toEqual([]);
  const left = app.deps.db.read.selectFrom("webhook_events").select("id").where("envelope", "=", envelope).execute();
  expect(await left).toEqual([]);
  receiver.received.length = 0;
  await later(80 * 3_600_000);
  expect(receiver.received).toEqual([]);
});

test("an endpoint that comes and goes has one look at it queued, and is reported only when it has failed for a day", async () => {
  const { id } = await endpoint();
  const told = async () =>
    (await app.mail()).filter(({ kind, link }) => kind === "webhook_failing" && link?.endsWith(id));
  for (let flap = 0; flap < 5; flap += 1) {
    answering(500);
    await ping(id);
    await app.jobs.idle();
    answering(200);
    await ping(id);
    await later(3_600_000);
  }
  const looks = app.deps.db.read.selectFrom("jobs").select("id").where("name", "=", "webhooks.report-failing");
  expect(await looks.where("subject", "=", id).execute()).toHaveLength(1);
  answering(500);
  await ping(id);
  await app.jobs.idle();
  await later(20 * 3_600_000);
  expect(await told()).toEqual([]);
  await later(5 * 3_600_000);
  expect(await told()).toHaveLength(1);
});

test("a clock that is set back does not lengthen the wait for a retry", async () => {
  const { id } = await endpoint();
  answering(500);
  clock.advance(20 * 86_400_000);
  await ping(id);
  await app.jobs.idle();
  clock.advance(-20 * 86_400_000);
  const clamp = { now: clock.now(), backoffMs: () => 0, waiting: [deliverEvent.name] };
  expect(await app.deps.db.tx((tx) => clampDelays(tx, clamp))).toBeGreaterThan(0);
  answering(200);
  receiver.received.length = 0;
  await later(5000);
  expect(receiver.received).toHaveLength(1);
});

test("one replay at a time, and what is left of a deleted endpoint or event is tidied up", async () => {
  const { id } = await endpoint();
  const browser = { key: null, headers: { cookie: await app.signIn(), origin: app.url } };
  answering(500);
  await ping(id);
  await app.jobs.idle();
  const [pending] = (await deliveriesOf(id, "status=pending")).data;
  if (pending === undefined) throw new Error("nothing waits");
  const gone = app.deps.db.tx((tx) => tx.deleteFrom("webhook_events").where("id", "=", pending.event).execute());
  await gone;
  await later(5000);
  const settled = (await deliveriesOf(id, "status=failed")).data.find((one) => one.id === pending.id);
  expect(settled).toMatchObject({ final: true, sentAt: null });
  await app.deps.db.tx((tx) =>
    enqueue(
      tx,
      replayPage,
      { endpoint: id, until: clock.ts(), after: { at: clock.ts(), id: "" } },
      { runAt: clock.now() + 1000 },
    ),
  );
  const again = { ...browser, json: { since: clock.ts() } };
  expect(await refusal(app, `/auth/webhook-endpoints/${id}/replay`, again)).toMatchObject({
    status: 409,
    code: "conflict",
  });
  await ok(app, 204, `${path}/${id}`, { method: "DELETE" });
  const rows = () =>
    app.deps.db.read.selectFrom("webhook_deliveries").select("id").where("endpoint", "=", id).execute();
  expect((await rows()).length).toBeGreaterThan(0);
  await runTidy();
  expect(await rows()).toEqual([]);
});

test("what is old is forgotten: deliveries after 30 days, events after 90", async () => {
  const { id } = await endpoint();
  const delivery = await ping(id);
  await app.jobs.idle();
  const event = async () =>
    await app.deps.db.read.selectFrom("webhook_events").select("id").where("id", "=", delivery.event).execute();
  await later(30 * 86_400_000 - 7_200_000);
  expect((await deliveriesOf(id)).data).toHaveLength(1);
  await later(2 * 7_200_000);
  await runTidy();
  expect((await deliveriesOf(id)).data).toEqual([]);
  expect(await event()).toHaveLength(1);
  await later(60 * 86_400_000);
  await runTidy();
  expect(await event()).toEqual([]);
});
