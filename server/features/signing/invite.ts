import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Commit, JobContext } from "../../kernel/job-runner.ts";
import type { InviteReason } from "../envelopes/jobs.ts";
import { clearStall, loadEnvelope, mailHead, senderName } from "../envelopes/service.ts";
import { queueMail } from "../mail/service.ts";
import { unlock } from "./code-store.ts";
import { localeOf, type RecipientOf, standingOf } from "./signer.ts";
import { actionRefusal } from "./state.ts";
import { revokeLinks } from "./store.ts";
import { mintLink } from "./tokens.ts";

/**
 * Mails a signing link. The token is made in the transaction that queues the mail, so no run leaves one behind that
 * nobody got. A resend takes the place of every earlier link and lifts a lock: it did so when it was asked for, and does so again
 * for links that were made since.
 */
export async function invite(
  deps: Deps,
  payload: { envelope: string; recipient: string; reason?: InviteReason | undefined },
  { id: job }: Pick<JobContext, "id">,
): Promise<Commit> {
  const reason = payload.reason ?? "turn";
  return async (tx) => {
    const record = await loadEnvelope(tx, payload.envelope);
    const recipient = record?.recipients.find(({ id }) => id === payload.recipient);
    if (!record || !recipient || recipient.kind !== "signer") return;
    const { envelope } = record;
    if (actionRefusal(standingOf(envelope, recipient, false), deps.clock.ts()) !== undefined) return;
    if (reason === "resend") {
      await revokeLinks(tx, recipient.id, deps.clock.ts());
      await unlock(tx, recipient.id);
    }
    const token = await mintLink(tx, deps, { record, recipient }, reason);
    await queueMail(tx, deps, {
      ...mailTo({ record, recipient }),
      cause: `signing_request:${recipient.id}:${job}`,
      content: { kind: "signing_request", ...(await requestContent(tx, deps, { record, recipient }, token)) },
    });
    await clearStall(tx, deps, envelope, "invite");
  };
}

/** Whom a mail to a recipient goes to, and in which language. */
export function mailTo({ record: { envelope }, recipient }: RecipientOf) {
  return {
    ...mailHead(envelope),
    to: { email: recipient.email, name: recipient.name },
    locale: localeOf(envelope, recipient),
  };
}

/** What a mail that asks for a signature says: the first one and its reminders. */
export async function requestContent(
  tx: Tx,
  deps: Deps,
  { record: { envelope }, recipient }: RecipientOf,
  token: string,
) {
  return {
    sender: await senderName(tx, envelope),
    title: envelope.title,
    message: envelope.message,
    recipientName: recipient.name,
    link: `${deps.config.appUrl}/sign#${token}`,
    expiresAt: envelope.expires_at,
  };
}
