import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { sql } from "kysely";
import { z } from "zod";
import { systemClock } from "../../server/kernel/clock.ts";
import { openDatabase } from "../../server/kernel/db.ts";
import { handle, startJobs } from "../../server/kernel/job-runner.ts";
import { defineJob, enqueue } from "../../server/kernel/jobs.ts";
import { createLog } from "../../server/kernel/log.ts";
import { openSecrets } from "../../server/kernel/secrets.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { enter, ok, publishTemplate, send, submission } from "../harness/scenario.ts";
import { addNote, testMigrations } from "../kernel/tables.ts";
import { median, percentile, timed } from "./median.ts";
import type { BenchResult } from "./seal.ts";

export const benchQueue = async (): Promise<BenchResult[]> => [await benchJobs(), ...(await benchSigning())];

/** Jobs that each write one row, queued one by one, against the same rows written in a durable transaction each. */
async function benchJobs(): Promise<BenchResult> {
  const count = 2000;
  const folder = await mkdtemp(path.join(tmpdir(), "signet-bench-jobs-"));
  const db = await openDatabase({ file: path.join(folder, "bench.db"), migrations: testMigrations });
  const job = defineJob({ name: "bench", payload: z.object({ n: z.int() }) });
  const bindings = [
    handle(job, ({ n }) => Promise.resolve(async (tx) => void (await addNote(`job ${n}`).execute(tx)))),
  ];
  const secrets = openSecrets(randomBytes(32));
  const runner = startJobs({ db, clock: systemClock, secrets, log: createLog("silent"), bindings });
  const written = async (each: (n: number) => Promise<unknown>) => {
    const took = await timed(async () => {
      for (let n = 0; n < count; n += 1) await each(n);
      await runner.idle();
    });
    await db.tx((tx) => sql`delete from notes`.execute(tx));
    return took;
  };
  const bare: number[] = [];
  const jobs: number[] = [];
  try {
    for (let round = 0; round < 7; round += 1) {
      bare.push(await written((n) => db.tx((tx) => addNote(`bare ${n}`).execute(tx))));
      jobs.push(await written((n) => db.tx((tx) => enqueue(tx, job, { n }))));
    }
  } finally {
    await runner.stop(0);
    await db.close();
    await rm(folder, { recursive: true, force: true });
  }
  const perSecond = (times: readonly number[]) => Math.round((count * 1000) / median(times));
  return {
    name: "a job queued, claimed and done, each durably, against one durable write",
    ratio: median(jobs.map((time, round) => time / (bare[round] ?? Number.NaN))),
    target: "≤ 3",
    detail: `${perSecond(jobs)} jobs a second, ${perSecond(bare)} writes`,
  };
}

const queued = 100_000;
const rounds = 60;

/** Whether a long queue slows who signs: the same signatures on an appliance with an empty queue and on one with 100 000 jobs. */
async function benchSigning(): Promise<BenchResult[]> {
  const sides = [await startAppliance(), await startAppliance()] as const;
  try {
    await fill(sides[1]);
    const roles = ["Tenant", "Landlord"].map((name, index) => ({ name, order: index + 1, verification: "none" }));
    const templates = [await publishTemplate(sides[0], { roles }), await publishTemplate(sides[1], { roles })];
    const submits: [number[], number[]] = [[], []];
    const invites: [number[], number[]] = [[], []];
    // Once before it counts.
    for (let round = -1; round < rounds; round += 1)
      for (const [index, app] of sides.entries()) {
        const [email, next] = [`ada${round}@example.com`, `ben${round}@example.com`];
        await send(app, templates[index] ?? "", {
          tenant: { email },
          envelope: {
            recipients: [
              { role: "Tenant", name: "Ada", email },
              { role: "Landlord", name: "Ben", email: next },
            ],
          },
        });
        const bearer = await enter(app, email);
        const json = await submission(app, bearer);
        const begun = performance.now();
        await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json });
        const submitted = performance.now();
        await app.jobs.idle();
        if (round < 0) continue;
        submits[index]?.push(submitted - begun);
        invites[index]?.push(performance.now() - submitted);
      }
    const row = (name: string, of: (times: readonly number[]) => number, [none, all]: [number[], number[]]) => ({
      name: `${name}: ${queued} jobs queued ÷ none`,
      ratio: of(all) / of(none),
      target: "≤ 1.2",
      detail: `${of(all).toFixed(1)} against ${of(none).toFixed(1)} ms`,
    });
    const p95 = (times: readonly number[]) => percentile(times, 0.95);
    return [
      row("a signature is taken, median", median, submits),
      row("a signature is taken, p95", p95, submits),
      row("its jobs have run, the next signer is invited, median", median, invites),
    ];
  } finally {
    for (const app of sides) await app.stop();
  }
}

/** Half of them due next year, in the queue of signing mails; half due now, in a queue that nothing moves. */
async function fill({ deps }: TestAppliance): Promise<void> {
  const now = deps.clock.now();
  const row = (index: number) => ({
    id: `job_bench${index}`,
    name: "mail.send",
    queue: index % 2 === 0 ? "mail" : "stuck",
    payload: JSON.stringify({ mail: `msg_bench${index}` }),
    subject: `msg_bench${index}`,
    run_at: index % 2 === 0 ? now + 365 * 86_400_000 + index : now - index,
    attempts: 0,
    status: "queued" as const,
    lease_until: null,
    lease_by: null,
    dedupe_key: null,
    last_error: null,
    created_at: now,
  });
  for (let at = 0; at < queued; at += 1000)
    await deps.db.tx(async (tx) => {
      const rows = Array.from({ length: 1000 }, (_, index) => row(at + index));
      await tx.insertInto("jobs").values(rows).execute();
    });
}
