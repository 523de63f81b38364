import { afterEach, expect, test } from "vitest";
import { anchorNow } from "../../server/features/evidence/anchors/signing.ts";
import { fsck } from "../../server/features/evidence/fsck/fsck.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { movableClock, tickingClock } from "../harness/clock.ts";
import { auditOf, enter, envelopeOf, ok, publishTemplate, send, submission } from "../harness/scenario.ts";
import { countReadings, watchTransactions } from "../harness/transactions.ts";

/** A transaction takes place in one moment: it reads the clock once, and an envelope once. */

type Clock = ReturnType<typeof tickingClock>;
const minute = 60_000;
const day = 24 * 60 * minute;
const [ada, ben] = ["ada@example.com", "ben@example.com"];

let app: TestAppliance | undefined;
afterEach(() => app?.stop());

/** What an envelope may go through. @returns what came of each, without ids and times */
async function play(at: TestAppliance, clock: Clock): Promise<Record<string, unknown>> {
  const reminders = { firstAfterDays: 1, everyDays: 1, max: 2 };
  const template = await publishTemplate(at, { settings: { allowReassign: true } });
  const agency = await publishTemplate(at, {
    roles: [
      { name: "Tenant", order: 1, verification: "email_otp" },
      {
        name: "Landlord",
        kind: "countersigner",
        order: 2,
        verification: "none",
        countersigner: { name: "Agnes Agentur", email: "agnes@example.org" },
      },
    ],
  });
  const ids: Record<string, string> = {};
  const next = async (name: string, envelope: object = {}, of = template) => {
    clock.advance(minute);
    ids[name] = (await send(at, of, { envelope: { ...envelope } })).id;
    return ids[name];
  };
  const enterAs = async (email: string) => {
    clock.advance(minute);
    return await enter(at, email);
  };
  const sign = async (bearer: string) => {
    await ok(at, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(at, bearer) });
    await at.jobs.idle();
  };

  await next("signed", { viewers: [{ email: "lea@example.com" }], cc: [{ email: "cc@example.com", name: "Cora" }] });
  for (const email of [ada, ben]) await sign(await enterAs(email));

  const voided = await next("voided");
  await ok(at, 200, `/v1/envelopes/${voided}/void`, { json: { reason: "Wrong rent" } });

  await next("declined");
  await ok(at, 200, "/v1/signing/decline", { key: { bearer: await enterAs(ada) }, json: { reason: "No" } });

  await next("passedOn");
  const cara = { name: "Cara Neu", email: "cara@example.com", reason: "On leave" };
  await ok(at, 200, "/v1/signing/reassign", { key: { bearer: await enterAs(ada) }, json: cara });
  await at.jobs.idle();
  for (const email of [cara.email, ben]) await sign(await enterAs(email));

  const json = {
    template: agency,
    title: "By the agency",
    recipients: [{ role: "Tenant", name: "Ada Muster", email: ada }],
  };
  clock.advance(minute);
  const created = await ok(at, 201, "/v1/envelopes", { json });
  ids.countersigned = String(Reflect.get(Object(created.body), "id"));
  await at.jobs.idle();
  await sign(await enterAs(ada));

  const watched = await next("watched");
  await ok(at, 200, `/v1/envelopes/${watched}/viewers`, { json: { viewers: [{ email: "rob@example.com" }] } });
  await at.jobs.idle();
  const { viewers = [], recipients } = await envelopeOf(at, watched);
  await ok(at, 204, `/v1/envelopes/${watched}/viewers/${viewers[0]?.id}`, { method: "DELETE" });
  clock.advance(minute);
  await ok(at, 200, `/v1/envelopes/${watched}/recipients/${recipients[0]?.id}/resend`, { method: "POST" });

  await next("expired", { reminders, expiresAt: new Date(clock.now() + 4 * day).toISOString() });
  for (let days = 0; days < 5; days += 1) {
    clock.advance(day);
    at.jobs.wake();
    await at.jobs.idle();
  }
  await anchorNow(at.deps);
  await at.jobs.idle();

  const outcome: Record<string, unknown> = {};
  for (const [name, id] of Object.entries(ids)) {
    const { status, seal, recipients: people } = await envelopeOf(at, id);
    const { data, verification } = await auditOf(at, id);
    const mails = (await at.mail()).filter(({ envelope }) => envelope === id);
    outcome[name] = {
      state: [status, seal, ...people.map((one) => one.status)],
      trail: data.map(({ type, actor }) => `${type} by ${actor.type}`),
      valid: verification.valid,
      mails: mails.map(({ kind, to }) => `${kind} to ${to.email}`).sort(),
    };
  }
  const jobs = await at.deps.db.read.selectFrom("jobs").select(["name", "status"]).execute();
  outcome.jobs = jobs.map(({ name, status }) => `${name} ${status}`).sort();
  expect(await fsck(at.deps)).toMatchObject({ ok: true, problems: [] });
  return outcome;
}

test("a clock that ticks with every reading changes no outcome", { timeout: 120_000 }, async () => {
  const steady = movableClock();
  app = await startAppliance({ clock: steady });
  const expected = await play(app, steady);
  await app.stop();
  const ticking = tickingClock();
  app = await startAppliance({ clock: ticking });
  expect(await play(app, ticking)).toEqual(expected);
});

test("no transaction reads the clock or an envelope twice, and a submission reads its envelope once", {
  timeout: 120_000,
}, async () => {
  const clock = countReadings(tickingClock());
  app = await startAppliance({ clock });
  const twice: string[] = [];
  const clocks: number[] = [];
  const submissions: number[] = [];
  watchTransactions(app.deps.db, ({ reads, readings }) => {
    clocks.push(readings);
    const envelopes = reads.filter((text) => / from "envelopes" where "envelopes"."id" = \?/.test(text));
    if (envelopes.length > 1) twice.push(reads.join("\n"));
    if (reads.some((text) => text.includes("signing_served"))) submissions.push(envelopes.length);
  });
  await play(app, clock);
  expect(clocks.length).toBeGreaterThan(100);
  expect(Math.max(...clocks)).toBe(1);
  expect(twice).toEqual([]);
  expect(submissions).toContain(1);
  expect(new Set(submissions).size).toBe(1);
});
