import { randomUUID } from "node:crypto";
import type { Clock } from "./clock.ts";
import type { Database, Tx } from "./db.ts";
import {
  claimDue,
  countJobs,
  nextDue,
  reclaimOthers,
  releaseClaimed,
  removeClaimed,
  renewLeases,
  requeueDead,
} from "./job-store.ts";
import { type JobRow, type JobType, jobTopic, payloadContext } from "./jobs.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Secrets } from "./secrets.ts";
import { txScope } from "./tx.ts";

export type JobContext = {
  id: string;
  /** 1 for the first. */
  attempt: number;
  /** No further attempt follows a failure of this one. */
  last: boolean;
  /** Aborted when the service stops and will not wait any longer. */
  signal: AbortSignal;
};
export type Commit = (tx: Tx) => Promise<void>;
/**
 * Does the outside work of a job, then returns what is to be committed: the runner runs that and removes the job in one
 * transaction. The work before it must be repeatable.
 */
export type Handler<P> = (payload: P, context: JobContext) => Promise<Commit | undefined>;
type OnDead<P> = (payload: P, error: Error, tx: Tx) => Promise<void>;

/** Thrown by a handler that cannot go on now; the attempt does not count as failed. */
export class RetryLater extends Error {
  readonly delayMs: number;
  constructor(message: string, delayMs: number) {
    super(message);
    this.name = "RetryLater";
    this.delayMs = delayMs;
  }
}

/** Thrown by a handler when no further attempt can help: the job is dead at once. */
export class GiveUp extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "GiveUp";
  }
}

/** The lease went to someone else while the handler ran, so its commit was rolled back. */
class LeaseLost extends Error {}

/** A job type tied to its handler, the payload's type erased. */
export type JobBinding = {
  job: Pick<JobType<never>, "name" | "queue" | "maxAttempts" | "backoffMs" | "secret">;
  run(payload: unknown, context: JobContext): Promise<Commit | undefined>;
  onDead(payload: unknown, error: Error, tx: Tx): Promise<void>;
};

/** @param options.onDead runs in the transaction that marks the job dead */
export function handle<P>(job: JobType<P>, handler: Handler<P>, options: { onDead?: OnDead<P> } = {}): JobBinding {
  return {
    job,
    async run(payload, context) {
      const parsed = job.payload.safeParse(payload);
      // The message of the parser may quote the payload, so it is not kept.
      if (!parsed.success) throw new GiveUp("the payload does not have the shape that this release expects");
      return handler(parsed.data, context);
    },
    async onDead(payload, error, tx) {
      const parsed = job.payload.safeParse(payload);
      if (parsed.success) await options.onDead?.(parsed.data, error, tx);
    },
  };
}

export type JobRunner = {
  /** Looks for due jobs now, for example after the clock was moved. */
  wake(): void;
  /** Takes no new jobs, waits for the running ones, then aborts them and gives them back to the queue. */
  stop(graceMs: number): Promise<void>;
  /** Resolves when nothing is due and nothing runs. */
  idle(): Promise<void>;
  counts(): Promise<{ queued: number; running: number; dead: number }>;
  /** @returns whether there was such a dead job that could be queued again */
  retryDead(id: string): Promise<boolean>;
};

export type JobRunnerOptions = {
  db: Database;
  clock: Clock;
  secrets: Secrets;
  log: Log;
  bindings: readonly JobBinding[];
  /** Jobs at a time per queue; 4 where nothing is said. */
  concurrency?: Record<string, number> | undefined;
  metrics?: Pick<Metrics, "jobs" | "jobSeconds"> | undefined;
  /** Called at `job:NAME:claimed`, `job:NAME:effect-done` and `job:NAME:committed`; the crash tests end the process there. */
  onBoundary?: ((point: string) => void) | undefined;
};

const defaultConcurrency = 4;
const leaseMs = 60_000;
const heartbeatMs = 20_000;
const pollMs = 1000;
const errorLength = 500;

type Running = { row: JobRow; abort: AbortController; done: Promise<void> };

