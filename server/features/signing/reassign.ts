import type { SignerCaller } from "../../kernel/caller.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, invalid } from "../../kernel/errors.ts";
import { newId } from "../../kernel/ids.ts";
import { enqueue } from "../../kernel/jobs.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { inviteRecipient } from "../envelopes/jobs.ts";
import { appendAudit, reassignRecipient, startReminders, versionOf } from "../envelopes/service.ts";
import { closeHandedCodes, unlock } from "./code-store.ts";
import type { ReassignSigning } from "./contract.ts";
import { loadSigner, recipientActor, requireTurn, requireVerified } from "./signer.ts";
import * as store from "./store.ts";

/**
 * Passes the signing on to somebody else. The old person's links and sessions die with it; the new one gets a mail and
 * enters a code of their own.
 * @throws AppError `otp-required`, `feature-disabled`, `validation-failed`, and what `requireTurn` throws
 */
export async function reassign(
  deps: Deps,
  caller: SignerCaller,
  to: ReassignSigning,
  request: RequestInfo,
): Promise<void> {
  const first = await loadSigner(deps.db.read, caller, deps.clock.ts());
  requireVerified(first);
  requireTurn(first, deps.clock.ts());
  const { settings } = await versionOf(deps, deps.db.read, first.record.envelope);
  if (!settings.allowReassign) {
    throw new AppError("feature-disabled", { detail: "The sender does not allow passing this document on." });
  }
  if (to.email.toLowerCase() === first.recipient.email.toLowerCase()) {
    throw invalid([{ pointer: "#/email", code: "conflict", detail: "This is the address of the present signer." }]);
  }
  await deps.db.tx(async (tx) => {
    const now = deps.clock.ts();
    const signer = await loadSigner(tx, caller, now);
    const { recipient } = signer;
    requireVerified(signer);
    requireTurn(signer, now);
    const { name, email, reason, locale } = to;
    await reassignRecipient(tx, deps, signer.record, recipient, { name, email, locale: locale ?? recipient.locale });
    const [entry] = await appendAudit(tx, deps, caller.envelope, [
      {
        type: "recipient.reassigned",
        actor: recipientActor(recipient),
        ip: request.ip,
        userAgent: request.userAgent,
        data: { recipient: recipient.id, from: nameAndEmail(recipient), to: { name, email }, reason },
      },
    ]);
    await store.insertReassignment(tx, {
      id: entry?.id ?? newId("evt"),
      envelope: caller.envelope,
      recipient: recipient.id,
      from_name: recipient.name,
      from_email: recipient.email,
      to_name: name,
      to_email: email,
      reason,
      at: now,
    });
    await store.endSessions(tx, recipient.id, now);
    await store.deleteTokens(tx, recipient.id);
    await store.deleteUnsubmittedOf(tx, recipient.id);
    await store.forgetServed(tx, recipient.id);
    await unlock(tx, recipient.id);
    await closeHandedCodes(tx, recipient.id, now);
    const payload = { envelope: caller.envelope, recipient: recipient.id, reason: "reassigned" as const };
    await enqueue(tx, inviteRecipient, payload);
    await startReminders(tx, signer.record.envelope, recipient.id, now);
  });
}

function nameAndEmail({ name, email }: { name: string; email: string }) {
  return { name, email };
}
