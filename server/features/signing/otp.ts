import type { SignerCaller } from "../../kernel/caller.ts";
import { toTs } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { newId } from "../../kernel/ids.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { type Json, maskEmail } from "../../kernel/wire.ts";
import type { AuditType } from "../envelopes/audit-contract.ts";
import { appendAudit, markVerified } from "../envelopes/service.ts";
import { queueMail } from "../mail/service.ts";
import * as codes from "./code-store.ts";
import {
  type Attempt,
  codeAttempts,
  codeLifetimeMs,
  decideSend,
  handedOver,
  hashCode,
  judgeAttempt,
  lockAfter,
  newCode,
  nextSendAt,
} from "./codes.ts";
import type { OtpSent, OtpState, OtpVerified } from "./contract.ts";
import { codeCause } from "./outlived.ts";
import { loadSigner, localeOf, recipientActor, type Signer } from "./signer.ts";
import { codeRefusal } from "./state.ts";
import * as store from "./store.ts";
import type { SessionRow } from "./tables.ts";

const hourMs = 3_600_000;
const lockedRetrySeconds = 3600;
const lockedDetail = "Too many wrong codes were entered. Ask the sender to send the link again.";

/**
 * Sends a new code; the one before stops working.
 * @throws AppError `conflict`, `feature-disabled`, `rate-limited`, `not-recipients-turn`, `recipient-finished`,
 *   `envelope-not-in-progress`
 */
export async function sendCode(
  deps: Deps,
  caller: SignerCaller,
  channel: "email" | "sms" | undefined,
  request: RequestInfo,
): Promise<OtpSent> {
  return await deps.db.tx(async (tx) => {
    const signer = await loadSigner(tx, caller, deps.clock.ts());
    checkCodeNeeded(deps, signer, channel);
    const { recipient, record, session } = signer;
    const now = deps.clock.now();
    // Only the sender can help, who may have by then.
    if (await codes.isLocked(tx, recipient.id))
      throw new AppError("rate-limited", { detail: lockedDetail, retryAfter: lockedRetrySeconds });
    const recent = await codes.codesSince(tx, recipient.id, toTs(now - hourMs));
    const times = (rows: typeof recent) => rows.map((row) => Date.parse(row.created_at));
    const ofSession = recent.filter((row) => row.session === session.id);
    const decision = decideSend(times(ofSession), times(recent), now);
    if (!decision.send) throw new AppError("rate-limited", { retryAfter: decision.retryAfter });
    const id = newId("otp");
    const code = newCode();
    const expiresAt = toTs(now + codeLifetimeMs);
    await codes.replaceCode(tx, {
      id,
      session: session.id,
      recipient: recipient.id,
      channel: "email",
      hmac: hashCode(deps.secrets, id, code),
      created_at: toTs(now),
      expires_at: expiresAt,
      attempts: 0,
      closed_at: null,
    });
    const { envelope } = record;
    await queueMail(tx, deps, {
      cause: codeCause(id),
      organization: envelope.organization,
      envelope: envelope.id,
      testMode: envelope.test_mode === 1,
      to: { email: recipient.email, name: recipient.name },
      locale: localeOf(envelope, recipient),
      content: { kind: "code", code, title: envelope.title, minutes: codeLifetimeMs / 60_000 },
    });
    const destination = maskEmail(recipient.email);
    await audit(tx, deps, signer, "recipient.otp_sent", request, { channel: "email", destination });
    return { channel: "email", destination, codeLength: 6, expiresAt, resendAt: decision.resendAt };
  });
}

/** The last code that was sent to this session, while it can be entered or no other can be sent yet. */
export async function lastSent(reader: Reader, session: SessionRow, now: number): Promise<OtpState["sent"]> {
  if (session.verified_at !== null) return null;
  const code = await codes.currentCode(reader, session.id);
  if (code === undefined) return null;
  const recent = await codes.codesSince(reader, session.recipient, toTs(now - hourMs));
  const times = (rows: typeof recent) => rows.map((row) => Date.parse(row.created_at));
  const next = nextSendAt(times(recent.filter((row) => row.session === session.id)), times(recent));
  if (Date.parse(code.expires_at) <= now && next <= now) return null;
  return { expiresAt: code.expires_at, resendAt: toTs(Math.max(next, Date.parse(code.created_at))) };
}

function checkCodeNeeded(deps: Deps, { standing, session }: Signer, channel: "email" | "sms" | undefined): void {
  const refusal = codeRefusal(standing, deps.clock.ts());
  if (refusal !== undefined) throw new AppError(refusal);
  if (standing.verification === "none") throw new AppError("conflict", { detail: "No code is needed here." });
  if (session.verified_at !== null) throw new AppError("conflict", { detail: "The code was entered already." });
  if (standing.verification === "sms_otp" || channel === "sms") {
    throw new AppError("feature-disabled", { detail: "Codes by SMS are not set up on this appliance." });
  }
  if (standing.verification === "operator_delivered") {
    throw new AppError("feature-disabled", { detail: "The code for this signature is handed over by the sender." });
  }
}

