import { randomInt, timingSafeEqual } from "node:crypto";
import { toTs } from "../../kernel/clock.ts";
import type { Secrets } from "../../kernel/secrets.ts";

/** One-time codes: how they are made, kept and limited (contract §5). */

const minuteMs = 60_000;
export const codeLifetimeMs = 10 * minuteMs;
/** Somebody prints it today and meets the signer next week. */
export const handedLifetimeMs = 7 * 24 * 60 * minuteMs;
/** Its channel in the audit trail. */
export const handedOver = "handed_over";
export const codeAttempts = 5;
const sessionLimit = { codes: 5, ms: 15 * minuteMs };
const recipientLimit = { codes: 10, ms: 60 * minuteMs };
/** Between two codes of one session. */
const resendPauseMs = 30_000;
export const lockAfter = { wrong: 20, ms: 24 * 60 * minuteMs };

/** Six digits, each code equally likely. */
export function newCode(): string {
  return String(randomInt(1_000_000)).padStart(6, "0");
}

/** Six digits are guessable offline, so a hash alone would not do: the key is the appliance's. */
export function hashCode(secrets: Secrets, id: string, code: string): string {
  return secrets.hmac("signing-code", `${id}:${code}`).toString("hex");
}

/** Compares in constant time. */
export function codeMatches(secrets: Secrets, row: { id: string; hmac: string }, code: string): boolean {
  const given = Buffer.from(hashCode(secrets, row.id, code), "hex");
  const kept = Buffer.from(row.hmac, "hex");
  return given.length === kept.length && timingSafeEqual(given, kept);
}

export type SendDecision = { send: true; resendAt: string } | { send: false; retryAfter: number };

/**
 * Whether another code may be sent, and when the next one after it.
 * @param session times of the codes of this session, newest first; `recipient` those of the recipient in all sessions (ms)
 */
export function decideSend(session: readonly number[], recipient: readonly number[], now: number): SendDecision {
  const free = nextSendAt(session, recipient);
  if (free > now) return { send: false, retryAfter: Math.ceil((free - now) / 1000) };
  return { send: true, resendAt: toTs(nextSendAt([now, ...session], [now, ...recipient])) };
}

/** When another code may be sent (ms), after those of this session and those of the recipient in all sessions, newest first. */
export function nextSendAt(session: readonly number[], recipient: readonly number[]): number {
  return Math.max(
    freeAt(session, 1, resendPauseMs),
    freeAt(session, sessionLimit.codes, sessionLimit.ms),
    freeAt(recipient, recipientLimit.codes, recipientLimit.ms),
  );
}

/** When the oldest of the last `most` codes leaves the window; 0 when there are fewer. */
function freeAt(times: readonly number[], most: number, windowMs: number): number {
  const oldest = times[most - 1];
  return oldest === undefined ? 0 : oldest + windowMs;
}

export type CodeRow = { id: string; hmac: string; attempts: number; expires_at: string };
export type Attempt =
  | { result: "verified" }
  | { result: "invalid"; remaining: number }
  | { result: "expired" }
  | { result: "exhausted" };

/** Judges one try at the newest code of a session. The caller counts every try that was compared. */
export function judgeAttempt(secrets: Secrets, row: CodeRow | undefined, code: string, now: string): Attempt {
  if (row === undefined || row.expires_at <= now) return { result: "expired" };
  if (row.attempts >= codeAttempts) return { result: "exhausted" };
  if (codeMatches(secrets, row, code)) return { result: "verified" };
  return { result: "invalid", remaining: codeAttempts - row.attempts - 1 };
}

/** @example maskPhone("+4915112345612") === "+49*****12" */
export function maskPhone(phone: string): string {
  return `${phone.slice(0, 3)}*****${phone.slice(-2)}`;
}
