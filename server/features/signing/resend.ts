import type { Deps } from "../../kernel/deps.ts";
import { enqueue } from "../../kernel/jobs.ts";
import type { Remember } from "../../kernel/request.ts";
import type { Recipient } from "../envelopes/contract.ts";
import { inviteRecipient } from "../envelopes/jobs.ts";
import { type By, markResent, presentRecipient } from "../envelopes/service.ts";
import { unlock } from "./code-store.ts";
import { revokeLinks } from "./store.ts";

/**
 * Mails a fresh signing link. Every earlier one has stopped working when this resolves: only the mail waits for a job.
 * Embedded recipients get one too.
 * @throws AppError `envelope-not-in-progress`, `not-recipients-turn`, `recipient-finished`, `rate-limited`
 */
export async function resend(
  deps: Deps,
  envelope: string,
  recipient: string,
  by: By,
  remember: Remember | null,
): Promise<Recipient> {
  return await deps.db.tx(async (tx) => {
    const sent = presentRecipient(await markResent(tx, deps, envelope, recipient, by));
    await revokeLinks(tx, recipient, deps.clock.ts());
    await unlock(tx, recipient);
    await enqueue(tx, inviteRecipient, { envelope, recipient, reason: "resend" });
    await remember?.(tx, { status: 200, body: sent });
    return sent;
  });
}
