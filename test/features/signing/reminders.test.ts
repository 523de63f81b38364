import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { remindRecipient } from "../../../server/features/envelopes/jobs.ts";
import { nextReminderAt } from "../../../server/features/envelopes/reminders.ts";
import { listMail } from "../../../server/features/mail/service.ts";
import { up as lostReminders } from "../../../server/migrations/0062-lost-reminders.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock, tickingClock } from "../../harness/clock.ts";
import {
  auditOf,
  box,
  enter,
  envelopeOf,
  exchange,
  linkTokenOf,
  ok,
  publishTemplate,
  recipientOf,
  send,
  submission,
} from "../../harness/scenario.ts";

const clock = movableClock();
const dayMs = 86_400_000;
let app: TestAppliance;
let template: string;
let people = 0;

beforeAll(async () => {
  app = await startAppliance({ clock });
  template = await publishTemplate(app, {
    settings: { allowReassign: true },
    roles: [
      { name: "Tenant", order: 1, verification: "none" },
      { name: "Landlord", order: 2, verification: "none" },
    ],
  });
});
afterAll(async () => app.stop());

const daily = { firstAfterDays: 2, everyDays: 1, max: 3 };

/** An envelope to a tenant of its own. */
async function sent(reminders: object | null = daily, more: { tenant?: object; key?: "test"; envelope?: object } = {}) {
  people += 1;
  const email = `tenant${people}@example.org`;
  const envelope = await send(app, template, {
    ...(more.key ? { key: more.key } : {}),
    envelope: { reminders, ...more.envelope },
    tenant: { email, ...more.tenant },
  });
  return { ...envelope, email };
}

async function pass(days: number): Promise<void> {
  clock.advance(days * dayMs);
  app.jobs.wake();
  await app.jobs.idle();
}

const remindersTo = async (email: string) =>
  (await app.mail()).filter(({ kind, to }) => kind === "reminder" && to.email === email);

async function sign(email: string): Promise<void> {
  const key = { bearer: await enter(app, email) };
  await ok(app, 200, "/v1/signing/submit", { key, json: await submission(app, key.bearer) });
  await app.jobs.idle();
}

test("reminders come as they were asked for, each with a link beside the earlier ones, and are audited", async () => {
  const { id, email } = await sent();
  const first = await linkTokenOf(app, email);
  await pass(1.9);
  expect(await remindersTo(email)).toEqual([]);
  await pass(0.2);
  const [reminder, ...more] = await remindersTo(email);
  expect(more).toEqual([]);
  expect(reminder).toMatchObject({ kind: "reminder", envelope: id });
  const token = new URL(reminder?.link ?? "").hash.slice(1);
  expect(token).not.toBe(first);
  await exchange(app, token);
  await exchange(app, first);
  expect(recipientOf(await envelopeOf(app, id), "Tenant").lastSentAt).toBe(clock.ts());
  for (const expected of [2, 3, 3, 3]) {
    await pass(1);
    expect(await remindersTo(email)).toHaveLength(expected);
  }
  const entries = (await auditOf(app, id)).data.filter(({ type }) => type === "recipient.reminded");
  expect(entries.map(({ data, actor }) => [data.number, actor.type])).toEqual([
    [1, "system"],
    [2, "system"],
    [3, "system"],
  ]);
});

test("nobody is reminded without being asked for it, before their turn, or after it", async () => {
  const none = await sent(null);
  const { email } = await sent();
  await pass(2.1);
  expect(await remindersTo(none.email)).toEqual([]);
  expect(await remindersTo("ben@example.com")).toEqual([]);
  await sign(email);
  await pass(1);
  expect(await remindersTo(email)).toHaveLength(1);
  await pass(1.1);
  // The landlord's days are counted from their own turn.
  expect((await remindersTo("ben@example.com")).length).toBe(1);
  await sign("ben@example.com");
  await pass(10);
  expect((await remindersTo("ben@example.com")).length).toBe(1);
});

test("an envelope that has ended reminds nobody", async () => {
  const voided = await sent();
  const expired = await sent(daily, { envelope: { expiresAt: new Date(clock.now() + dayMs).toISOString() } });
  const declined = await sent();
  await ok(app, 200, `/v1/envelopes/${voided.id}/void`, { json: { reason: "A mistake" } });
  const key = { bearer: await enter(app, declined.email) };
  await ok(app, 200, "/v1/signing/decline", { key, json: { reason: "No" } });
  await pass(5);
  for (const { email } of [voided, expired, declined]) expect(await remindersTo(email)).toEqual([]);
});

test("embedded recipients are not reminded; reminders of test mode are held", async () => {
  const embedded = await sent(daily, { tenant: { delivery: "embedded" } });
  const test = await sent(daily, { key: "test" });
  await pass(2.1);
  expect(await remindersTo(embedded.email)).toEqual([]);
  expect((await remindersTo(test.email))[0]).toMatchObject({ status: "held", heldFor: "test_mode" });
});

test("whoever takes the signing over is reminded from their own turn on", async () => {
  const { email, id } = await sent();
  await pass(2.1);
  const key = { bearer: await enter(app, email) };
  const to = { name: "Cleo", email: `cleo${people}@example.org`, reason: "On leave" };
  await ok(app, 200, "/v1/signing/reassign", { key, json: to });
  await pass(1.9);
  expect(await remindersTo(email)).toHaveLength(1);
  expect(await remindersTo(to.email)).toEqual([]);
  await pass(0.2);
  expect(await remindersTo(to.email)).toHaveLength(1);
  expect(recipientOf(await envelopeOf(app, id), "Tenant").email).toBe(to.email);
});

