import type { Envelope, Recipient } from "../../../../../server/features/envelopes/contract.ts";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";

/** What an envelope is at, in words: state, whose turn it is, how far it has come. */

export type Tone = "good" | "bad" | "busy" | "waiting" | "neutral";

export const isInProgress = ({ status }: Envelope): boolean => status === "rendering" || status === "sent";
/** Whether nothing more happens to it by itself. */
export const isSettled = (envelope: Envelope): boolean =>
  !isInProgress(envelope) &&
  (envelope.status !== "completed" || envelope.seal === "sealed" || envelope.seal === "failed");
/** Whether it waits for something that failed. */
export const isStuck = (envelope: Envelope): boolean =>
  envelope.failure !== null &&
  (isInProgress(envelope) || (envelope.status === "completed" && envelope.seal !== "sealed"));

export const hasTurn = ({ status }: Recipient): boolean => status === "sent" || status === "viewed";

export function stateOf(envelope: Envelope): { tone: Tone; label: string } {
  const t = translator("envelopes");
  const { status, seal } = envelope;
  if (status === "completed" && seal === "failed") return { tone: "bad", label: t("seal.failed") };
  if (isStuck(envelope)) return { tone: "bad", label: t("state.delayed") };
  switch (status) {
    case "rendering":
      return { tone: "busy", label: t("status.rendering") };
    case "sent":
      return { tone: "waiting", label: t("status.sent") };
    case "completed":
      return seal === "sealed"
        ? { tone: "good", label: t("status.completed") }
        : { tone: "busy", label: t("seal.pending") };
    case "declined":
      return { tone: "bad", label: t("status.declined") };
    case "voided":
      return envelope.failure?.stage === "render" && envelope.voidReason === "render_failed"
        ? { tone: "bad", label: t("state.unprepared") }
        : { tone: "neutral", label: t("status.voided") };
    case "expired":
      return { tone: "neutral", label: t("status.expired") };
  }
}

/** Whose turn it is, while somebody is asked to sign. */
export function turnOf({ status, recipients }: Envelope): string | null {
  if (status !== "sent") return null;
  const t = translator("envelopes");
  const waiting = recipients.filter(hasTurn).map(({ name }) => name);
  return waiting.length > 0 ? t("state.waiting", { names: listed(waiting, 2) }) : t("state.between");
}

export function progressOf({ recipients }: Envelope): { done: number; of: number; text: string } {
  const done = recipients.filter(({ status }) => status === "completed").length;
  return {
    done,
    of: recipients.length,
    text: translator("envelopes")("state.progress", { done, of: recipients.length }),
  };
}

/** Names as a sentence; those beyond `most` only as their number. */
export function listed(names: readonly string[], most: number): string {
  const t = translator("envelopes");
  const shown = names.slice(0, most);
  const more = names.length - shown.length;
  if (more > 0) return `${shown.join(", ")} ${t("more", { count: more })}`;
  return new Intl.ListFormat(pageLanguage(), { type: "conjunction" }).format(shown);
}
