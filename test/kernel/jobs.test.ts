import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import type { Database } from "../../server/kernel/db.ts";
import {
  GiveUp,
  handle,
  type JobBinding,
  type JobRunnerOptions,
  RetryLater,
  startJobs,
} from "../../server/kernel/job-runner.ts";
import { defineJob, enqueue, exponentialBackoff } from "../../server/kernel/jobs.ts";
import { createLog } from "../../server/kernel/log.ts";
import { openSecrets } from "../../server/kernel/secrets.ts";
import { movableClock } from "../harness/clock.ts";
import { openTestDatabase, temporaryFolder } from "./open.ts";
import { addNote, listNotes } from "./tables.ts";

const secrets = openSecrets(randomBytes(32));
const payload = z.object({ n: z.number() });

async function setUp(file?: string) {
  const clock = movableClock();
  const db = await openTestDatabase({ clock, secrets, ...(file === undefined ? {} : { file }) });
  const lines: string[] = [];
  const log = createLog("debug", { write: (line: string) => void lines.push(line) });
  const start = (bindings: JobBinding[], options: Partial<JobRunnerOptions> = {}) => {
    const runner = startJobs({ db, clock, secrets, log, bindings, ...options });
    onTestFinished(() => runner.stop(0));
    return runner;
  };
  return { clock, db, lines, start };
}

const rows = (db: Database) => db.read.selectFrom("jobs").selectAll().orderBy("created_at").execute();
const notes = async (db: Database) => (await listNotes.execute(db.read)).rows.map(({ text }) => text);

test("a job runs after its transaction committed, and its commit removes it", async () => {
  const { db, start } = await setUp();
  const job = defineJob({ name: "note", payload });
  const runner = start([
    handle(job, async ({ n }, { attempt, last }) => {
      expect({ attempt, last }).toEqual({ attempt: 1, last: false });
      return async (tx) => void (await addNote(`done ${n}`).execute(tx));
    }),
  ]);
  await db.tx((tx) => enqueue(tx, job, { n: 1 }));
  await db
    .tx(async (tx) => {
      await enqueue(tx, job, { n: 2 });
      throw new Error("no");
    })
    .catch(() => undefined);
  await runner.idle();
  expect(await notes(db)).toEqual(["done 1"]);
  expect(await rows(db)).toEqual([]);
});

test("a failing job is tried again with growing delays, then kept as dead with what follows from that", async () => {
  const { db, clock, start, lines } = await setUp();
  const attempts: { attempt: number; last: boolean; at: number }[] = [];
  const job = defineJob({ name: "fails", payload, maxAttempts: 3 });
  const begun = clock.now();
  const runner = start([
    handle(
      job,
      async (_, { attempt, last }) => {
        attempts.push({ attempt, last, at: clock.now() - begun });
        throw new Error("the other side is down");
      },
      { onDead: async ({ n }, error, tx) => void (await addNote(`dead ${n}: ${error.message}`).execute(tx)) },
    ),
  ]);
  await db.tx((tx) => enqueue(tx, job, { n: 424242 }));
  await runner.idle();
  clock.advance(1000);
  await runner.idle();
  clock.advance(1999);
  await runner.idle();
  expect(attempts).toHaveLength(2);
  clock.advance(1);
  await runner.idle();
  expect(attempts).toEqual([
    { attempt: 1, last: false, at: 0 },
    { attempt: 2, last: false, at: 1000 },
    { attempt: 3, last: true, at: 3000 },
  ]);
  expect(await notes(db)).toEqual(["dead 424242: the other side is down"]);
  const [dead] = await rows(db);
  expect(dead).toMatchObject({ status: "dead", lease_by: null, last_error: "Error: the other side is down" });
  expect(await runner.counts()).toEqual({ queued: 0, running: 0, dead: 1 });
  expect(lines.join("")).not.toContain("424242");

  expect(await runner.retryDead(dead?.id ?? "")).toBe(true);
  await runner.idle();
  expect(attempts).toHaveLength(4);
  expect(await runner.retryDead("job_unknown")).toBe(false);
});

