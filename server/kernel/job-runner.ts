import { randomUUID } from "node:crypto";
import type { Clock } from "./clock.ts";
import type { Database } from "./db.ts";
import { createAttempt } from "./job-attempt.ts";
import type { JobBinding } from "./job-handler.ts";
import {
  claimDue,
  claimFairly,
  clampDelays,
  countJobs,
  nextDue,
  nextInLanes,
  reclaimOthers,
  releaseClaimed,
  releaseUnrecorded,
  renewLeases,
  requeueDead,
  wipeSecrets,
} from "./job-store.ts";
import { type JobRow, jobTopic } from "./jobs.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Secrets } from "./secrets.ts";

export {
  type Commit,
  GiveUp,
  handle,
  type JobBinding,
  type JobContext,
  RetryLater,
} from "./job-handler.ts";

export type JobRunner = {
  /** Looks for due jobs now, for example after the clock was moved. */
  wake(): void;
  /** Takes back at once what ended while nothing could be recorded; without it that waits for its lease to run out. */
  recover(): void;
  /** Takes no new jobs, waits for the running ones, then aborts them and gives them back to the queue. */
  stop(graceMs: number): Promise<void>;
  /** Resolves when nothing is due and nothing runs. */
  idle(): Promise<void>;
  counts(): Promise<{ queued: number; running: number; dead: number }>;
  /** For how many seconds the first job of each queue has been due that could be begun; 0 when none is. A full lane waits for itself. */
  ages(): Promise<ReadonlyMap<string, number>>;
  /** @returns whether there was such a dead job that could be queued again */
  retryDead(id: string): Promise<boolean>;
};

export type JobRunnerOptions = {
  db: Database;
  clock: Clock;
  secrets: Secrets;
  log: Log;
  bindings: readonly JobBinding[];
  metrics?: Pick<Metrics, "jobs" | "jobSeconds"> | undefined;
  /** While it says so nothing new is begun: asked before each round. */
  held?: (() => boolean) | undefined;
  /** Whether a failure is the disk's and not the job's: it counts as no attempt. */
  excused?: ((error: Error) => Promise<boolean>) | undefined;
  /** Called at `job:NAME:claimed`, `job:NAME:effect-done` and `job:NAME:committed`; the crash tests end the process there. */
  onBoundary?: ((point: string) => void) | undefined;
};

const leaseMs = 60_000;
const heartbeatMs = 20_000;
const pollMs = 1000;
const wipeAfterMs = 24 * 3_600_000;

type Running = { row: JobRow; abort: AbortController; done: Promise<void> };