test("after a long absence there is one reminder, and the schedule goes on", async () => {
  const { email } = await sent({ firstAfterDays: 1, everyDays: 2, max: 10 });
  await app.restart();
  await pass(20);
  expect(await remindersTo(email)).toHaveLength(1);
  await pass(0.9);
  expect(await remindersTo(email)).toHaveLength(1);
  await pass(0.2);
  expect(await remindersTo(email)).toHaveLength(2);
  await app.restart();
  await app.jobs.idle();
  expect(await remindersTo(email)).toHaveLength(2);
});

test("what an earlier release lost is queued again by the update: once, and only for whoever was not reminded", async () => {
  const lost = await sent();
  const late = await sent();
  const apart = await sent();
  const signed = await sent();
  await sign(signed.email);
  const under = async () => {
    const rows = await app.deps.db.read
      .selectFrom("jobs")
      .select(["id", "payload", "run_at"])
      .where("name", "=", "signing.remind")
      .execute();
    return rows.map(({ id, payload, run_at }) => ({
      id,
      run_at,
      ...remindRecipient.payload.parse(JSON.parse(payload)),
    }));
  };
  const of = async ({ id: envelope }: { id: string }) => (await under()).filter((job) => job.envelope === envelope);
  const before = await under();
  const [kept] = await of(late);
  // The chain was broken at its first reminder, which came and went, or is to come and would do nothing.
  await app.deps.db.tx(async (tx) => {
    for (const { id } of await of(lost)) await tx.deleteFrom("jobs").where("id", "=", id).execute();
    for (const { id, run_at, ...turn } of await of(apart)) {
      const since = new Date(Date.parse(turn.since) + 1).toISOString();
      const payload = JSON.stringify({ ...turn, since });
      await tx.updateTable("jobs").set({ payload }).where("id", "=", id).execute();
    }
  });
  await app.deps.db.tx((tx) => lostReminders(tx));
  await app.deps.db.tx((tx) => lostReminders(tx));
  const nameless = (all: Awaited<ReturnType<typeof under>>) =>
    all.map(({ id: _, ...job }) => job).toSorted((a, b) => a.recipient.localeCompare(b.recipient));
  expect(nameless(await under())).toEqual(nameless(before));
  expect(await of(late)).toEqual([kept]);
  await pass(2.1);
  await app.deps.db.tx((tx) => lostReminders(tx));
  await pass(1);
  for (const { email } of [lost, late, apart]) expect(await remindersTo(email)).toHaveLength(2);
  expect(await remindersTo(signed.email)).toEqual([]);
});

describe("the schedule", () => {
  const at = (
    settings: typeof daily | { everyDays: null; firstAfterDays: number; max: number },
    sentSoFar: number,
    now: number,
  ) => {
    const due = nextReminderAt(settings, { since: 0, sent: sentSoFar }, now * dayMs);
    return due === null ? null : due / dayMs;
  };
  test.each([
    [0, 0, 2],
    [0, 9, 2],
    [1, 2, 3],
    [1, 2.5, 3],
    [2, 7.5, 8],
    [3, 4, null],
  ])("after %d reminders on day %d the next is due on day %d", (count, now, due) => {
    expect(at(daily, count, now)).toBe(due);
  });
  test("without a repeat there is one", () => {
    expect(at({ firstAfterDays: 2, everyDays: null, max: 5 }, 1, 3)).toBeNull();
  });
});

describe("while time goes on between two readings of the clock", () => {
  const ticking = tickingClock();
  let busy: TestAppliance;
  let agreement: string;

  beforeAll(async () => {
    busy = await startAppliance({ clock: ticking });
    agreement = await publishTemplate(busy, {
      roles: [{ name: "Tenant", order: 1, verification: "none" }],
      items: [{ id: "sign", role: "Tenant", type: "signature", ...box(2, 220) }],
    });
  });
  afterAll(async () => busy.stop());

  const envelopes = 60;
  async function sendMany(name: string, reminders: object): Promise<void> {
    for (let number = 0; number < envelopes; number += 1) {
      const recipients = [{ role: "Tenant", name: "Ada Muster", email: `${name}${number}@example.org` }];
      await ok(busy, 201, "/v1/envelopes", { json: { template: agreement, recipients, reminders } });
    }
    await busy.jobs.idle();
  }
  /** Goes on hour by hour, as a server that runs sees it. */
  async function wait(hours: number): Promise<void> {
    for (let hour = 0; hour < hours; hour += 1) {
      ticking.advance(3_600_000);
      busy.jobs.wake();
      await busy.jobs.idle();
    }
  }
  const countReminders = async (name: string) =>
    (await listMail(busy.deps.db.read, busy.deps, {})).filter(
      ({ kind, to }) => kind === "reminder" && to.email.startsWith(name),
    ).length;

  test("60 envelopes with one reminder get 60", async () => {
    await sendMany("once", { firstAfterDays: 1, everyDays: null, max: 1 });
    await wait(25);
    expect(await countReminders("once")).toBe(envelopes);
  });

  test("60 envelopes with two reminders get 120", async () => {
    await sendMany("twice", { firstAfterDays: 1, everyDays: 4, max: 2 });
    await wait(125);
    expect(await countReminders("twice")).toBe(2 * envelopes);
  });
});
