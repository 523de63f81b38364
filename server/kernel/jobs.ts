import { z } from "zod";
import type { Tx } from "./db.ts";
import { txScope } from "./tx.ts";

/** A row of the queue. Times are milliseconds since the epoch. */
export type JobRow = {
  id: string;
  name: string;
  queue: string;
  payload: string;
  /** What the work is about: an id of the payload, to be searched for. Null for kinds that name none. */
  subject: string | null;
  /** Jobs of a lane share its slots, so that one lane's work keeps nobody else's waiting. Null for kinds without lanes. */
  lane: string | null;
  run_at: number;
  attempts: number;
  status: "queued" | "running" | "dead";
  lease_until: number | null;
  lease_by: string | null;
  dedupe_key: string | null;
  last_error: string | null;
  created_at: number;
};

declare module "./db.ts" {
  interface Tables {
    jobs: JobRow;
  }
}

export type JobType<P> = {
  name: string;
  payload: z.ZodType<P>;
  maxAttempts: number;
  /** How long to wait after the given failed attempt (1 is the first). */
  backoffMs(attempt: number): number;
  queue: string;
  /** How many jobs of its queue run at a time; the same for every job of the queue. */
  slots: number;
  secret: boolean;
  /** How many jobs of one lane run at a time; null for a queue without lanes. The same for every job of the queue. */
  laneSlots: number | null;
  /** Its time is a wait from when it was queued, not a moment of the calendar: a clock that is set back does not lengthen it. */
  waits: boolean;
  subjectOf(payload: P): string | null;
  laneOf(payload: P): string | null;
};

type TextMember<P> = { [K in keyof P]: P[K] extends string ? K : never }[keyof P];

const hourMs = 3_600_000;

/** 1 s, 2 s, 4 s … up to one hour: 25 attempts reach over some 14 hours. */
export function exponentialBackoff(attempt: number): number {
  return Math.min(1000 * 2 ** Math.min(attempt - 1, 30), hourMs);
}

const usualSlots = 4;

/**
 * A kind of job. `secret` keeps the payload encrypted in the table; `queue` names whose free slots it uses, `slots` how many that
 * queue has; `subject` names the member of the payload by which the job is found again. `lane` divides the queue by a member of the
 * payload: at most `slots` jobs of each value run at a time, and those with the fewest running come first. `waits` marks a kind
 * whose `runAt` is a wait from now.
 * A handler runs at least once, so everything that it does before its commit must be repeatable.
 */
export function defineJob<P>(options: {
  name: string;
  payload: z.ZodType<P>;
  maxAttempts?: number;
  backoffMs?: (attempt: number) => number;
  queue?: string;
  slots?: number;
  secret?: boolean;
  subject?: TextMember<P>;
  lane?: { by: TextMember<P>; slots: number };
  waits?: boolean;
}): JobType<P> {
  const { subject, lane } = options;
  return {
    name: options.name,
    payload: options.payload,
    maxAttempts: options.maxAttempts ?? 25,
    backoffMs: options.backoffMs ?? exponentialBackoff,
    queue: options.queue ?? "default",
    slots: options.slots ?? usualSlots,
    secret: options.secret ?? false,
    laneSlots: lane?.slots ?? null,
    waits: options.waits ?? false,
    subjectOf: (payload) => (subject === undefined ? null : String(payload[subject])),
    laneOf: (payload) => (lane === undefined ? null : String(payload[lane.by])),
  };
}

export type RecurringJob = JobType<Record<string, never>>;

/**
 * A kind of job that a schedule queues again and again (`schedules.ts`). One that fails is tried again after a minute, two, four …
 * up to an hour, for as long as it takes.
 */
export function defineRecurring(name: string): RecurringJob {
  const backoffMs = (attempt: number) => Math.min(60_000 * 2 ** Math.min(attempt - 1, 30), hourMs);
  return defineJob({ name, payload: z.object({}), queue: "recurring", maxAttempts: 1_000_000, backoffMs });
}

/** What a secret payload is bound to: it cannot be moved to a job of another kind. */
export function payloadContext(name: string): string {
  return `job:${name}`;
}

/**
 * Puts a job into the queue as part of the transaction; it runs after the commit.
 * With a `dedupeKey` a job is added only while none with this key is queued or running. Mind that a running one may
 * already have read what this transaction changes: leave the key out, or let the handler look again in its commit.
 */
export async function enqueue<P>(
  tx: Tx,
  job: JobType<P>,
  payload: P,
  options: {
    /** milliseconds since the epoch */
    runAt?: number | undefined;
    dedupeKey?: string | undefined;
    /** Instead of the job's own, one in which another kind of job runs. */
    queue?: string | undefined;
  } = {},
): Promise<void> {
  // A payload that the handler would refuse must fail here, where the mistake is, and not in the queue.
  job.payload.parse(payload);
  const scope = tx[txScope];
  const text = JSON.stringify(payload);
  const now = scope.now();
  const row: JobRow = {
    id: scope.newJobId(),
    name: job.name,
    queue: options.queue ?? job.queue,
    payload: job.secret ? scope.seal(text, payloadContext(job.name)) : text,
    subject: job.subjectOf(payload),
    lane: job.laneOf(payload),
    run_at: options.runAt ?? now,
    attempts: 0,
    status: "queued",
    lease_until: null,
    lease_by: null,
    dedupe_key: options.dedupeKey ?? null,
    last_error: null,
    created_at: now,
  };
  const insert = tx.insertInto("jobs").values(row);
  await (row.dedupe_key === null ? insert : insert.onConflict((conflict) => conflict.doNothing())).execute();
  scope.notify(jobTopic(row.queue));
}

/** The topic that wakes the runner for a queue. */
export function jobTopic(queue: string): string {
  return `jobs:${queue}`;
}