test("when what follows from the death cannot be written, the job is not dead", async () => {
  const { db, clock, start } = await setUp();
  let broken = true;
  const job = defineJob({ name: "d", payload, maxAttempts: 1, backoffMs: () => 10 });
  const runner = start([
    handle(
      job,
      async () => {
        throw new Error("no");
      },
      {
        async onDead(_, __, tx) {
          await addNote("half").execute(tx);
          if (broken) throw new Error("constraint");
        },
      },
    ),
  ]);
  await db.tx((tx) => enqueue(tx, job, { n: 1 }));
  await runner.idle();
  expect(await notes(db)).toEqual([]);
  expect(await runner.counts()).toEqual({ queued: 1, running: 0, dead: 0 });
  broken = false;
  clock.advance(10);
  await runner.idle();
  expect(await notes(db)).toEqual(["half"]);
  expect(await runner.counts()).toEqual({ queued: 0, running: 0, dead: 1 });
});

test("RetryLater does not count as an attempt; GiveUp and a bad payload end at once", async () => {
  const { db, clock, start } = await setUp();
  const seen: number[] = [];
  const later = defineJob({ name: "later", payload, maxAttempts: 2 });
  const giveUp = defineJob({ name: "give-up", payload });
  const runner = start([
    handle(later, async (_, { attempt }) => {
      seen.push(attempt);
      if (seen.length < 5) throw new RetryLater("busy", 50);
      return undefined;
    }),
    handle(giveUp, async () => {
      throw new GiveUp("410 gone");
    }),
  ]);
  await db.tx(async (tx) => {
    await enqueue(tx, later, { n: 1 });
    await enqueue(tx, giveUp, { n: 1 });
    await enqueue(tx, { ...giveUp, payload: z.any() }, { n: "not a number" } as never);
  });
  for (let round = 0; round < 5; round += 1) {
    await runner.idle();
    clock.advance(50);
  }
  await runner.idle();
  expect(seen).toEqual([1, 1, 1, 1, 1]);
  expect((await rows(db)).map((row) => row.last_error).sort()).toEqual([
    "GiveUp: 410 gone",
    "GiveUp: the payload does not have the shape that this release expects",
  ]);
  await expect(db.tx((tx) => enqueue(tx, giveUp, { n: "x" } as never))).rejects.toThrow();
});

test("what is put off keeps the failure of before, and says why it was put off when there was none", async () => {
  const { db, clock, start } = await setUp();
  const busy = new RetryLater("busy", 10);
  const failure = new Error("the seal does not hold");
  const outcomes = [busy, failure, busy, busy, new Error("another cause"), busy];
  const job = defineJob({ name: "put-off", payload, backoffMs: () => 10 });
  const runner = start([
    handle(job, async () => {
      throw outcomes.shift() ?? busy;
    }),
  ]);
  await db.tx((tx) => enqueue(tx, job, { n: 1 }));
  const kept: unknown[] = [];
  while (outcomes.length > 0) {
    await runner.idle();
    kept.push((await rows(db))[0]?.last_error);
    clock.advance(10);
  }
  const [held, other] = ["Error: the seal does not hold", "Error: another cause"];
  expect(kept).toEqual(["RetryLater: busy", held, held, held, other, other]);
});

test("runAt is kept, and one dedupe key stands for one queued or running job", async () => {
  const { db, clock, start } = await setUp();
  const ran: number[] = [];
  const job = defineJob({ name: "j", payload });
  const runner = start([
    handle(job, async ({ n }) => {
      ran.push(n);
      if (n === 3) throw new GiveUp("dead jobs free their key");
      return undefined;
    }),
  ]);
  const later = { runAt: clock.now() + 5000, dedupeKey: "k" };
  await db.tx((tx) => enqueue(tx, job, { n: 1 }, later));
  await db.tx((tx) => enqueue(tx, job, { n: 2 }, { dedupeKey: "k" }));
  await runner.idle();
  expect(ran).toEqual([]);
  clock.advance(5000);
  await runner.idle();
  await db.tx((tx) => enqueue(tx, job, { n: 3 }, { dedupeKey: "k" }));
  await runner.idle();
  await db.tx((tx) => enqueue(tx, job, { n: 4 }, { dedupeKey: "k" }));
  await runner.idle();
  expect(ran).toEqual([1, 3, 4]);
});

