import { sql } from "kysely";
import type { Reader, Tx } from "./db.ts";
import { type JobRow, type JobType, jobTopic } from "./jobs.ts";
import { txScope } from "./tx.ts";

type Claim = { queue: string; now: number; limit: number; leaseBy: string; leaseUntil: number };

/** Takes up to `limit` due jobs of a queue, or of one lane of it, oldest first, under a lease. */
export function claimDue(tx: Tx, options: Claim & { lane?: string }): Promise<JobRow[]> {
  return tx
    .updateTable("jobs")
    .set((row) => ({
      status: "running",
      attempts: row("attempts", "+", 1),
      lease_by: options.leaseBy,
      lease_until: options.leaseUntil,
    }))
    .where("id", "in", (row) =>
      row
        .selectFrom("jobs")
        .select("id")
        .where("status", "=", "queued")
        .where("queue", "=", options.queue)
        .$if(options.lane !== undefined, (of) => of.where("lane", "=", options.lane ?? null))
        .where("run_at", "<=", options.now)
        .orderBy("run_at")
        .limit(options.limit),
    )
    .returningAll()
    .execute();
}

/** When the next job of a lane is due. */
export type Lane = { lane: string; run_at: number };

/** The lanes of a queue in which a job waits; two seeks in the index for each, however many jobs there are. */
export async function nextInLanes(reader: Reader, queue: string): Promise<Lane[]> {
  const { rows } = await sql<Lane>`
    with recursive lanes(lane) as (
      select min(lane) from jobs where status = 'queued' and queue = ${queue} and lane is not null
      union all
      select (select min(lane) from jobs where status = 'queued' and queue = ${queue} and jobs.lane > lanes.lane)
      from lanes where lanes.lane is not null
    )
    select lane, (
      select min(run_at) from jobs where status = 'queued' and queue = ${queue} and jobs.lane = lanes.lane
    ) as run_at
    from lanes where lane is not null
  `.execute(reader);
  return rows;
}

/** As `claimDue`, at most `laneSlots` of a lane at a time; a lane with little under way comes before one with much. */
export async function claimFairly(
  tx: Tx,
  options: Claim & { laneSlots: number; busyIn: (lane: string) => number },
): Promise<JobRow[]> {
  const { laneSlots, busyIn, ...claim } = options;
  const lanes = (await nextInLanes(tx, claim.queue))
    .filter(({ run_at }) => run_at <= claim.now)
    .map(({ lane, run_at }) => ({ lane, run_at, busy: busyIn(lane) }))
    .filter(({ busy }) => busy < laneSlots)
    .sort((a, b) => a.busy - b.busy || a.run_at - b.run_at);
  const rows: JobRow[] = [];
  for (const { lane, busy } of lanes) {
    const limit = Math.min(laneSlots - busy, claim.limit - rows.length);
    if (limit <= 0) break;
    rows.push(...(await claimDue(tx, { ...claim, lane, limit })));
  }
  return rows;
}

