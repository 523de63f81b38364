import type { Ts } from "../../kernel/clock.ts";
import type { ErrorCode } from "../../kernel/problem.ts";
import type { EnvelopeStatus, RecipientStatus, SealStatus } from "./contract.ts";

/**
 * What an envelope may do next. Pure: state and event in, next state and consequences out.
 * The store repeats every precondition in its `where`, so two that decide on the same state cannot both win.
 */

export type RecipientState = {
  id: string;
  kind: "signer" | "countersigner";
  delivery: "email" | "embedded";
  status: RecipientStatus;
  /** Turn: everybody with the lowest one signs first, equal ones at the same time. */
  turn: number;
};

export type EnvelopeState = {
  status: EnvelopeStatus;
  seal: SealStatus;
  expiresAt: Ts | null;
  recipients: readonly RecipientState[];
  /** Newest stored revision of the document; null before rendering ends, 0 for the rendered original. */
  revision: number | null;
};

export type EnvelopeEvent =
  | { type: "rendered" }
  | { type: "render-failed" }
  | { type: "revision-stored"; number: number }
  | { type: "viewed"; recipient: string }
  | { type: "completed"; recipient: string }
  | { type: "declined"; recipient: string }
  | { type: "voided" }
  | { type: "expired" }
  | { type: "sealed" }
  | { type: "seal-failed" };

/** What must happen in the same transaction as the move, in this order. */
export type Effect =
  | {
      kind: "audit";
      type:
        | "envelope.ready"
        | "envelope.completed"
        | "envelope.declined"
        | "envelope.voided"
        | "envelope.expired"
        | "envelope.sealed"
        | "envelope.seal_failed";
    }
  | {
      kind: "audit";
      type: "recipient.sent" | "recipient.viewed" | "recipient.signed" | "recipient.declined";
      recipient: string;
    }
  /** It is this recipient's turn: invite, or sign automatically. Nobody is called for an embedded signer. */
  | { kind: "call"; recipient: string; by: "mail" | "countersign" }
  | { kind: "store-revision" }
  | { kind: "seal" };

export type TurnRefusal = Extract<ErrorCode, "envelope-not-in-progress" | "not-recipients-turn" | "recipient-finished">;
export type Refused = { refused: TurnRefusal | Extract<ErrorCode, "not-found" | "conflict"> };
export type Step = { next: EnvelopeState; effects: readonly Effect[] };

export const inProgress = (status: EnvelopeStatus): boolean => status === "rendering" || status === "sent";
export const isFinal = (status: EnvelopeStatus): boolean => !inProgress(status);
/** Nothing will be written about this envelope any more, unless an operator retries or renews a seal. */
export const isSettled = (status: EnvelopeStatus, seal: SealStatus): boolean =>
  isFinal(status) && (status !== "completed" || seal === "sealed" || seal === "failed");
const hasTurn = (status: RecipientStatus): boolean => status === "sent" || status === "viewed";
/** Whether this recipient was asked to sign, so that an end concerns them. */
export const wasCalled = (status: RecipientStatus): boolean => hasTurn(status) || status === "completed";

export function transition(state: EnvelopeState, event: EnvelopeEvent, now: Ts): Step | Refused {
  switch (event.type) {
    case "rendered":
      if (state.status !== "rendering") return { refused: "envelope-not-in-progress" };
      return startTurn({ ...state, status: "sent", revision: 0 }, [{ kind: "audit", type: "envelope.ready" }], now);
    case "render-failed":
      if (state.status !== "rendering") return { refused: "envelope-not-in-progress" };
      return end(state, "voided", [{ kind: "audit", type: "envelope.voided" }]);
    case "revision-stored":
      return startTurn({ ...state, revision: Math.max(state.revision ?? 0, event.number) }, [], now);
    case "viewed":
    case "completed":
    case "declined":
      return recipientMoves(state, event.type, event.recipient, now);
    case "voided":
      if (isFinal(state.status)) return { refused: "envelope-not-in-progress" };
      return end(state, "voided", [{ kind: "audit", type: "envelope.voided" }]);
    case "expired":
      if (isFinal(state.status) || !isOverdue(state, now)) return { refused: "envelope-not-in-progress" };
      return end(state, "expired", [{ kind: "audit", type: "envelope.expired" }]);
    case "sealed":
      // A failed seal becomes sealed by an operator's retry; a sealed one is never sealed a second time.
      if (state.status !== "completed" || (state.seal !== "pending" && state.seal !== "failed"))
        return { refused: "conflict" };
      return { next: { ...state, seal: "sealed" }, effects: [{ kind: "audit", type: "envelope.sealed" }] };
    case "seal-failed":
      if (state.seal !== "pending") return { refused: "conflict" };
      return { next: { ...state, seal: "failed" }, effects: [{ kind: "audit", type: "envelope.seal_failed" }] };
  }
}