test("no more jobs of a queue run at once than it has slots, and queues do not wait for each other", async () => {
  const { db, start } = await setUp();
  const slow = defineJob({ name: "slow", payload, queue: "slow", slots: 2 });
  const fast = defineJob({ name: "fast", payload, queue: "fast", slots: 3 });
  const gate = Promise.withResolvers<undefined>();
  let now = 0;
  let most = 0;
  let fastDone = 0;
  const runner = start([
    handle(slow, async () => {
      now += 1;
      most = Math.max(most, now);
      await gate.promise;
      now -= 1;
      return undefined;
    }),
    handle(fast, async () => {
      fastDone += 1;
      if (fastDone === 50) gate.resolve(undefined);
      return undefined;
    }),
  ]);
  await db.tx(async (tx) => {
    for (let n = 0; n < 20; n += 1) await enqueue(tx, slow, { n });
    for (let n = 0; n < 50; n += 1) await enqueue(tx, fast, { n });
  });
  await runner.idle();
  expect({ most, fastDone }).toEqual({ most: 2, fastDone: 50 });
  expect(await rows(db)).toEqual([]);
});

test("a secret payload is encrypted in the table and bound to its kind of job", async () => {
  const { db, start } = await setUp();
  const job = defineJob({ name: "code", payload: z.object({ code: z.string() }), secret: true });
  await db.tx((tx) => enqueue(tx, job, { code: "913374" }));
  const [row] = await rows(db);
  expect(row?.payload).not.toContain("913374");
  expect(secrets.open(row?.payload ?? "", "job:code").toString()).toBe('{"code":"913374"}');
  const seen: string[] = [];
  const runner = start([
    handle(job, async ({ code }) => {
      seen.push(code);
      return undefined;
    }),
  ]);
  await runner.idle();
  expect(seen).toEqual(["913374"]);
});

test("the payload of a dead secret job is wiped after a day", async () => {
  const { db, clock, start } = await setUp();
  const job = defineJob({ name: "code", payload, secret: true, maxAttempts: 1 });
  const bindings = [
    handle(job, async () => {
      throw new Error("no");
    }),
  ];
  await db.tx((tx) => enqueue(tx, job, { n: 1 }));
  const first = start(bindings);
  await first.idle();
  await first.stop(0);
  clock.advance(24 * 3_600_000 + 1);
  const second = start(bindings);
  await second.idle();
  const [row] = await rows(db);
  expect(row).toMatchObject({ status: "dead", payload: "" });
  expect(await second.retryDead(row?.id ?? "")).toBe(false);
});

test("stop hands a running job back, and what it still does is not committed", async () => {
  const { db, start } = await setUp();
  const job = defineJob({ name: "long", payload });
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  let aborted = false;
  const first = start([
    handle(job, async (_, { signal }) => {
      signal.addEventListener("abort", () => {
        aborted = true;
      });
      started.resolve();
      await finish.promise;
      return async (tx) => void (await addNote("too late").execute(tx));
    }),
  ]);
  await db.tx((tx) => enqueue(tx, job, { n: 1 }));
  await started.promise;
  await first.stop(5);
  expect(aborted).toBe(true);
  expect(await rows(db)).toMatchObject([{ status: "queued", attempts: 0, lease_by: null }]);
  const attempts: number[] = [];
  const second = start([
    handle(job, async (_, { attempt }) => {
      attempts.push(attempt);
      return async (tx) => void (await addNote("in time").execute(tx));
    }),
  ]);
  await second.idle();
  finish.resolve();
  await second.idle();
  expect(attempts).toEqual([1]);
  expect(await notes(db)).toEqual(["in time"]);
});

test("stop waits for a job that finishes within the grace", async () => {
  const { db, start } = await setUp();
  const job = defineJob({ name: "short", payload });
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const runner = start([
    handle(job, async () => {
      started.resolve();
      await finish.promise;
      return async (tx) => void (await addNote("finished").execute(tx));
    }),
  ]);
  await db.tx((tx) => enqueue(tx, job, { n: 1 }));
  await started.promise;
  const stopped = runner.stop(60_000);
  finish.resolve();
  await stopped;
  expect(await notes(db)).toEqual(["finished"]);
  expect(await rows(db)).toEqual([]);
});

