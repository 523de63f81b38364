import { toTs } from "../../kernel/clock.ts";
import type { Reader } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import type { JobRow } from "../../kernel/jobs.ts";
import { type Actor, maskEmail } from "../../kernel/wire.ts";
import { finalBecause, finalTexts, hurryJob, retryJob } from "../envelopes/service.ts";
import { allOrganizations } from "../identity/service.ts";
import { recordOperatorAct } from "../operators/service.ts";
import type { StuckWork, StuckWorkList } from "./work-contract.ts";
import * as store from "./work-store.ts";

/** Work that is stuck: what it belongs to, why, and another try. */

export async function listStuckWork(reader: Reader, limit: number): Promise<StuckWorkList> {
  const jobs = (await store.listStuck(reader, limit)).map((job) => ({ job, ...namedIn(job) }));
  const mails = new Map(
    (await store.findMails(reader, defined(jobs.map(({ mail }) => mail)))).map((row) => [row.id, row]),
  );
  const wanted = jobs.flatMap(({ envelope, mail }) => [envelope, (mail && mails.get(mail)?.envelope) || undefined]);
  const envelopes = new Map((await store.findEnvelopes(reader, defined(wanted))).map((row) => [row.id, row]));
  const names = new Map((await allOrganizations(reader)).map(({ id, name }) => [id, name]));
  const data = jobs.map(({ job, ...about }): StuckWork => {
    const mail = about.mail === undefined ? undefined : mails.get(about.mail);
    const envelope = envelopes.get(about.envelope ?? mail?.envelope ?? "");
    const organization = envelope?.organization ?? mail?.organization ?? undefined;
    const address = mail?.to_email ?? about.email;
    const dead = job.status === "dead";
    const final = finalBecause(job);
    return {
      id: job.id,
      name: job.name,
      state: dead ? "failed" : "failing",
      organization: organization === undefined ? null : { id: organization, name: names.get(organization) ?? "" },
      envelope: envelope ? { id: envelope.id, title: envelope.title } : null,
      recipient: address === undefined ? null : maskEmail(address),
      cause: job.last_error ?? "The process ended while this was under way.",
      causeCode: job.last_error === null ? "process-ended" : null,
      attempts: job.attempts,
      since: toTs(job.created_at),
      nextAttemptAt: dead ? null : toTs(job.run_at),
      finalBecause: final && finalTexts[final],
      finalCode: final,
    };
  });
  return { data, total: await store.countStuck(reader) };
}

const defined = (values: readonly (string | undefined)[]): string[] => [
  ...new Set(values.filter((value) => value !== undefined)),
];

/** What a payload says that the work is about; sealed ones say nothing. */
function namedIn({ payload }: JobRow): { envelope?: string; mail?: string; email?: string } {
  try {
    const value: unknown = JSON.parse(payload);
    if (typeof value !== "object" || value === null) return {};
    const text = (name: string) => {
      const found: unknown = Reflect.get(value, name);
      return typeof found === "string" ? { [name]: found } : {};
    };
    return { ...text("envelope"), ...text("mail"), ...text("email") };
  } catch {
    return {};
  }
}

/**
 * Tries one again now.
 * @returns the kind of work
 * @throws AppError `not-found`, `conflict` when trying again cannot help
 */
export async function retryStuckWork(deps: Deps, actor: Actor, id: string): Promise<{ id: string; name: string }> {
  const known = (await store.listStuck(deps.db.read, 100_000)).find((job) => job.id === id);
  return { id, name: await retry(deps, actor, { id, status: known?.status ?? "dead" }) };
}

/** What waits for its next attempt is hurried, what was given up begins anew. @returns the kind of work */
async function retry(deps: Deps, actor: Actor, { id, status }: Pick<JobRow, "id" | "status">): Promise<string> {
  return await (status === "queued" ? hurryJob : retryJob)(deps, id, async (tx, job) => {
    await recordOperatorAct(tx, deps, { actor, action: "work.retried", target: id, data: { job } });
  });
}

/** Tries everything again for which it can help. */
export async function retryAllStuckWork(deps: Deps, actor: Actor): Promise<{ retried: number; left: number }> {
  const found = await store.listStuck(deps.db.read, 100_000);
  let retried = 0;
  for (const job of found) {
    try {
      await retry(deps, actor, job);
      retried += 1;
    } catch (error) {
      // It was done meanwhile, or cannot be helped: the others are not concerned.
      if (!(error instanceof AppError)) throw error;
    }
  }
  return { retried, left: found.length - retried };
}