/** Whether `expiresAt` has passed; from then on nobody can sign, even while the job that says so is still to run. */
export const isOverdue = (envelope: { expiresAt: Ts | null }, now: Ts): boolean =>
  envelope.expiresAt !== null && envelope.expiresAt <= now;

/** Why this recipient may not act now, or undefined. */
export function turnRefusal(
  envelope: { status: EnvelopeStatus; expiresAt: Ts | null },
  recipient: RecipientStatus,
  now: Ts,
): TurnRefusal | undefined {
  if (recipient === "completed" || recipient === "declined") return "recipient-finished";
  if (isFinal(envelope.status) || isOverdue(envelope, now)) return "envelope-not-in-progress";
  return envelope.status === "sent" && hasTurn(recipient) ? undefined : "not-recipients-turn";
}

function recipientMoves(
  state: EnvelopeState,
  move: "viewed" | "completed" | "declined",
  id: string,
  now: Ts,
): Step | Refused {
  const recipient = state.recipients.find((one) => one.id === id);
  if (recipient === undefined) return { refused: "not-found" };
  const refused = turnRefusal(state, recipient.status, now);
  if (refused !== undefined) return { refused };
  if (move === "viewed") {
    if (recipient.status === "viewed") return { next: state, effects: [] };
    return {
      next: withStatus(state, id, "viewed"),
      effects: [{ kind: "audit", type: "recipient.viewed", recipient: id }],
    };
  }
  if (move === "declined") {
    const effects: Effect[] = [
      { kind: "audit", type: "recipient.declined", recipient: id },
      { kind: "audit", type: "envelope.declined" },
    ];
    return end(withStatus(state, id, "declined"), "declined", effects);
  }
  const next = withStatus(state, id, "completed");
  const signed: Effect = { kind: "audit", type: "recipient.signed", recipient: id };
  if (next.recipients.some((one) => one.status !== "completed"))
    return { next, effects: [signed, { kind: "store-revision" }] };
  return {
    next: { ...next, status: "completed", seal: "pending" },
    effects: [signed, { kind: "audit", type: "envelope.completed" }, { kind: "seal" }],
  };
}

/** Gives the lowest unfinished turn its go, once everything signed so far stands in the document that it will be shown. */
function startTurn(state: EnvelopeState, before: readonly Effect[], now: Ts): Step {
  const finished = state.recipients.filter((one) => one.status === "completed").length;
  const behind = state.revision === null || state.revision < finished;
  if (state.status !== "sent" || behind || isOverdue(state, now)) return { next: state, effects: before };
  const turn = Math.min(...state.recipients.filter((one) => one.status !== "completed").map((one) => one.turn));
  const called = state.recipients.filter((one) => one.turn === turn && one.status === "pending");
  const effects = called.flatMap((one): Effect[] => {
    const sent: Effect = { kind: "audit", type: "recipient.sent", recipient: one.id };
    if (one.kind === "countersigner") return [sent, { kind: "call", recipient: one.id, by: "countersign" }];
    return one.delivery === "email" ? [sent, { kind: "call", recipient: one.id, by: "mail" }] : [sent];
  });
  const next = called.reduce((rest, one) => withStatus(rest, one.id, "sent"), state);
  return { next, effects: [...before, ...effects] };
}

function end(state: EnvelopeState, status: "voided" | "declined" | "expired", effects: readonly Effect[]): Step {
  const recipients = state.recipients.map((one) =>
    one.status === "completed" || one.status === "declined" ? one : { ...one, status: "canceled" as const },
  );
  return { next: { ...state, status, recipients }, effects };
}

function withStatus(state: EnvelopeState, id: string, status: RecipientStatus): EnvelopeState {
  return { ...state, recipients: state.recipients.map((one) => (one.id === id ? { ...one, status } : one)) };
}