/**
 * Tries a code. Every try is counted before it is answered, but none once there is nothing left to sign or to read: what
 * somebody types then is no part of the envelope's record.
 * @throws AppError `otp-invalid`, `otp-expired`, `otp-exhausted`, `conflict`, `not-recipients-turn`, `recipient-finished`,
 *   `envelope-not-in-progress`
 */
export async function verifyCode(
  deps: Deps,
  caller: SignerCaller,
  code: string,
  request: RequestInfo,
): Promise<OtpVerified> {
  // A refusal is returned and thrown outside, since throwing in the transaction would undo the count.
  const outcome = await deps.db.tx((tx) => tryCode(tx, deps, caller, code, request));
  if (typeof outcome === "string") return { verified: true, verifiedAt: outcome };
  throw outcome;
}

async function tryCode(
  tx: Tx,
  deps: Deps,
  caller: SignerCaller,
  code: string,
  request: RequestInfo,
): Promise<string | AppError> {
  const signer = await loadSigner(tx, caller, deps.clock.ts());
  const { recipient, session, standing } = signer;
  if (session.verified_at !== null) return session.verified_at;
  if (standing.verification === "none") return new AppError("conflict", { detail: "No code is needed here." });
  const refusal = codeRefusal(standing, deps.clock.ts());
  if (refusal !== undefined) return new AppError(refusal);
  if (await codes.isLocked(tx, recipient.id))
    return new AppError("otp-exhausted", { detail: lockedDetail, retryAfter: lockedRetrySeconds });
  const { table, row, channel } = await openCode(tx, signer);
  const now = deps.clock.ts();
  const attempt = judgeAttempt(deps.secrets, row, code, now);
  if (attempt.result === "exhausted") return refusalOf(attempt, await nextCodeIn(tx, signer, deps.clock.now()));
  if (attempt.result === "expired" || row === undefined) return refusalOf(attempt);
  await codes.countAttempt(tx, table, row.id, row.attempts + 1);
  if (attempt.result === "verified") {
    await codes.closeCode(tx, table, row.id, now);
    await store.verifySession(tx, session.id, now);
    // Who comes back to read does not change when they were verified for signing.
    if (recipient.status !== "completed") await markVerified(tx, recipient, now);
    await audit(tx, deps, signer, "recipient.otp_verified", request, { channel });
    return now;
  }
  await codes.insertWrongCode(tx, { id: newId("otp"), recipient: recipient.id, at: now });
  await audit(tx, deps, signer, "recipient.otp_failed", request, { attempt: row.attempts + 1 });
  const wrong = await codes.countWrongCodes(tx, recipient.id, toTs(deps.clock.now() - lockAfter.ms));
  if (wrong >= lockAfter.wrong) {
    await codes.lock(tx, recipient.id, now);
    await audit(tx, deps, signer, "recipient.locked", request, { wrongCodes: wrong });
  }
  return refusalOf(attempt);
}

/** The code that this session may try: the one that was sent to it, or the one that staff handed over to the person. */
async function openCode(tx: Tx, { recipient, session, standing }: Signer) {
  if (standing.verification === "operator_delivered") {
    const row = await codes.currentHandedCode(tx, recipient.id);
    return { table: "signing_handed_codes", row, channel: handedOver } as const;
  }
  const row = await codes.currentCode(tx, session.id);
  return { table: "signing_codes", row, channel: row?.channel ?? "email" } as const;
}

/** Seconds until another code may be sent; undefined when it may be now. */
async function nextCodeIn(tx: Tx, { recipient, session }: Signer, now: number): Promise<number | undefined> {
  const recent = await codes.codesSince(tx, recipient.id, toTs(now - hourMs));
  const times = (rows: typeof recent) => rows.map((row) => Date.parse(row.created_at));
  const decision = decideSend(times(recent.filter((row) => row.session === session.id)), times(recent), now);
  return decision.send ? undefined : decision.retryAfter;
}

/** @param retryAfter seconds until a new code can be had, where that takes time */
function refusalOf(attempt: Attempt, retryAfter?: number): AppError {
  switch (attempt.result) {
    case "verified":
    case "expired":
      return new AppError("otp-expired", { detail: "There is no valid code. Request a new one." });
    case "exhausted":
      return new AppError("otp-exhausted", {
        detail: `A code may be tried ${codeAttempts} times. Request a new one.`,
        ...(retryAfter === undefined ? {} : { retryAfter }),
      });
    case "invalid":
      return new AppError("otp-invalid", { attemptsRemaining: attempt.remaining });
  }
}

async function audit(
  tx: Tx,
  deps: Deps,
  { record, recipient, session }: Signer,
  type: AuditType,
  request: RequestInfo,
  data: Record<string, Json>,
): Promise<void> {
  const { ip, userAgent } = request;
  await appendAudit(tx, deps, record.envelope.id, [
    { type, actor: recipientActor(recipient), ip, userAgent, data: { ...data, session: session.id } },
  ]);
}