test("jobs that a killed process held are taken back at once", async () => {
  const file = join(await temporaryFolder(), "j.db");
  const { db, clock, start } = await setUp(file);
  const job = defineJob({ name: "j", payload });
  await db.tx(async (tx) => {
    await enqueue(tx, job, { n: 1 });
    await tx
      .updateTable("jobs")
      .set({ status: "running", attempts: 1, lease_by: "an earlier process", lease_until: clock.now() + 60_000 })
      .execute();
  });
  const attempts: number[] = [];
  const runner = start([
    handle(job, async (_, { attempt }) => {
      attempts.push(attempt);
      return undefined;
    }),
  ]);
  await runner.idle();
  expect(attempts).toEqual([2]);
});

test("so is one from before the clock was set back, after its usual wait", async () => {
  const { db, clock, start } = await setUp();
  const job = defineJob({ name: "j", payload });
  await db.tx(async (tx) => {
    await enqueue(tx, job, { n: 1 });
    await tx
      .updateTable("jobs")
      .set({ status: "running", attempts: 1, lease_by: "an earlier process", lease_until: clock.now() + 60_000 })
      .execute();
  });
  clock.advance(-5 * 3_600_000);
  const attempts: number[] = [];
  const runner = start([
    handle(job, async (_, { attempt }) => {
      attempts.push(attempt);
      return undefined;
    }),
  ]);
  await runner.idle();
  clock.advance(1000);
  await runner.idle();
  expect(attempts).toEqual([2]);
});

test("a job that ends the process each time waits longer and longer, and is given up", async () => {
  const { db, clock, start } = await setUp();
  const job = defineJob({ name: "killer", payload, maxAttempts: 3 });
  await db.tx((tx) => enqueue(tx, job, { n: 7 }));
  const attempts: number[] = [];
  const bindings = [
    handle(
      job,
      async (_, { attempt }) => {
        attempts.push(attempt);
        return undefined;
      },
      { onDead: async ({ n }, _, tx) => void (await addNote(`dead ${n}`).execute(tx)) },
    ),
  ];
  const afterDeath = async (died: number) => {
    const lease = { lease_by: "a process that died", lease_until: clock.now() + 60_000 };
    await db.tx((tx) =>
      tx
        .updateTable("jobs")
        .set({ status: "running", attempts: died, ...lease })
        .execute(),
    );
    const runner = start(bindings);
    await runner.idle();
    return runner;
  };
  const waiting = await afterDeath(2);
  expect(attempts).toEqual([]);
  expect(await rows(db)).toMatchObject([{ status: "queued", attempts: 2, run_at: clock.now() + 2000 }]);
  await waiting.stop(0);
  const last = await afterDeath(3);
  clock.advance(4000);
  await last.idle();
  expect(attempts).toEqual([]);
  expect(await notes(db)).toEqual(["dead 7"]);
  expect(await last.counts()).toEqual({ queued: 0, running: 0, dead: 1 });
});

test("after the clock was set back queued work runs at once, a failed job after its usual wait, a planned one when planned", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { db, clock, start } = await setUp();
  const job = defineJob({ name: "j", payload });
  const day = 24 * 3_600_000;
  const ran: number[] = [];
  const bindings = [
    handle(job, async ({ n }) => {
      ran.push(n);
      if (n === 2 && ran.filter((other) => other === 2).length === 1) throw new Error("not now");
      return undefined;
    }),
  ];
  const plannedFor = clock.now() + 2 * day;
  for (const setBack of ["before the start", "while it runs"]) {
    ran.length = 0;
    const runner = setBack === "before the start" ? undefined : start(bindings);
    await db.tx((tx) => enqueue(tx, job, { n: 2 }));
    const failing = runner ?? start(bindings);
    await failing.idle();
    if (runner === undefined) await failing.stop(0);
    clock.advance(-day);
    if (runner !== undefined) {
      // Queued by the old clock, in the moment of the change.
      await db.tx(async (tx) => {
        await enqueue(tx, job, { n: 1 });
        const future = clock.now() + day;
        await tx
          .updateTable("jobs")
          .set({ run_at: future, created_at: future })
          .where("payload", "=", '{"n":1}')
          .execute();
      });
      await db.tx((tx) => enqueue(tx, job, { n: 3 }, { runAt: plannedFor }));
      vi.advanceTimersByTime(20_000);
      await runner.idle();
      expect(ran).toEqual([2, 1]);
    }
    const then = runner ?? start(bindings);
    await then.idle();
    clock.advance(1000);
    await then.idle();
    expect(ran).toEqual(runner === undefined ? [2, 2] : [2, 1, 2]);
    await then.stop(0);
  }
  expect(await rows(db)).toMatchObject([{ payload: '{"n":3}', run_at: plannedFor }]);
});

