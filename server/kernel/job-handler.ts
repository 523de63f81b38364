import type { Tx } from "./db.ts";
import type { JobType } from "./jobs.ts";

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

/** A job type tied to its handler, the payload's type erased. */
export type JobBinding = {
  job: Pick<
    JobType<never>,
    "name" | "queue" | "slots" | "laneSlots" | "waits" | "maxAttempts" | "backoffMs" | "secret"
  >;
  /** Further queues, of as many slots, in which jobs of this kind may stand. */
  alsoIn: readonly string[];
  run(payload: unknown, context: JobContext): Promise<Commit | undefined>;
  onDead(payload: unknown, error: Error, tx: Tx): Promise<void>;
};

/** @param options.onDead runs in the transaction that marks the job dead */
export function handle<P>(
  job: JobType<P>,
  handler: Handler<P>,
  options: { onDead?: OnDead<P>; alsoIn?: readonly string[] } = {},
): JobBinding {
  return {
    job,
    alsoIn: options.alsoIn ?? [],
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
