import { toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { type Actor, maskEmail } from "../../kernel/wire.ts";
import { sendMail } from "../mail/jobs.ts";
import { rehearseMail } from "../mail/rehearsal.ts";
import type { MailQueue, MailTest, QueuedMail } from "./mail-contract.ts";
import * as store from "./mail-store.ts";
import { recordOperatorAct } from "./operator-audit.ts";

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
  const data = { to: maskEmail(input.to), delivered: error === null, candidate: input.smtpUrl !== undefined };
  await deps.db.tx((tx) => recordOperatorAct(tx, deps, { actor, action: "mail.tested", data }));
  return {
    delivered: error === null,
    by,
    error: error?.message ?? null,
    action: error && actionFor(error),
    transcript,
    milliseconds,
  };
}

function actionFor(error: Error): string {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const remedies: Readonly<Record<string, string>> = {
    EDNS: "Look at the host name in SIGNET_SMTP_URL, and whether this machine can resolve names.",
    ECONNECTION: "Look at host and port in SIGNET_SMTP_URL, and whether a firewall stands between.",
    ESOCKET:
      "Look at host and port, and whether smtp:// or smtps:// is right: port 465 wants smtps://. A certificate of a private authority needs SIGNET_CA_FILE.",
    ETIMEDOUT: "The mail server does not answer: look at port and firewall, and whether smtp:// or smtps:// is right.",
    ETLS: "The mail server offers no encryption that can be used: look at smtp:// or smtps://, and at SIGNET_CA_FILE.",
    EAUTH: "Look at user and password in SIGNET_SMTP_URL; characters such as @ and / are written as %40 and %2F.",
    ENOAUTH: "The mail server wants a user and a password: put them into SIGNET_SMTP_URL.",
    EENVELOPE:
      "The mail server refuses the sender or the recipient: look at SIGNET_MAIL_FROM, and whether it lets this machine relay.",
    EMESSAGE: "The mail server refuses what the mail holds: look at its answer in the transcript.",
  };
  return remedies[code] ?? "Look at the transcript, and at the log of the mail server.";
}

export async function readMailQueue({ db, config }: Pick<Deps, "db" | "config">, limit: number): Promise<MailQueue> {
  const { read } = db;
  const [rows, counted] = await Promise.all([store.listUnsent(read, limit), store.countMails(read)]);
  const jobs = await store.findDeliveries(
    read,
    sendMail.name,
    rows.map(({ id }) => id),
  );
  const byPayload = new Map(jobs.map((job) => [job.payload, job]));
  const counts = { queued: 0, failed: 0, held: 0, sent: 0, written: 0 };
  for (const { status, count } of counted) counts[status] = count;
  const data = rows.flatMap((row): QueuedMail[] => {
    const { id, status, organization, organization_name: name } = row;
    if (status === "sent" || status === "written") return [];
    const job = byPayload.get(JSON.stringify({ mail: id }));
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
