import { expect, onTestFinished, test } from "vitest";
import { defineUpkeep, type UpkeepJob } from "../../server/kernel/jobs.ts";
import { createLog } from "../../server/kernel/log.ts";
import { type Schedule, startSchedules } from "../../server/kernel/schedules.ts";
import { openTestDatabase } from "./open.ts";

const hourly = defineUpkeep("test.hourly");
const atStart = defineUpkeep("test.at-start");
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
  const finish = ({ name }: UpkeepJob) => db.tx((tx) => tx.deleteFrom("jobs").where("name", "=", name).execute());
  return { db, state, scheduler, queued, finish };
}

test("each start queues all of it; later what is due, and what waits or runs is not queued twice", async () => {
  const { state, scheduler, queued, finish } = await setUp(
    { job: hourly, everyMs: hourMs },
    { job: atStart, everyMs: null },
  );
  const both = ["test.at-start in upkeep: {}", "test.hourly in upkeep: {}"];
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
  expect(await queued()).toEqual(["test.hourly in upkeep: {}"]);
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
  expect(await queued()).toEqual(["test.hourly in upkeep: {}"]);
});

test("what could not be queued is queued by the next look", async () => {
  const { db, state, scheduler, queued, finish } = await setUp({ job: hourly, everyMs: hourMs });
  await finish(hourly);
  state.passedMs = hourMs;
  await db.tx((tx) => tx.schema.alterTable("jobs").renameTo("jobs_away").execute());
  await scheduler.look();
  await db.tx((tx) => tx.schema.alterTable("jobs_away").renameTo("jobs").execute());
  await scheduler.look();
  expect(await queued()).toEqual(["test.hourly in upkeep: {}"]);
});
