import type { OrganizationCaller } from "../../kernel/caller.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { findDead, findDeadAbout, hurryQueued, requeueDead } from "../../kernel/job-store.ts";
import type { JobRow } from "../../kernel/jobs.ts";
import { recordAdminAct } from "../identity/service.ts";
import { noteDeliveryError, sendMail } from "../mail/jobs.ts";
import { announceEnvelope } from "./audit.ts";
import { inviteViewer, renderEnvelope, sealEnvelope, tellViewers } from "./jobs.ts";
import { ownedEnvelope } from "./owned.ts";
import { retrySeal } from "./stalled.ts";
import { inProgress } from "./state.ts";
import type { EnvelopeRow } from "./tables.ts";

/** Jobs that failed for good, tried again once their cause is repaired. */

/** Why trying a dead job again cannot help, by code; pages have words of their own for each. */
export const finalTexts = {
  "links-wiped": "The links and codes of a refused mail were wiped. Let the sender send it again.",
  "content-wiped": "Its content was wiped a day after it failed.",
} as const;
type FinalCode = keyof typeof finalTexts;

/** Why trying a dead job again cannot help; null when it can. */
export function finalBecause({ name, status, payload }: Pick<JobRow, "name" | "status" | "payload">): FinalCode | null {
  if (status !== "dead") return null;
  if (name === sendMail.name) return "links-wiped";
  return payload === "" ? "content-wiped" : null;
}

/** Written in the transaction of the retry. */
type Note = (tx: Tx, job: string) => Promise<void>;

/**
 * Queues a dead job again; an envelope whose seal had failed waits for it again, in the same transaction.
 * @returns the kind of job
 * @throws AppError `not-found`, `conflict` when trying again cannot help
 */
export async function retryJob(deps: Deps, id: string, note: Note): Promise<string> {
  return await deps.db.tx(async (tx) => {
    const job = await findDead(tx, id);
    if (job === undefined) throw notFound(`A failed job ${id}`);
    const final = finalBecause(job);
    if (final !== null) throw new AppError("conflict", { detail: finalTexts[final] });
    await requeue(tx, deps, job);
    await note(tx, job.name);
    return job.name;
  });
}

/**
 * Tries a job that waits after a failure now; what it waits for later stays as it is.
 * @returns the kind of job
 * @throws AppError `not-found`
 */
export async function hurryJob(deps: Deps, id: string, note: Note): Promise<string> {
  return await deps.db.tx(async (tx) => {
    const name = await hurryQueued(tx, id, deps.clock.now());
    if (name === undefined) throw notFound(`A waiting job ${id}`);
    await note(tx, name);
    return name;
  });
}

async function requeue(tx: Tx, deps: Deps, job: JobRow): Promise<void> {
  if (!(await requeueDead(tx, job.id, deps.clock.now()))) {
    throw new AppError("conflict", { detail: "The job's content was wiped, or another one has taken its place." });
  }
  if (job.name === sealEnvelope.name) {
    const { envelope } = sealEnvelope.payload.parse(JSON.parse(job.payload));
    if (!(await retrySeal(tx, deps, envelope))) {
      throw new AppError("conflict", { detail: `The seal of ${envelope} has not failed.` });
    }
  }
}

/**
 * Queues every step again that this envelope waits for and that failed for good.
 * @throws AppError `not-found`, `conflict` when nothing is stuck
 */
export async function retryEnvelope(
  deps: Deps,
  { organization, testMode, actor }: OrganizationCaller,
  id: string,
  ip: string,
): Promise<void> {
  const { envelope } = await ownedEnvelope(deps, id, { organization, testMode });
  await deps.db.tx(async (tx) => {
    const dead = await findDeadAbout(tx, envelope.id);
    const stuck = dead.filter((job) => helps(job.name, envelope));
    if (stuck.length === 0) throw new AppError("conflict", { detail: "No step of this envelope has failed for good." });
    for (const job of stuck) await requeue(tx, deps, job);
    const data = { jobs: stuck.map(({ name }) => name) };
    await recordAdminAct(tx, deps, organization, { actor, action: "envelope.retried", target: id, ip, data });
    announceEnvelope(tx, deps, id);
  });
}

/** Whether trying this again can still change anything. */
function helps(job: string, { status, seal }: EnvelopeRow): boolean {
  switch (job) {
    case sealEnvelope.name:
      return seal === "failed";
    case inviteViewer.name:
    case tellViewers.name:
    case noteDeliveryError.name:
      return true;
    // An envelope that cannot be drawn is voided, and a voided one stays so.
    case renderEnvelope.name:
      return status === "rendering";
    default:
      return inProgress(status);
  }
}