test.each([5, -5])(
  "the clock jumps by %i hours: everything that was queued runs, at once or after its usual wait, and nothing twice",
  async (hours) => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const { db, clock, start } = await setUp();
    const ran: string[] = [];
    const gate = Promise.withResolvers<undefined>();
    const long = defineJob({ name: "long", payload, queue: "long", slots: 1 });
    const once = (error: Error) => async () => {
      const thrown = ran.includes(error.message) ? undefined : error;
      ran.push(error.message);
      if (thrown) throw thrown;
      return undefined;
    };
    const failing = defineJob({ name: "failing", payload });
    const putOff = defineJob({ name: "put-off", payload });
    const runner = start([
      handle(long, async ({ n }) => {
        ran.push(`long ${n}`);
        if (n === 1) await gate.promise;
        return undefined;
      }),
      handle(failing, once(new Error("failing"))),
      handle(putOff, once(new RetryLater("put off", 500))),
    ]);
    await db.tx(async (tx) => {
      // The second waits for the slot of the first.
      for (const n of [1, 2]) await enqueue(tx, long, { n });
      await enqueue(tx, failing, { n: 1 });
      await enqueue(tx, putOff, { n: 1 });
    });
    await expect.poll(async () => [...ran].sort()).toEqual(["failing", "long 1", "put off"]);
    // The failures are on record before the clock moves.
    await expect.poll(async () => (await rows(db)).filter(({ last_error }) => last_error !== null)).toHaveLength(2);
    clock.advance(hours * 3_600_000);
    vi.advanceTimersByTime(20_000);
    await expect
      .poll(async () =>
        (await rows(db)).filter(({ status, run_at }) => status === "queued" && run_at > clock.now() + 1000),
      )
      .toEqual([]);
    clock.advance(1000);
    runner.wake();
    await expect.poll(() => [...ran].sort()).toEqual(["failing", "failing", "long 1", "put off", "put off"]);
    gate.resolve(undefined);
    await runner.idle();
    expect([...ran].sort()).toEqual(["failing", "failing", "long 1", "long 2", "put off", "put off"]);
    expect(await rows(db)).toEqual([]);
  },
);

test("the age of a queue is that of its first job that is due", async () => {
  const { db, clock, start } = await setUp();
  const blocked = defineJob({ name: "blocked", payload, queue: "blocked", slots: 1 });
  const planned = defineJob({ name: "planned", payload, queue: "planned" });
  const gate = Promise.withResolvers<undefined>();
  const runner = start([handle(blocked, () => gate.promise), handle(planned, async () => undefined)]);
  await db.tx(async (tx) => {
    for (const n of [1, 2]) await enqueue(tx, blocked, { n });
    await enqueue(tx, planned, { n: 1 }, { runAt: clock.now() + 3_600_000 });
  });
  await expect.poll(async () => (await runner.counts()).running).toBe(1);
  clock.advance(90_000);
  expect(await runner.ages()).toEqual(
    new Map([
      ["blocked", 90],
      ["planned", 0],
    ]),
  );
  gate.resolve(undefined);
  await runner.idle();
  expect((await runner.ages()).get("blocked")).toBe(0);
});

test("the named boundaries are passed in their order", async () => {
  const { db, start } = await setUp();
  const points: string[] = [];
  const job = defineJob({ name: "b", payload });
  await db.tx((tx) => enqueue(tx, job, { n: 1 }));
  const runner = start(
    [
      handle(job, async () => {
        points.push("handler");
        return async () => void points.push("commit");
      }),
    ],
    {
      onBoundary: (point) => points.push(point),
    },
  );
  await runner.idle();
  expect(points).toEqual(["job:b:claimed", "handler", "job:b:effect-done", "commit", "job:b:committed"]);
});

test("the default backoff doubles from one second to one hour", () => {
  expect([1, 2, 3, 12, 13, 25].map(exponentialBackoff)).toEqual([1000, 2000, 4000, 2_048_000, 3_600_000, 3_600_000]);
});
