import { expect, onTestFinished, test } from "vitest";
import { defineRecurring, enqueue, type RecurringJob } from "../../server/kernel/jobs.ts";
import { createLog } from "../../server/kernel/log.ts";
import { type Schedule, startSchedules } from "../../server/kernel/schedules.ts";
import { openTestDatabase } from "./open.ts";

const hourly = defineRecurring("test.hourly");
const atStart = defineRecurring("test.at-start");
const hourMs = 3_600_000;

async function setUp(...schedules: Schedule[]) {
  const db = await openTestDatabase();
  const state = { held: false, passedMs: 0 };
  const scheduler = await startSchedules({
    db,
    log: createLog("silent"),
    schedules,
    held: () => state.held,
    now: () => state.passedMs,
  });
  onTestFinished(scheduler.stop);
  const queued = async () =>
    (await db.read.selectFrom("jobs").select(["name", "queue", "payload"]).orderBy("name").execute()).map(
      ({ name, queue, payload }) => `${name} in ${queue}: ${payload}`,
    );
  const finish = ({ name }: RecurringJob) => db.tx((tx) => tx.deleteFrom("jobs").where("name", "=", name).execute());
  return { db, state, scheduler, queued, finish };
}

test("each start queues all of it; later what is due, and what waits or runs is not queued twice", async () => {
  const { state, scheduler, queued, finish } = await setUp(
    { job: hourly, everyMs: hourMs },
    { job: atStart, everyMs: null },
  );
  const both = ["test.at-start in recurring: {}", "test.hourly in recurring: {}"];
  expect(await queued()).toEqual(both);
  state.passedMs = hourMs;
  await scheduler.look();
  expect(await queued()).toEqual(both);
  await finish(hourly);
  await finish(atStart);
  state.passedMs = 2 * hourMs - 1;
  await scheduler.look();
  expect(await queued()).toEqual([]);
  state.passedMs = 2 * hourMs;
  await scheduler.look();
  expect(await queued()).toEqual(["test.hourly in recurring: {}"]);
});

test("nothing is queued while work is held, and nothing is forgotten", async () => {
  const { state, scheduler, queued, finish } = await setUp({ job: hourly, everyMs: hourMs });
  await finish(hourly);
  state.held = true;
  state.passedMs = 5 * hourMs;
  await scheduler.look();
  expect(await queued()).toEqual([]);
  state.held = false;
  await scheduler.look();
  expect(await queued()).toEqual(["test.hourly in recurring: {}"]);
});

test("what could not be queued is queued by the next look", async () => {
  const { db, state, scheduler, queued, finish } = await setUp({ job: hourly, everyMs: hourMs });
  await finish(hourly);
  state.passedMs = hourMs;
  await db.tx((tx) => tx.schema.alterTable("jobs").renameTo("jobs_away").execute());
  await scheduler.look();
  await db.tx((tx) => tx.schema.alterTable("jobs_away").renameTo("jobs").execute());
  await scheduler.look();
  expect(await queued()).toEqual(["test.hourly in recurring: {}"]);
});

test("a start tries at once what an earlier process left waiting after a failure", async () => {
  const { db, finish } = await setUp({ job: hourly, everyMs: hourMs });
  await finish(hourly);
  await db.tx((tx) => enqueue(tx, hourly, {}, { runAt: Date.now() + hourMs, dedupeKey: hourly.name }));
  await db.tx((tx) => tx.updateTable("jobs").set({ attempts: 7 }).execute());
  const schedules = [{ job: hourly, everyMs: hourMs }];
  const again = await startSchedules({ db, log: createLog("silent"), schedules, held: () => false });
  onTestFinished(again.stop);
  const row = await db.read.selectFrom("jobs").select(["run_at", "attempts"]).executeTakeFirstOrThrow();
  expect(row.attempts).toBe(0);
  expect(row.run_at).toBeLessThanOrEqual(Date.now());
});