/** @returns whether the lease was still held */
export async function removeClaimed(tx: Tx, id: string, leaseBy: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom("jobs")
    .where("id", "=", id)
    .where("lease_by", "=", leaseBy)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** Ends the lease and changes the row. @returns whether the lease was still held */
export async function releaseClaimed(
  tx: Tx,
  id: string,
  leaseBy: string,
  change: Partial<Pick<JobRow, "status" | "run_at" | "attempts" | "last_error">>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("jobs")
    .set({ ...change, lease_by: null, lease_until: null })
    .where("id", "=", id)
    .where("lease_by", "=", leaseBy)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/**
 * Gives every job of another holder back to the queue: while the data folder is locked, such a holder is dead. The first
 * time a job is due at once; then it may be what ended the process, and waits as after any other failure.
 */
export async function reclaimOthers(
  tx: Tx,
  options: { leaseBy: string; now: number; backoffMs: (row: JobRow) => number },
): Promise<number> {
  const rows = await tx
    .selectFrom("jobs")
    .selectAll()
    .where("status", "=", "running")
    .where("lease_by", "!=", options.leaseBy)
    .execute();
  for (const row of rows) {
    await tx
      .updateTable("jobs")
      .set({ status: "queued", lease_by: null, lease_until: null })
      .$if(row.attempts > 1, (update) => update.set({ run_at: options.now + options.backoffMs(row) }))
      .where("id", "=", row.id)
      .execute();
  }
  return rows.length;
}

/** Gives back what this holder has claimed and does not run: neither its result nor its failure could be written. */
export async function releaseUnrecorded(
  tx: Tx,
  { leaseBy, running }: { leaseBy: string; running: readonly string[] },
): Promise<void> {
  await tx
    .updateTable("jobs")
    .set((row) => ({
      status: "queued",
      lease_by: null,
      lease_until: null,
      attempts: row.fn<number>("max", [row("attempts", "-", 1), row.val(0)]),
    }))
    .where("status", "=", "running")
    .where("lease_by", "=", leaseBy)
    .$if(running.length > 0, (update) => update.where("id", "not in", running))
    .execute();
}

/** Extends the leases of the jobs that run, and gives back those that ran out: their end could not be recorded. */
export async function renewLeases(
  tx: Tx,
  options: { running: readonly string[]; now: number; leaseUntil: number },
): Promise<void> {
  if (options.running.length > 0) {
    await tx.updateTable("jobs").set({ lease_until: options.leaseUntil }).where("id", "in", options.running).execute();
  }
  await tx
    .updateTable("jobs")
    .set({ status: "queued", lease_by: null, lease_until: null })
    .where("status", "=", "running")
    .where("lease_until", "<", options.now)
    .execute();
}

/**
 * Brings forward what waits only because the clock was set back: a job that was due when it was queued, and one whose wait
 * after a failure is longer than such a wait can be. A time that was asked for stays.
 */
export async function clampDelays(
  tx: Tx,
  options: { now: number; backoffMs: (row: JobRow) => number; waiting: readonly string[] },
): Promise<number> {
  const { now, waiting } = options;
  let moved = 0;
  if (waiting.length > 0) {
    const { numUpdatedRows } = await tx
      .updateTable("jobs")
      .set((row) => ({
        run_at: sql<number>`${row.ref("run_at")} - ${row.ref("created_at")} + ${now}`,
        created_at: now,
      }))
      .where("status", "=", "queued")
      .where("created_at", ">", now)
      .where("attempts", "=", 0)
      .where("name", "in", waiting)
      .executeTakeFirst();
    moved += Number(numUpdatedRows);
  }
  const rows = await tx
    .selectFrom("jobs")
    .selectAll()
    .where("status", "=", "queued")
    .where("run_at", ">", now)
    .where((row) =>
      // One that was put off has no attempts, but says why.
      row.or([row("attempts", ">", 0), row("last_error", "is not", null), row("created_at", "=", row.ref("run_at"))]),
    )
    .execute();
  for (const row of rows) {
    const latest = row.attempts > 0 ? now + options.backoffMs(row) : now;
    if (row.run_at <= latest) continue;
    await tx.updateTable("jobs").set({ run_at: latest }).where("id", "=", row.id).execute();
    moved += 1;
  }
  return moved;
}

/** When the next job of each queue is due, null for a queue without one; one seek in the index per queue. */
export async function nextDue(reader: Reader, queues: readonly string[]): Promise<(number | null)[]> {
  if (queues.length === 0) return [];
  const row = await reader
    .selectNoFrom((from) =>
      queues.map((queue, index) =>
        from
          .selectFrom("jobs")
          .select((job) => job.fn.min("run_at").as("run_at"))
          .where("status", "=", "queued")
          .where("queue", "=", queue)
          .as(`q${index}`),
      ),
    )
    .executeTakeFirstOrThrow();
  return queues.map((_, index) => {
    const due: unknown = Reflect.get(row, `q${index}`);
    return typeof due === "number" ? due : null;
  });
}

export async function findDead(reader: Reader, id: string): Promise<JobRow | undefined> {
  return await reader
    .selectFrom("jobs")
    .selectAll()
    .where("id", "=", id)
    .where("status", "=", "dead")
    .executeTakeFirst();
}

/** Dead jobs about this subject, oldest first. */
export function findDeadAbout(reader: Reader, subject: string): Promise<JobRow[]> {
  return reader
    .selectFrom("jobs")
    .selectAll()
    .where("status", "=", "dead")
    .where("subject", "=", subject)
    .orderBy("created_at")
    .execute();
}

/** Jobs of this kind that are queued or run, about this subject or about any. */
export function findLive<P>(reader: Reader, job: JobType<P>, subject?: string): Promise<JobRow[]> {
  const live = reader.selectFrom("jobs").selectAll().where("name", "=", job.name).where("status", "!=", "dead");
  return (subject === undefined ? live : live.where("subject", "=", subject)).execute();
}

/** Takes back what is queued or runs of this kind about this subject; what was claimed ends without a record. */
export async function removeLive(tx: Tx, job: Pick<JobType<never>, "name">, subject: string): Promise<void> {
  await tx
    .deleteFrom("jobs")
    .where("name", "=", job.name)
    .where("status", "!=", "dead")
    .where("subject", "=", subject)
    .execute();
}

export async function countJobs(reader: Reader): Promise<{ queued: number; running: number; dead: number }> {
  const rows = await reader
    .selectFrom("jobs")
    .select((job) => ["status", job.fn.countAll<number>().as("count")])
    .groupBy("status")
    .execute();
  const counts = { queued: 0, running: 0, dead: 0 };
  for (const { status, count } of rows) counts[status] = count;
  return counts;
}

/** Empties the payload of dead jobs that hold a secret and were made before the given time. */
export async function wipeSecrets(tx: Tx, names: readonly string[], before: number): Promise<void> {
  if (names.length === 0) return;
  await tx
    .updateTable("jobs")
    .set({ payload: "" })
    .where("status", "=", "dead")
    .where("name", "in", names)
    .where("created_at", "<", before)
    .where("payload", "!=", "")
    .execute();
}

/** Makes jobs of these kinds due that wait after a failure; their attempts are counted anew. */
export async function tryNow(tx: Tx, names: readonly string[], now: number): Promise<void> {
  await tx
    .updateTable("jobs")
    .set({ run_at: now, attempts: 0 })
    .where("name", "in", names)
    .where("status", "=", "queued")
    .where("attempts", ">", 0)
    .execute();
}

/** Makes a job that waits after a failure due now. @returns its name; undefined when there is none that waits */
export async function hurryQueued(tx: Tx, id: string, now: number): Promise<string | undefined> {
  const job = await tx
    .updateTable("jobs")
    .set((row) => ({ run_at: row.fn<number>("min", ["run_at", row.val(now)]) }))
    .where("id", "=", id)
    .where("status", "=", "queued")
    .where("attempts", ">", 0)
    .returning(["name", "queue"])
    .executeTakeFirst();
  if (job === undefined) return undefined;
  tx[txScope].notify(jobTopic(job.queue));
  return job.name;
}

/** Makes a job that is queued due now, in this queue. */
export async function bringForward(tx: Tx, id: string, { now, queue }: { now: number; queue: string }): Promise<void> {
  await tx
    .updateTable("jobs")
    .set((row) => ({ queue, run_at: row.fn<number>("min", ["run_at", row.val(now)]) }))
    .where("id", "=", id)
    .where("status", "=", "queued")
    .execute();
  tx[txScope].notify(jobTopic(queue));
}

/** @returns whether there was such a dead job with its payload, and no newer one under its dedupe key */
export async function requeueDead(tx: Tx, id: string, now: number): Promise<boolean> {
  const job = await tx
    .selectFrom("jobs")
    .select(["dedupe_key", "queue"])
    .where("id", "=", id)
    .where("status", "=", "dead")
    .where("payload", "!=", "")
    .executeTakeFirst();
  if (job === undefined) return false;
  if (job.dedupe_key !== null) {
    const twin = await tx
      .selectFrom("jobs")
      .select("id")
      .where("dedupe_key", "=", job.dedupe_key)
      .where("status", "!=", "dead")
      .executeTakeFirst();
    if (twin !== undefined) return false;
  }
  await tx.updateTable("jobs").set({ status: "queued", run_at: now, attempts: 0 }).where("id", "=", id).execute();
  tx[txScope].notify(jobTopic(job.queue));
  return true;
}
