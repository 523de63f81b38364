import { X509Certificate } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { anchorNow } from "../../../server/features/evidence/anchors/signing.ts";
import { fsck } from "../../../server/features/evidence/fsck/fsck.ts";
import { keyIdentifierOf } from "../../../server/features/keys/certificates.ts";
import { sealSigner } from "../../../server/features/keys/service.ts";
import { acceptClock, listClockEvents, readClockState } from "../../../server/kernel/clock-watch.ts";
import type { Machine } from "../../../server/kernel/guarded-clock.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { enter, envelopeOf, ok, publishTemplate, refusal, send, submission } from "../../harness/scenario.ts";

/** What becomes of a whole appliance when the clock of its machine is set (evidence: clock jumps). */

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

let app: TestAppliance;
let wall: number;
let running: number;
const machine: Machine = { now: () => wall, uptime: () => running, boot: () => "one" };
const runs = (ms: number): void => {
  wall += ms;
  running += ms;
};

beforeEach(async () => {
  wall = Date.now();
  running = 5 * day;
  app = await startAppliance({ machine });
});
afterEach(() => app.stop());

async function sign(email: string): Promise<void> {
  const bearer = await enter(app, email);
  await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
  await app.jobs.idle();
}

async function auditTimes(): Promise<Map<string, string[]>> {
  const rows = await app.deps.db.read
    .selectFrom("audit_entries")
    .select(["envelope", "at"])
    .orderBy("envelope")
    .orderBy("seq")
    .execute();
  return Map.groupBy(rows, ({ envelope }) => envelope)
    .entries()
    .reduce(
      (all, [envelope, entries]) =>
        all.set(
          envelope,
          entries.map(({ at }) => at),
        ),
      new Map<string, string[]>(),
    );
}

/** Everything that a jump could destroy: rows of what ends with time, as one text. */
async function held(): Promise<string> {
  const { read } = app.deps.db;
  const [envelopes, keys, anchors, jobs, audit] = await Promise.all([
    read.selectFrom("envelopes").select(["id", "status", "seal", "documents_deleted_at"]).orderBy("id").execute(),
    read.selectFrom("signing_keys").select(["id", "retired_at"]).orderBy("id").execute(),
    read.selectFrom("anchors").select(["sequence", "created_at"]).orderBy("sequence").execute(),
    read.selectFrom("jobs").select(["name", "status"]).orderBy("name").execute(),
    auditTimes(),
  ]);
  return JSON.stringify({ envelopes, keys, anchors, jobs, audit: [...audit] });
}

