import type { Envelope } from "../../../../../server/features/envelopes/contract.ts";

/** Which envelopes need a person's look, and why. Pure. */

export type Reason = "stuck" | "delivery" | "declined" | "expiring";
export type Attention = { envelope: Envelope; reason: Reason };

const day = 24 * 60 * 60 * 1000;
/** A refusal stays news this long. */
const newsDays = 14;
const soonDays = 3;

/** @param now in milliseconds */
export function attentionOf(envelope: Envelope, now: number): Reason | null {
  if (envelope.failure !== null) {
    const open = envelope.status === "rendering" || envelope.status === "completed" || envelope.status === "sent";
    const recent = now - Date.parse(envelope.failure.at) < newsDays * day;
    if (open || recent) return "stuck";
  }
  if (envelope.status === "declined" && now - Date.parse(envelope.declinedAt ?? envelope.updatedAt) < newsDays * day) {
    return "declined";
  }
  if (envelope.status !== "sent") return null;
  const undelivered = envelope.recipients.some(
    ({ deliveryError, status }) => deliveryError !== null && (status === "sent" || status === "pending"),
  );
  if (undelivered) return "delivery";
  const left = envelope.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(envelope.expiresAt) - now;
  return left < soonDays * day ? "expiring" : null;
}

const urgency: Record<Reason, number> = { stuck: 0, delivery: 1, declined: 2, expiring: 3 };

/** Those that need attention, the most urgent first; each once. */
export function needingAttention(envelopes: readonly Envelope[], now: number): Attention[] {
  const seen = new Map<string, Attention>();
  for (const envelope of envelopes) {
    const reason = attentionOf(envelope, now);
    if (reason) seen.set(envelope.id, { envelope, reason });
  }
  return [...seen.values()].toSorted(
    (a, b) => urgency[a.reason] - urgency[b.reason] || b.envelope.updatedAt.localeCompare(a.envelope.updatedAt),
  );
}
