import type { Ts } from "../../kernel/clock.ts";
import type { EnvelopeStatus, RecipientStatus } from "../envelopes/contract.ts";
import type { Verification } from "../templates/contract.ts";
import type { SigningState } from "./contract.ts";

/** What a signer may see and do, from the state of the envelope and of the session. Pure. */

export type Standing = {
  envelope: EnvelopeStatus;
  expiresAt: Ts | null;
  recipient: RecipientStatus;
  verification: Verification;
  /** The session entered its one-time code. */
  verified: boolean;
};

export type ActionRefusal = "recipient-finished" | "envelope-not-in-progress" | "not-recipients-turn";

/** Whether the session still has to enter a code before it sees anything of the document. */
export function needsCode({ verification, verified }: Pick<Standing, "verification" | "verified">): boolean {
  return verification !== "none" && !verified;
}

const isOver = ({ envelope, expiresAt }: Standing, now: Ts): boolean =>
  envelope === "voided" ||
  envelope === "declined" ||
  envelope === "expired" ||
  (envelope !== "completed" && expiresAt !== null && expiresAt <= now);

/** What the page shows. Who finished still needs the code to see the document: the link alone never was enough. */
export function signingState(standing: Standing, now: Ts): SigningState {
  const { recipient } = standing;
  if (recipient === "declined") return "declined";
  if (isOver(standing, now) || recipient === "canceled") return "closed";
  if (recipient === "pending") return "waiting";
  if (needsCode(standing)) return "otp_required";
  return recipient === "completed" ? "completed" : "ready";
}

/** Why this recipient may not act now, or undefined when they may. */
export function actionRefusal(standing: Standing, now: Ts): ActionRefusal | undefined {
  const { envelope, recipient } = standing;
  if (recipient === "completed" || recipient === "declined") return "recipient-finished";
  if (isOver(standing, now) || envelope === "completed" || recipient === "canceled") return "envelope-not-in-progress";
  return envelope === "sent" && (recipient === "sent" || recipient === "viewed") ? undefined : "not-recipients-turn";
}

/** Why a code is of no use now, neither to sign nor to read again after having signed, or undefined when it is of use. */
export function codeRefusal(standing: Standing, now: Ts): ActionRefusal | undefined {
  if (standing.recipient !== "completed") return actionRefusal(standing, now);
  return opensSession(standing, now) ? undefined : "envelope-not-in-progress";
}

/** Whether a link or a minted session may still be exchanged: to sign, or to read after having signed. */
export function opensSession(standing: Standing, now: Ts): boolean {
  if (isOver(standing, now)) return false;
  return standing.recipient === "completed" || actionRefusal(standing, now) === undefined;
}