describe.each([
  ["ten years ahead", 3653 * day],
  ["two days ahead", 2 * day],
  ["ten years back", -3653 * day],
  ["an hour back", -hour],
])("a clock that is set %s", (_, by) => {
  test("stops everything and changes nothing, across restarts, until it is right again", {
    timeout: 120_000,
  }, async () => {
    const template = await publishTemplate(app);
    const { id: sealed } = await send(app, template);
    for (const email of ["ada@example.com", "ben@example.com"]) {
      runs(minute);
      await sign(email);
    }
    const anchor = await anchorNow(app.deps);
    await app.call("/auth/organization/retention", {
      method: "PATCH",
      key: null,
      json: { keepDays: 30 },
      headers: { cookie: await app.signIn(), origin: app.url },
    });
    const { id: open } = await send(app, template);
    await app.jobs.idle();
    const before = await held();
    wall += by;
    for (const path of ["/v1/envelopes", "/mcp"])
      expect(await refusal(app, path)).toMatchObject({ status: 503, code: "service-unavailable" });
    expect((await app.call("/readyz", { key: null })).status).toBe(503);
    // What is proven stays provable.
    await ok(app, 200, "/v1/public/anchors/latest", { key: null });
    const { certificates } = await sealSigner(app.deps);
    const authority = keyIdentifierOf(new X509Certificate(certificates.at(-1) ?? "").publicKey);
    const list = `/.well-known/svc/authorities/${authority}/revocation-list.crl`;
    // The list that the seal was made with: no other is dated now.
    expect((await app.call(list, { key: null })).status).toBe(200);
    await app.jobs.idle();
    expect(await held()).toBe(before);
    await app.restart();
    expect(await refusal(app, list, { key: null })).toMatchObject({ status: 503, code: "service-unavailable" });
    runs(hour);
    expect(await refusal(app, "/v1/envelopes")).toMatchObject({ status: 503 });
    await app.jobs.idle();
    expect(await held()).toBe(before);
    wall -= by;
    await app.jobs.idle();
    expect(await envelopeOf(app, open)).toMatchObject({ status: "sent" });
    await sign("ada@example.com");
    await sign("ben@example.com");
    expect(await envelopeOf(app, open)).toMatchObject({ seal: "sealed" });
    expect(await envelopeOf(app, sealed)).toMatchObject({ seal: "sealed" });
    const next = await anchorNow(app.deps);
    expect((next?.createdAt ?? "") > (anchor?.createdAt ?? "")).toBe(true);
    for (const times of (await auditTimes()).values()) expect(times).toEqual(times.toSorted());
    expect((await fsck(app.deps)).problems).toEqual([]);
    expect((await listClockEvents(app.deps.db.read, 10)).map(({ kind }) => kind)).toContain("doubted");
  });
});

test("a small step is followed and recorded; a small step back lets time stand still", {
  timeout: 120_000,
}, async () => {
  const { id } = await send(app, await publishTemplate(app));
  await sign("ada@example.com");
  wall += 3 * hour;
  await app.restart();
  expect(await listClockEvents(app.deps.db.read, 10)).toMatchObject([{ kind: "stepped" }]);
  const there = app.deps.clock.now();
  wall -= 4 * minute;
  expect(app.deps.clock.now()).toBe(there);
  await sign("ben@example.com");
  expect(await envelopeOf(app, id)).toMatchObject({ seal: "sealed" });
  for (const times of (await auditTimes()).values()) expect(times).toEqual(times.toSorted());
});

test("an operator accepts the machine's clock, ahead and back: no chain and no anchor goes back", {
  timeout: 120_000,
}, async () => {
  const template = await publishTemplate(app);
  const { id } = await send(app, template);
  await app.jobs.idle();
  wall += 20 * day;
  expect(await refusal(app, "/v1/envelopes")).toMatchObject({ status: 503 });
  await acceptClock(app.deps.db, machine, app.deps.clock.ts());
  await app.restart();
  await sign("ada@example.com");
  await sign("ben@example.com");
  const other = await send(app, template);
  await app.jobs.idle();
  const ahead = await anchorNow(app.deps);
  expect(ahead?.createdAt.slice(0, 10)).toBe(new Date(wall).toISOString().slice(0, 10));
  wall -= 19 * day;
  expect(await refusal(app, "/v1/envelopes")).toMatchObject({ status: 503 });
  await acceptClock(app.deps.db, machine, app.deps.clock.ts());
  await app.restart();
  expect(app.deps.clock.now()).toBe(wall);
  expect(await envelopeOf(app, id)).toMatchObject({ seal: "sealed" });
  await ok(app, 200, `/v1/envelopes/${other.id}/void`, { json: { reason: "The clock was wrong." } });
  expect(await envelopeOf(app, other.id)).toMatchObject({ status: "voided" });
  // With a leaf that waits it would wait too: stored-tree.test.ts.
  expect(await anchorNow(app.deps)).toEqual(ahead);
  for (const times of (await auditTimes()).values()) expect(times).toEqual(times.toSorted());
  expect((await readClockState(app.deps.db.read))?.accepted).toBe(2);
  // The rows say what the trail says, although the clock said something else.
  expect((await fsck(app.deps)).problems).toEqual([]);
});
