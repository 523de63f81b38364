import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { appendAudit } from "../../../server/features/envelopes/service.ts";
import { eventSchemas, type SentEventType, WebhookEndpoint } from "../../../server/features/webhooks/contract.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { tickingClock } from "../../harness/clock.ts";
import { readWebhooks } from "../../harness/event-schemas.ts";
import { enter, ok, publishTemplate, send, submission, viewOf } from "../../harness/scenario.ts";
import { allowing, type Receiver, startReceiver } from "../../harness/webhook-receiver.ts";

/** The specification's table of events, row by row: what triggers each type, and that what is sent is as the document says. */

const clock = tickingClock();
let receiver: Receiver;
let app: TestAppliance;
let template: string;
let endpoint: string;
let document: ReturnType<typeof readWebhooks>;
beforeAll(async () => {
  receiver = await startReceiver();
  app = await startAppliance({ clock, env: allowing(receiver) });
  template = await publishTemplate(app);
  const made = await ok(app, 201, "/v1/webhook-endpoints", { json: { url: receiver.url } });
  endpoint = WebhookEndpoint.parse(made.body).id;
  document = readWebhooks(await (await app.call("/openapi.json", { key: null })).json());
});
afterAll(async () => {
  await app.stop();
  await receiver.stop();
});

const Body = z.looseObject({
  type: z.string(),
  data: z.looseObject({ envelope: z.looseObject({ id: z.string() }).nullable(), endpoint: z.string().optional() }),
});
/** What was sent so far of this type about an envelope or an endpoint. */
function sent(type: string, about: string) {
  return receiver.received
    .map(({ body }) => Body.parse(JSON.parse(body)))
    .filter((event) => event.type === type && [event.data.envelope?.id, event.data.endpoint].includes(about));
}

const sign = async (email: string) => {
  const bearer = await enter(app, email);
  await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
  await app.jobs.idle();
};
const aSent = async () => (await send(app, template)).id;
const halfSigned = async () => {
  const id = await aSent();
  await sign("ada@example.com");
  return id;
};
const post = (path: string, json?: unknown) => ok(app, 200, path, { json });

type Row = {
  type: SentEventType;
  when: string;
  /** What comes before. @returns the id of the envelope or endpoint that it is about */
  before?: () => Promise<string>;
  /** @returns the same where the operation itself makes it */
  trigger: (about: string) => Promise<unknown>;
};
const declining = async () => {
  const bearer = await enter(app, "ada@example.com");
  await ok(app, 200, "/v1/signing/decline", { key: { bearer }, json: { reason: "The rent is too high." } });
};
const ending = { before: halfSigned, trigger: () => sign("ben@example.com") };
const rows: Row[] = [
  { type: "envelope.created", when: "the envelope was created", trigger: aSent },
  { type: "envelope.ready", when: "the document is rendered", trigger: aSent },
  { type: "recipient.sent", when: "it became a recipient's turn", trigger: aSent },
  {
    type: "recipient.viewed",
    when: "a recipient first opened the signing page",
    before: aSent,
    trigger: async () => void (await viewOf(app, await enter(app, "ada@example.com"))),
  },
  { type: "recipient.signed", when: "a recipient submitted", before: aSent, trigger: () => sign("ada@example.com") },
  { type: "recipient.declined", when: "a recipient declined", before: aSent, trigger: declining },
  { type: "envelope.completed", when: "every recipient finished", ...ending },
  { type: "envelope.sealed", when: "the sealed PDF is ready to download", ...ending },
  {
    type: "envelope.declined",
    when: "the envelope ended because a recipient declined",
    before: aSent,
    trigger: declining,
  },
  {
    type: "envelope.voided",
    when: "the envelope was voided",
    before: aSent,
    trigger: (id) => post(`/v1/envelopes/${id}/void`, { reason: "Wrong address in clause 3" }),
  },
  {
    type: "envelope.expired",
    when: "`expiresAt` passed before completion",
    before: async () => {
      const expiresAt = new Date(clock.now() + 2 * 3_600_000).toISOString();
      return (await send(app, template, { envelope: { expiresAt } })).id;
    },
    trigger: async () => {
      clock.advance(2 * 3_600_000);
      app.jobs.wake();
    },
  },
  {
    type: "webhook.test",
    when: "a test ping was requested",
    before: async () => endpoint,
    trigger: (id) => ok(app, 202, `/v1/webhook-endpoints/${id}/test`, { method: "POST" }),
  },
];
test.each(rows)("$type: $when", async ({ type, before, trigger }) => {
  const made = await before?.();
  if (made !== undefined) expect(sent(type, made)).toEqual([]);
  const about = made ?? z.string().parse(await trigger(""));
  if (made !== undefined) await trigger(made);
  await app.jobs.idle();
  expectValid(type, sent(type, about));
});

/** One was sent, as both the served document and the table of types have it. */
function expectValid(type: SentEventType, events: unknown[]) {
  expect(events).toHaveLength(1);
  expect(document.complaints(type, events[0])).toEqual([]);
  expect(eventSchemas[type].parse(events[0])).toEqual(events[0]);
  expect(document.complaints(type, { ...Object(events[0]), data: {} })).not.toEqual([]);
}

test("signing_link.used: a visitor started an envelope from a signing link", async () => {
  const id = await aSent();
  const signingLink = "lnk_0123456789ABCDEFGHIJKLMN";
  const actor = { type: "visitor", id: null, name: "Ada Muster", email: "ada@example.com" } as const;
  await app.deps.db.tx(async (tx) => {
    await tx.updateTable("envelopes").set({ signing_link: signingLink }).where("id", "=", id).execute();
    await appendAudit(tx, app.deps, id, [{ type: "signing_link.used", actor, data: {} }]);
  });
  await app.jobs.idle();
  const events = sent("signing_link.used", id);
  expectValid("signing_link.used", events);
  expect(events[0]?.data).toMatchObject({ signingLink });
});

test("acceptance.created: reserved, so that an endpoint may ask for it, and never sent", async () => {
  const json = { url: receiver.url, events: ["acceptance.created"] };
  const made = WebhookEndpoint.parse((await ok(app, 201, "/v1/webhook-endpoints", { json })).body);
  expect(made.events).toEqual(["acceptance.created"]);
  await halfSigned();
  await sign("ben@example.com");
  const { body } = await ok(app, 200, `/v1/webhook-endpoints/${made.id}/deliveries`);
  expect(body).toMatchObject({ data: [] });
  expect(receiver.received.filter((one) => one.body.includes("acceptance.created"))).toEqual([]);
});

test("the table is whole: every type that is sent has its row", () => {
  const named = [...rows.map(({ type }) => type), "signing_link.used"];
  expect(named.toSorted()).toEqual(Object.keys(eventSchemas).toSorted());
});