/** Starts the one runner of the process. Jobs that an earlier process held are taken back at once: the data folder is locked. */
export function startJobs(options: JobRunnerOptions): JobRunner {
  const { db, clock, log, onBoundary, metrics } = options;
  const holder = randomUUID();
  const bindings = new Map(options.bindings.map((binding) => [binding.job.name, binding]));
  const queues = [...new Set(options.bindings.map((binding) => binding.job.queue))];
  const running = new Map<string, Running>();
  const busy = new Map<string, number>();
  /** Queues that may hold a due job. */
  const dirty = new Set(queues);
  const idlers = new Set<() => void>();
  let stopping = false;
  let started = false;
  let pumping: Promise<void> | undefined;
  let again = false;
  let timer: NodeJS.Timeout | undefined;

  const freeSlots = (queue: string) => (options.concurrency?.[queue] ?? defaultConcurrency) - (busy.get(queue) ?? 0);

  const unsubscribe = queues.map((queue) =>
    db.onCommitted(jobTopic(queue), () => {
      dirty.add(queue);
      pump();
    }),
  );
  const heartbeat = setInterval(() => {
    if (running.size > 0) {
      db.tx((tx) => renewLeases(tx, holder, clock.now() + leaseMs)).catch((error: unknown) =>
        log.error({ err: error }, "job leases could not be renewed"),
      );
    }
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
    if (!started) {
      const taken = await db.tx((tx) => reclaimOthers(tx, holder));
      started = true;
      if (taken > 0) log.info({ jobs: taken }, "jobs of an earlier process taken back");
    }
    const wanted = [...dirty].map((queue) => ({ queue, limit: freeSlots(queue) })).filter(({ limit }) => limit > 0);
    for (const { queue } of wanted) dirty.delete(queue);
    if (wanted.length > 0) {
      const now = clock.now();
      const claimed = await db.tx(async (tx) => {
        const rows: JobRow[][] = [];
        for (const { queue, limit } of wanted) {
          rows.push(await claimDue(tx, { queue, limit, now, leaseBy: holder, leaseUntil: now + leaseMs }));
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
    const due = await nextDue(db.read, queues);
    const now = clock.now();
    let next = pollMs;
    for (const [index, queue] of queues.entries()) {
      const at = due[index] ?? null;
      if (at === null) continue;
      if (at > now) next = Math.min(next, at - now);
      else {
        dirty.add(queue);
        if (freeSlots(queue) > 0) again = true;
      }
    }
    const nothingDue = due.every((at) => at === null || at > now);
    if (running.size === 0 && nothingDue && !again) {
      for (const resolve of idlers) resolve();
      idlers.clear();
    }
    schedule(next);
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
    busy.set(row.queue, (busy.get(row.queue) ?? 0) + 1);
    const done = attempt(row, abort.signal).finally(() => {
      running.delete(row.id);
      busy.set(row.queue, (busy.get(row.queue) ?? 1) - 1);
      // Either the queue was full and this slot is free now, or someone waits for the last job to end.
      if (dirty.has(row.queue) || running.size === 0) pump();
    });
    running.set(row.id, { row, abort, done });
  }

  async function attempt(row: JobRow, signal: AbortSignal): Promise<void> {
    const binding = bindings.get(row.name);
    const begun = performance.now();
    let payload: unknown;
    try {
      if (binding === undefined) throw new GiveUp("this release has no handler for the job");
      payload = readPayload(row, binding);
      const last = row.attempts >= binding.job.maxAttempts;
      const commit = await binding.run(payload, { id: row.id, attempt: row.attempts, last, signal });
      onBoundary?.(`job:${row.name}:effect-done`);
      await db.tx(async (tx) => {
        if (!(await removeClaimed(tx, row.id, holder))) throw new LeaseLost("the job was given back");
        await commit?.(tx);
      });
      onBoundary?.(`job:${row.name}:committed`);
      metrics?.jobs.inc({ name: row.name, outcome: "done" });
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      if (error instanceof LeaseLost) return;
      const outcome = await fail(row, binding, payload, error, signal).catch((failure: unknown) => {
        if (!stopping) log.error({ err: failure, job: row.name, id: row.id }, "a job's failure could not be recorded");
        return "unrecorded";
      });
      metrics?.jobs.inc({ name: row.name, outcome });
    } finally {
      metrics?.jobSeconds.observe({ name: row.name }, (performance.now() - begun) / 1000);
    }
  }

  function readPayload(row: JobRow, binding: JobBinding): unknown {
    if (!binding.job.secret) return JSON.parse(row.payload);
    return JSON.parse(options.secrets.open(row.payload, payloadContext(row.name)).toString());
  }

  async function fail(
    row: JobRow,
    binding: JobBinding | undefined,
    payload: unknown,
    error: Error,
    signal: AbortSignal,
  ): Promise<string> {
    const now = clock.now();
    const described = `${error.name}: ${error.message}`.slice(0, errorLength);
    const about = { job: row.name, id: row.id, attempt: row.attempts };
    if (signal.aborted) return "handed-back";
    if (error instanceof RetryLater) {
      await requeue(row, { run_at: now + error.delayMs, attempts: row.attempts - 1, last_error: described });
      log.info({ ...about, reason: error.message, delayMs: error.delayMs }, "job put off");
      return "put-off";
    }
    const dead = binding === undefined || error instanceof GiveUp || row.attempts >= binding.job.maxAttempts;
    if (dead) {
      try {
        await db.tx(async (tx) => {
          const held = await releaseClaimed(tx, row.id, holder, { status: "dead", last_error: described });
          if (held) await binding?.onDead(payload, error, tx);
        });
        log.error({ ...about, err: error }, "job failed for good");
        return "dead";
      } catch (failure) {
        // What follows from the death could not be written: the job stays, so that neither is lost.
        log.error({ ...about, err: failure }, "a dead job's consequences failed, it is tried again");
      }
    } else log.warn({ ...about, err: error }, "job failed, it is tried again");
    const delay = binding?.job.backoffMs(row.attempts) ?? pollMs;
    await requeue(row, { run_at: now + delay, last_error: described });
    return "failed";
  }

  async function requeue(row: JobRow, change: Partial<JobRow>): Promise<void> {
    await db.tx(async (tx) => {
      await releaseClaimed(tx, row.id, holder, { status: "queued", ...change });
      tx[txScope].notify(jobTopic(row.queue));
    });
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
    async retryDead(id) {
      const queued = await requeueDead(db, id, clock.now());
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