/** Starts the one runner of the process. Jobs that an earlier process held are taken back at once: the data folder is locked. */
export function startJobs(options: JobRunnerOptions): JobRunner {
  const { db, clock, log, onBoundary } = options;
  const holder = randomUUID();
  const attempt = createAttempt({ ...options, holder });
  const bindings = new Map(options.bindings.map((binding) => [binding.job.name, binding]));
  const slots = slotsOf(options.bindings);
  const lanes = laneSlotsOf(options.bindings);
  const queues = [...slots.keys()];
  const plain = queues.filter((queue) => !lanes.has(queue));
  const secretNames = options.bindings.filter(({ job }) => job.secret).map(({ job }) => job.name);
  /** Kinds whose time is a wait from when they were queued. */
  const waiting = options.bindings.filter(({ job }) => job.waits).map(({ job }) => job.name);
  const running = new Map<string, Running>();
  const busy = new Map<string, number>();
  const busyInLanes = new Map<string, Map<string, number>>();
  /** Queues that may hold a due job. */
  const dirty = new Set(queues);
  const idlers = new Set<() => void>();
  let stopping = false;
  let started = false;
  /** Jobs may be claimed that ended: a round begins by giving them back, for in it nothing else is being claimed. */
  let unrecorded = false;
  let pumping: Promise<void> | undefined;
  let again = false;
  let timer: NodeJS.Timeout | undefined;

  const freeSlots = (queue: string) => (slots.get(queue) ?? 0) - (busy.get(queue) ?? 0);

  const busyIn = (queue: string, lane: string) => busyInLanes.get(queue)?.get(lane) ?? 0;

  const backoffMs = ({ name, attempts }: JobRow) => bindings.get(name)?.job.backoffMs(attempts) ?? 0;

  const unsubscribe = queues.map((queue) =>
    db.onCommitted(jobTopic(queue), () => {
      dirty.add(queue);
      pump();
    }),
  );
  let lastSeen = clock.now();
  const heartbeat = setInterval(() => {
    const now = clock.now();
    const setBack = now < lastSeen;
    lastSeen = now;
    db.tx(async (tx) => {
      if (setBack && (await clampDelays(tx, { now, backoffMs, waiting })) > 0) log.warn({}, "the clock was set back");
      await renewLeases(tx, { running: [...running.keys()], now, leaseUntil: now + leaseMs });
      await wipeSecrets(tx, secretNames, now - wipeAfterMs);
    }).catch((error: unknown) => log.error({ err: error }, "job leases could not be renewed"));
  }, heartbeatMs);
  heartbeat.unref();

  function pump(): void {
    if (stopping) return;
    if (pumping !== undefined) {
      again = true;
      return;
    }
    pumping = round()
      .catch((error: unknown) => {
        if (stopping) return;
        log.error({ err: error }, "the job queue could not be read");
        for (const queue of queues) dirty.add(queue);
        schedule(pollMs);
      })
      .finally(() => {
        pumping = undefined;
        if (again) {
          again = false;
          pump();
        }
      });
  }

  /** Claims what fits; when nothing is left to claim, sets the timer for what is due next. */
  async function round(): Promise<void> {
    if (options.held?.() === true) {
      if (running.size === 0) {
        for (const resolve of idlers) resolve();
        idlers.clear();
      }
      return schedule(pollMs);
    }
    if (!started) {
      const taken = await db.tx(async (tx) => {
        await wipeSecrets(tx, secretNames, clock.now() - wipeAfterMs);
        const reclaimed = await reclaimOthers(tx, { leaseBy: holder, now: clock.now(), backoffMs });
        // What was taken back may be from a time that the clock has not reached again.
        await clampDelays(tx, { now: clock.now(), backoffMs, waiting });
        return reclaimed;
      });
      started = true;
      if (taken > 0) log.info({ jobs: taken }, "jobs of an earlier process taken back");
    }
    if (unrecorded) {
      await db.tx((tx) => releaseUnrecorded(tx, { leaseBy: holder, running: [...running.keys()] }));
      unrecorded = false;
    }
    const wanted = [...dirty].map((queue) => ({ queue, limit: freeSlots(queue) })).filter(({ limit }) => limit > 0);
    for (const { queue } of wanted) dirty.delete(queue);
    if (wanted.length > 0) {
      const now = clock.now();
      const claimed = await db.tx(async (tx) => {
        const rows: JobRow[][] = [];
        for (const { queue, limit } of wanted) {
          const claim = { queue, limit, now, leaseBy: holder, leaseUntil: now + leaseMs };
          const laneSlots = lanes.get(queue);
          rows.push(
            laneSlots === undefined
              ? await claimDue(tx, claim)
              : await claimFairly(tx, { ...claim, laneSlots, busyIn: (lane) => busyIn(queue, lane) }),
          );
        }
        return rows;
      });
      if (stopping) return handBack(claimed.flat());
      for (const [index, rows] of claimed.entries()) {
        const request = wanted[index];
        if (request !== undefined && rows.length === request.limit) dirty.add(request.queue);
        for (const row of rows) start(row);
      }
    }
    if (again) return;
    const due = await dueTimes();
    const now = clock.now();
    let next = pollMs;
    for (const [queue, at] of due) {
      if (at === null) continue;
      if (at > now) next = Math.min(next, at - now);
      else {
        dirty.add(queue);
        if (freeSlots(queue) > 0) again = true;
      }
    }
    const nothingDue = [...due.values()].every((at) => at === null || at > now);
    if (running.size === 0 && nothingDue && !again) {
      for (const resolve of idlers) resolve();
      idlers.clear();
    }
    schedule(next);
  }

  /** When the next job is due of each queue that could begin one. */
  async function dueTimes(): Promise<Map<string, number | null>> {
    const found = await nextDue(db.read, plain);
    const due = new Map(plain.map((queue, index) => [queue, found[index] ?? null]));
    for (const [queue, laneSlots] of lanes) {
      const waiting = await nextInLanes(db.read, queue);
      const open = waiting.filter(({ lane }) => busyIn(queue, lane) < laneSlots);
      // What a full lane holds is looked at when one of its jobs ends.
      if (open.length < waiting.length) dirty.add(queue);
      due.set(queue, open.length === 0 ? null : Math.min(...open.map(({ run_at }) => run_at)));
    }
    return due;
  }

  function schedule(delay: number): void {
    clearTimeout(timer);
    if (stopping) return;
    timer = setTimeout(() => {
      for (const queue of queues) dirty.add(queue);
      pump();
    }, delay);
  }

  function start(row: JobRow): void {
    onBoundary?.(`job:${row.name}:claimed`);
    const abort = new AbortController();
    count(row, 1);
    const done = attempt(row, bindings.get(row.name), abort.signal).finally(() => {
      running.delete(row.id);
      count(row, -1);
      // Either the queue was full and this slot is free now, or someone waits for the last job to end.
      if (dirty.has(row.queue) || running.size === 0) pump();
    });
    running.set(row.id, { row, abort, done });
  }

  function count({ queue, lane }: JobRow, change: 1 | -1): void {
    busy.set(queue, (busy.get(queue) ?? 0) + change);
    if (lane === null) return;
    const inLanes = busyInLanes.get(queue) ?? new Map<string, number>();
    busyInLanes.set(queue, inLanes);
    const left = (inLanes.get(lane) ?? 0) + change;
    if (left > 0) inLanes.set(lane, left);
    else inLanes.delete(lane);
  }

  pump();

  return {
    wake() {
      for (const queue of queues) dirty.add(queue);
      pump();
    },
    async idle() {
      if (stopping) return;
      const resting = new Promise<void>((resolve) => idlers.add(resolve));
      for (const queue of queues) dirty.add(queue);
      pump();
      await resting;
    },
    recover() {
      unrecorded = true;
      this.wake();
    },
    async stop(graceMs) {
      stopping = true;
      clearTimeout(timer);
      clearInterval(heartbeat);
      for (const end of unsubscribe) end();
      for (const resolve of idlers) resolve();
      await pumping;
      await settled(graceMs);
      const left = [...running.values()];
      for (const { abort } of left) abort.abort(new Error("the service stops"));
      if (left.length > 0) await handBack(left.map(({ row }) => row));
    },
    counts: () => countJobs(db.read),
    async ages() {
      const due = await dueTimes();
      const now = clock.now();
      return new Map(queues.map((queue) => [queue, Math.max(0, now - (due.get(queue) ?? now)) / 1000]));
    },
    async retryDead(id) {
      const queued = await db.tx((tx) => requeueDead(tx, id, clock.now()));
      if (queued) this.wake();
      return queued;
    },
  };

  /** An attempt that we end ourselves does not count. */
  async function handBack(rows: readonly JobRow[]): Promise<void> {
    await db.tx(async (tx) => {
      for (const row of rows) {
        await releaseClaimed(tx, row.id, holder, { status: "queued", attempts: row.attempts - 1 });
      }
    });
    log.info({ jobs: rows.map((row) => row.name) }, "jobs were handed back");
  }

  /** Waits until no job runs, at most this long. */
  async function settled(graceMs: number): Promise<void> {
    let limit: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      limit = setTimeout(resolve, graceMs);
    });
    await Promise.race([Promise.all([...running.values()].map(({ done }) => done)), late]);
    clearTimeout(limit);
  }
}

/** Slots of one lane, by the queue; queues without lanes are left out. */
function laneSlotsOf(bindings: readonly JobBinding[]): Map<string, number> {
  const lanes = new Map<string, number>();
  for (const { job } of bindings) {
    if (job.laneSlots === null) continue;
    if (bindings.some(({ job: other }) => other.queue === job.queue && other.laneSlots !== job.laneSlots))
      throw new Error(`jobs of the queue ${job.queue} name different numbers of slots for a lane`);
    lanes.set(job.queue, job.laneSlots);
  }
  return lanes;
}

function slotsOf(bindings: readonly JobBinding[]): Map<string, number> {
  const slots = new Map<string, number>();
  for (const { job, alsoIn } of bindings)
    for (const queue of [job.queue, ...alsoIn]) {
      const known = slots.get(queue) ?? job.slots;
      if (known !== job.slots) throw new Error(`jobs of the queue ${queue} name different numbers of slots`);
      slots.set(queue, known);
    }
  return slots;
}
