import type { Database } from "./db.ts";
import { tryNow } from "./job-store.ts";
import { enqueue, type RecurringJob } from "./jobs.ts";
import type { Log } from "./log.ts";
import { txScope } from "./tx.ts";

/** Work that is queued at every start, and again and again while the process runs. */
export type Schedule = {
  job: RecurringJob;
  /** Milliseconds between two runs; null for what each start needs once. */
  everyMs: number | null;
};

export const hourMs = 3_600_000;

export type ScheduleOptions = {
  db: Database;
  log: Log;
  schedules: readonly Schedule[];
  /** While this returns true nothing is queued; what becomes due is queued afterwards. */
  held: () => boolean;
  /** Milliseconds that only ever grow. */
  now?: () => number;
};

export type Scheduler = {
  /** Queues what is due. One at a time of each kind: what still waits or runs is not queued twice. */
  look(): Promise<void>;
  stop(): Promise<void>;
};

const lookEveryMs = 1000;

/**
 * Queues every schedule, then looks every second which is due. Uses a monotonic clock, so setting the machine's clock back delays
 * nothing. What an earlier process left waiting after a failure is tried at once, since the cause may have been fixed before the
 * restart.
 */
export async function startSchedules(options: ScheduleOptions): Promise<Scheduler> {
  const { db, log, held, now = () => performance.now() } = options;
  const dueAt = new Map(options.schedules.map((schedule) => [schedule, Number.NEGATIVE_INFINITY]));
  let looking: Promise<void> = Promise.resolve();
  let first = true;

  async function queueDue(): Promise<void> {
    if (held()) return;
    const begun = now();
    const due = [...dueAt].filter(([, at]) => at <= begun).map(([schedule]) => schedule);
    if (due.length === 0) return;
    await db.tx(async (tx) => {
      for (const { job } of due) await enqueue(tx, job, {}, { dedupeKey: job.name });
      if (first)
        await tryNow(
          tx,
          due.map(({ job }) => job.name),
          tx[txScope].now(),
        );
    });
    first = false;
    for (const schedule of due) dueAt.set(schedule, begun + (schedule.everyMs ?? Number.POSITIVE_INFINITY));
  }

  const look = (): Promise<void> => {
    looking = looking
      .then(queueDue)
      .catch((err: unknown) => log.warn({ err }, "scheduled jobs could not be queued; trying again"));
    return looking;
  };

  await look();
  const timer = setInterval(() => void look(), lookEveryMs);
  timer.unref();
  return {
    look,
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}
