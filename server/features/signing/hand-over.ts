import type { OrganizationCaller } from "../../kernel/caller.ts";
import { toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { newId } from "../../kernel/ids.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { appendAudit, loadEnvelope, type OwnedEnvelope } from "../envelopes/service.ts";
import * as codes from "./code-store.ts";
import { decideSend, handedLifetimeMs, handedOver, hashCode, newCode } from "./codes.ts";
import type { HandedCode } from "./contract.ts";
import { standingOf } from "./signer.ts";
import { codeRefusal } from "./state.ts";

const hourMs = 3_600_000;

/**
 * Makes the code that a member of staff prints and hands over to a signer whose identity they checked themselves
 * (`operator_delivered`). It is told once; the one before stops working. Who finished needs one to read the document again.
 * @throws AppError `not-found`, `conflict` for another verification and while no code may be entered, `rate-limited`,
 *   `not-recipients-turn`, `recipient-finished`, `envelope-not-in-progress`
 */
export async function handOverCode(
  deps: Deps,
  caller: OrganizationCaller,
  { envelope }: OwnedEnvelope,
  recipientId: string,
  request: RequestInfo,
): Promise<HandedCode> {
  return await deps.db.tx(async (tx) => {
    // As it is now: it may have been passed on since the caller looked.
    const record = await loadEnvelope(tx, envelope.id);
    const recipient = record?.recipients.find(({ id, kind }) => id === recipientId && kind === "signer");
    if (!record || !recipient) throw notFound("The recipient");
    if (recipient.verification !== "operator_delivered") {
      throw new AppError("conflict", { detail: "The identity of this person is checked in another way." });
    }
    const now = deps.clock.now();
    const refusal = codeRefusal(standingOf(record.envelope, recipient, false), toTs(now));
    if (refusal !== undefined) throw new AppError(refusal);
    // The link may be in other hands: only a new one, which ends the old, lets anybody guess again.
    if (await codes.isLocked(tx, recipient.id)) {
      throw new AppError("conflict", {
        detail: "Too many wrong codes were entered. Send the link again first: no code works before that.",
      });
    }
    const made = await codes.handedSince(tx, recipient.id, toTs(now - hourMs));
    const decision = decideSend([], made.map(Date.parse), now);
    if (!decision.send) throw new AppError("rate-limited", { retryAfter: decision.retryAfter });
    const id = newId("otp");
    const code = newCode();
    const expiresAt = toTs(now + handedLifetimeMs);
    await codes.replaceHandedCode(tx, {
      id,
      recipient: recipient.id,
      hmac: hashCode(deps.secrets, id, code),
      created_at: toTs(now),
      expires_at: expiresAt,
      attempts: 0,
      closed_at: null,
    });
    await appendAudit(tx, deps, envelope.id, [
      {
        type: "recipient.otp_sent",
        actor: caller.actor,
        ip: request.ip,
        userAgent: request.userAgent,
        data: { recipient: recipient.id, channel: handedOver, destination: null, session: null },
      },
    ]);
    return { recipient: recipient.id, code, expiresAt };
  });
}
