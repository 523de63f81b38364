import type { Clock } from "./clock.ts";
import type { Database } from "./db.ts";
import { GiveUp, type JobBinding, RetryLater } from "./job-handler.ts";
import { releaseClaimed, removeClaimed } from "./job-store.ts";
import { type JobRow, jobTopic, payloadContext } from "./jobs.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Secrets } from "./secrets.ts";
import { txScope } from "./tx.ts";

/** The lease went to someone else while the handler ran, so its commit was rolled back. */
class LeaseLost extends Error {}

const errorLength = 500;
/** Wait before a job without a handler is looked at again, when not even its death could be recorded. */
const unhandledDelayMs = 1000;
const excusedDelayMs = 5000;

export type AttemptOptions = {
  db: Database;
  clock: Clock;
  secrets: Secrets;
  log: Log;
  metrics?: Pick<Metrics, "jobs" | "jobSeconds"> | undefined;
  onBoundary?: ((point: string) => void) | undefined;
  /** Whether a failure is the disk's: then it is put off and counts as no attempt. */
  excused?: ((error: Error) => Promise<boolean>) | undefined;
  /** Names the process that holds the leases. */
  holder: string;
};

/** Runs one claimed job and records how it went; never throws. */
export function createAttempt(
  options: AttemptOptions,
): (row: JobRow, binding: JobBinding | undefined, signal: AbortSignal) => Promise<void> {
  const { db, clock, log, metrics, onBoundary, holder } = options;

  async function attempt(row: JobRow, binding: JobBinding | undefined, signal: AbortSignal): Promise<void> {
    const begun = performance.now();
    let payload: unknown;
    try {
      if (binding === undefined) throw new GiveUp("this release has no handler for the job");
      payload = readPayload(row, binding);
      // A job that ends the process never comes to its failure, so the attempts are counted before it runs too.
      if (row.attempts > binding.job.maxAttempts)
        throw new GiveUp(row.last_error ?? "the process ended with every attempt");
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
        // The row stays claimed until its lease runs out.
        log.error({ err: failure, job: row.name, id: row.id }, "a job's failure could not be recorded");
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
    // To be put off is no failure: the last one stays on record.
    const putOff = { attempts: row.attempts - 1, last_error: (row.attempts > 1 && row.last_error) || described };
    if (error instanceof RetryLater) {
      await requeue(row, { ...putOff, run_at: now + error.delayMs });
      log.info({ ...about, reason: error.message, delayMs: error.delayMs }, "job put off");
      return "put-off";
    }
    if (await options.excused?.(error)) {
      await requeue(row, { ...putOff, run_at: now + excusedDelayMs });
      log.warn({ ...about, err: error }, "job put off until the disk can be used");
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
    const delay = binding?.job.backoffMs(row.attempts) ?? unhandledDelayMs;
    await requeue(row, { run_at: now + delay, last_error: described });
    return "failed";
  }

  async function requeue(row: JobRow, change: Partial<JobRow>): Promise<void> {
    await db.tx(async (tx) => {
      await releaseClaimed(tx, row.id, holder, { status: "queued", ...change });
      tx[txScope].notify(jobTopic(row.queue));
    });
  }

  return attempt;
}
