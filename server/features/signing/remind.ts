import type { z } from "zod";
import { toTs } from "../../kernel/clock.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { enqueue } from "../../kernel/jobs.ts";
import { systemActor } from "../../kernel/wire.ts";
import { remindRecipient } from "../envelopes/jobs.ts";
import { appendAudit, loadEnvelope, markReminded, nextReminderAt, remindersOf } from "../envelopes/service.ts";
import { queueMail } from "../mail/service.ts";
import { mailTo, requestContent } from "./invite.ts";
import { standingOf } from "./signer.ts";
import { actionRefusal } from "./state.ts";
import { mintLink } from "./tokens.ts";

type Turn = z.output<typeof remindRecipient.payload>;

/**
 * Mails a reminder with a further link, and queues the next one. Earlier links go on working. Does nothing when the turn
 * that it belongs to is over.
 */
export async function remind(tx: Tx, deps: Deps, turn: Turn): Promise<void> {
  const record = await loadEnvelope(tx, turn.envelope);
  const recipient = record?.recipients.find(({ id }) => id === turn.recipient);
  if (!record || recipient?.kind !== "signer") return;
  const { envelope } = record;
  const now = deps.clock.now();
  const settings = remindersOf(envelope);
  const over = actionRefusal(standingOf(envelope, recipient, false), toTs(now)) !== undefined;
  if (over || settings === null || recipient.sent_at !== turn.since || recipient.delivery !== "email") return;
  const token = await mintLink(tx, deps, { record, recipient }, "reminder");
  await queueMail(tx, deps, {
    ...mailTo({ record, recipient }),
    cause: `reminder:${recipient.id}:${turn.since}:${turn.number}`,
    content: { kind: "reminder", ...(await requestContent(tx, deps, { record, recipient }, token)) },
  });
  await markReminded(tx, deps, recipient);
  const data = { recipient: recipient.id, role: recipient.role, number: turn.number };
  await appendAudit(tx, deps, envelope.id, [{ type: "recipient.reminded", actor: systemActor, data }]);
  const next = nextReminderAt(settings, { since: Date.parse(turn.since), sent: turn.number }, now);
  if (next !== null) await enqueue(tx, remindRecipient, { ...turn, number: turn.number + 1 }, { runAt: next });
}
