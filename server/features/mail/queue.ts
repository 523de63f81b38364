import type Catalogue from "../../../locales/en/findings.json";
import { toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { english } from "../../kernel/english.ts";
import { type Actor, maskEmail } from "../../kernel/wire.ts";
import { recordOperatorAct } from "../operators/service.ts";
import { sendMail } from "./jobs.ts";
import type { MailQueue, MailTest, QueuedMail } from "./queue-contract.ts";
import * as store from "./queue-store.ts";
import { rehearseMail } from "./rehearsal.ts";
import { type MailRemedy, mailRemedies } from "./remedies.ts";

/** Whether mail goes out, and what keeps it here. */

/** Sends a mail now and tells how it went. */
export async function testMail(
  deps: Pick<Deps, "config" | "clock" | "db">,
  actor: Actor,
  input: { to: string; smtpUrl?: string | undefined; mailFrom?: string | undefined },
): Promise<MailTest> {
  const begun = performance.now();
  const { error, transcript, by } = await rehearseMail(deps, input.to, input);
  const milliseconds = Math.round(performance.now() - begun);
  const code = error && remedyFor(error);
  const data = { to: maskEmail(input.to), delivered: error === null, candidate: input.smtpUrl !== undefined };
  await deps.db.tx((tx) => recordOperatorAct(tx, deps, { actor, action: "mail.tested", data }));
  return {
    delivered: error === null,
    by,
    error: error?.message ?? null,
    code,
    action: code && english<typeof Catalogue>("findings")(`mailRemedy.${code}`),
    transcript,
    milliseconds,
  };
}

/** @returns the code of the error, where there are words for it */
function remedyFor(error: Error): MailRemedy {
  const code = "code" in error ? error.code : null;
  return mailRemedies.find((one) => one === code) ?? "other";
}

export async function readMailQueue({ db, config }: Pick<Deps, "db" | "config">, limit: number): Promise<MailQueue> {
  const { read } = db;
  const [rows, counted] = await Promise.all([store.listUnsent(read, limit), store.countMails(read)]);
  const jobs = await store.findDeliveries(
    read,
    sendMail.name,
    rows.map(({ id }) => id),
  );
  const byMail = new Map(jobs.map((job) => [job.subject, job]));
  const counts = { queued: 0, failed: 0, held: 0, sent: 0, written: 0 };
  for (const { status, count } of counted) counts[status] = count;
  const data = rows.flatMap((row): QueuedMail[] => {
    const { id, status, organization, organization_name: name } = row;
    if (status === "sent" || status === "written" || status === "nobody") return [];
    const job = byMail.get(id);
    return [
      {
        id,
        organization: organization === null || name === null ? null : { id: organization, name },
        kind: row.kind,
        to: maskEmail(row.to_email),
        status,
        heldFor: row.held_for,
        cause: row.error ?? job?.last_error ?? null,
        attempts: job?.attempts ?? 0,
        createdAt: row.created_at,
        nextAttemptAt: job?.status === "queued" ? toTs(job.run_at) : null,
      },
    ];
  });
  const server = config.smtpUrl === undefined ? null : new URL(config.smtpUrl).host;
  return { by: server === null ? "file" : "smtp", server, counts, data };
}
