import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { handle, startJobs } from "../../server/kernel/job-runner.ts";
import { claimFairly, nextInLanes } from "../../server/kernel/job-store.ts";
import { defineJob, enqueue } from "../../server/kernel/jobs.ts";
import { createLog } from "../../server/kernel/log.ts";
import { openSecrets } from "../../server/kernel/secrets.ts";
import { movableClock } from "../harness/clock.ts";
import { openTestDatabase } from "./open.ts";

/** Queues that are shared fairly among receivers. */

const secrets = openSecrets(randomBytes(32));
const job = defineJob({
  name: "call",
  queue: "calls",
  slots: 6,
  payload: z.object({ to: z.string(), n: z.int() }),
  lane: { by: "to", slots: 2 },
});

async function setUp() {
  const clock = movableClock();
  const db = await openTestDatabase({ clock, secrets });
  const queue = async (to: string, count: number) =>
    await db.tx(async (tx) => {
      for (let n = 0; n < count; n++) await enqueue(tx, job, { to, n });
    });
  return { clock, db, queue };
}

test("lanes that never answer keep the others' jobs from nothing, and hold no more than their share", async () => {
  const { clock, db, queue } = await setUp();
  for (const to of ["dead-1", "dead-2"]) await queue(to, 50);
  await queue("live", 50);
  const open = new Map<string, number>();
  const most = new Map<string, number>();
  const done: number[] = [];
  const release = Promise.withResolvers<void>();
  const runner = startJobs({
    db,
    clock,
    secrets,
    log: createLog("silent"),
    bindings: [
      handle(job, async ({ to, n }) => {
        const now = (open.get(to) ?? 0) + 1;
        open.set(to, now);
        most.set(to, Math.max(most.get(to) ?? 0, now));
        if (to.startsWith("dead")) await release.promise;
        else {
          done.push(n);
          if (done.length === 50) release.resolve();
        }
        open.set(to, (open.get(to) ?? 1) - 1);
        return undefined;
      }),
    ],
  });
  onTestFinished(() => runner.stop(0));
  await release.promise;
  expect(open.get("dead-1")).toBe(2);
  expect(open.get("dead-2")).toBe(2);
  await runner.idle();
  expect(Math.max(...most.values())).toBe(2);
  expect(done.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, n) => n));
  expect(await db.read.selectFrom("jobs").selectAll().execute()).toEqual([]);
});

test("what is claimed never exceeds the slots, and the lane with the fewest running comes first", async () => {
  const lanes = fc.array(fc.record({ waiting: fc.integer({ min: 0, max: 5 }), busy: fc.integer({ min: 0, max: 3 }) }), {
    minLength: 1,
    maxLength: 5,
  });
  const { clock, db } = await setUp();
  await fc.assert(
    fc.asyncProperty(lanes, fc.integer({ min: 1, max: 8 }), async (shape, limit) => {
      const claimed = await db.tx(async (tx) => {
        await tx.deleteFrom("jobs").execute();
        for (const [index, { waiting }] of shape.entries())
          for (let n = 0; n < waiting; n++) await enqueue(tx, job, { to: `lane-${index}`, n });
        const options = { queue: "calls", now: clock.now(), limit, leaseBy: "me", leaseUntil: clock.now() + 1 };
        const busyIn = (lane: string) => shape[Number(lane.slice("lane-".length))]?.busy ?? 0;
        return await claimFairly(tx, { ...options, laneSlots: 2, busyIn });
      });
      const by = shape.map((_, index) => claimed.filter(({ lane }) => lane === `lane-${index}`).length);
      const free = shape.map(({ waiting, busy }) => Math.min(waiting, Math.max(0, 2 - busy)));
      for (const [index, count] of by.entries()) expect(count).toBeLessThanOrEqual(free[index] ?? 0);
      expect(claimed).toHaveLength(
        Math.min(
          limit,
          free.reduce((sum, count) => sum + count, 0),
        ),
      );
      // A lane with something under way is served only when idle ones have what they may have.
      const passedOver = shape.some(({ busy }, index) => busy === 0 && (by[index] ?? 0) < (free[index] ?? 0));
      if (passedOver) expect(shape.every(({ busy }, index) => busy === 0 || by[index] === 0)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test("lanes are found by seeks, one that waits for later as well", async () => {
  const { clock, db, queue } = await setUp();
  await queue("now", 300);
  await db.tx((tx) => enqueue(tx, job, { to: "later", n: 1 }, { runAt: clock.now() + 5000 }));
  expect(await nextInLanes(db.read, "calls")).toEqual([
    { lane: "later", run_at: clock.now() + 5000 },
    { lane: "now", run_at: clock.now() },
  ]);
  expect(await nextInLanes(db.read, "other")).toEqual([]);
});
