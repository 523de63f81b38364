import { retrySeal } from "../features/envelopes/stalled.ts";
import { sealEnvelope } from "../features/evidence/jobs.ts";
import { sendMail } from "../features/mail/jobs.ts";
import { toTs } from "../kernel/clock.ts";
import type { Deps } from "../kernel/deps.ts";
import { AppError, notFound } from "../kernel/errors.ts";
import { findDead, listDead, requeueDead } from "../kernel/job-store.ts";
import { type Command, type CommandContext, print, table, UsageError } from "./command.ts";
import { withDeps } from "./with-deps.ts";

export const jobs: Command = {
  name: "jobs",
  summary: "list the jobs that failed for good, or try one again when its cause is repaired",
  usage: ["signet jobs list", "signet jobs retry JOB_ID"],
  options: {},
  run: (context) => {
    const [action, id, ...more] = context.positionals;
    if (action === "list" && id === undefined) return list(context);
    if (action === "retry" && id !== undefined && more.length === 0) return retry(context, id);
    throw new UsageError("say `list`, or `retry` and the id of a job");
  },
};

async function list(context: CommandContext): Promise<number> {
  const dead = await withDeps(context, ({ db }) => listDead(db.read));
  const rows = dead.map(({ id, name, attempts, last_error: error, created_at: created }) => {
    return { id, name, attempts, error, createdAt: toTs(created) };
  });
  const text = table(
    rows.map(({ id, name, attempts, error, createdAt }) => [id, createdAt, name, `${attempts}×`, error ?? ""]),
  );
  print(context, rows, rows.length === 0 ? "No job has failed for good." : text);
  return 0;
}

async function retry(context: CommandContext, id: string): Promise<number> {
  const name = await withDeps(context, (deps) => retryJob(deps, id));
  print(context, { id, name, status: "queued" }, `${name} is queued again; a running server takes it within a second.`);
  return 0;
}

/**
 * Queues a dead job again; an envelope whose seal had failed waits for it again, in the same transaction.
 * @returns the kind of job
 * @throws AppError `not-found`, `conflict` when trying again cannot help
 */
async function retryJob(deps: Deps, id: string): Promise<string> {
  return await deps.db.tx(async (tx) => {
    const job = await findDead(tx, id);
    if (job === undefined) throw notFound(`A failed job ${id}`);
    if (job.name === sendMail.name) {
      const detail = "The links and codes of a refused mail were wiped. Let the sender send it again.";
      throw new AppError("conflict", { detail });
    }
    if (!(await requeueDead(tx, id, deps.clock.now()))) {
      throw new AppError("conflict", { detail: "The job's content was wiped, or another one has taken its place." });
    }
    if (job.name === sealEnvelope.name) {
      const { envelope } = sealEnvelope.payload.parse(JSON.parse(job.payload));
      if (!(await retrySeal(tx, deps, envelope))) {
        throw new AppError("conflict", { detail: `The seal of ${envelope} has not failed.` });
      }
    }
    return job.name;
  });
}
