import { z } from "zod";
import { AuditType } from "../../../../../server/features/envelopes/audit-contract.ts";
import type { Envelope } from "../../../../../server/features/envelopes/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import type { Tone } from "./status.ts";
import type { TrailEntry } from "./useTrail.ts";

/** The members of an entry's data that a sentence needs, whatever else it carries. */
const Person = z.object({ name: z.string().nullish(), email: z.string().nullish() });
const Data = z
  .object({
    recipient: z.string(),
    reason: z.string(),
    viewer: z.string(),
    email: z.string(),
    cc: z.string(),
    filename: z.string(),
    from: Person,
    to: Person,
    channel: z.string(),
  })
  .partial()
  .catch({});

/** One entry of the audit trail as a sentence of the page's language. */
export function sentenceOf(entry: TrailEntry, envelope: Envelope): string {
  const t = translator("envelopes");
  const data = Data.parse(entry.data);
  const actor = actorName(entry.actor);
  const type = AuditType.safeParse(entry.type);
  if (!type.success) return t("trail.unknown", { type: entry.type, actor });
  const somebody = t("trail.somebody");
  const recipient = envelope.recipients.find(({ id }) => id === (data.recipient ?? entry.actor.id));
  const viewer = envelope.viewers?.find(({ id }) => id === (data.viewer ?? entry.actor.id));
  const copy = envelope.cc.find(({ id }) => id === data.cc);
  const byRecipient = entry.actor.type === "recipient" ? (entry.actor.name ?? entry.actor.email) : null;
  const words = {
    actor,
    name: byRecipient ?? recipient?.name ?? somebody,
    reason: data.reason ?? "",
    filename: data.filename ?? "",
    from: data.from?.name ?? data.from?.email ?? somebody,
    to: data.to?.name ?? data.to?.email ?? somebody,
    viewer: viewer?.email ?? data.email ?? entry.actor.email ?? somebody,
    copy: copy?.email ?? somebody,
  };
  if (type.data === "envelope.voided" && data.reason === "render_failed") {
    return t("trail.entry.envelope.render_failed");
  }
  const handedOver = type.data === "recipient.otp_sent" && data.channel === "handed_over";
  const sentence = handedOver ? t("trail.code_handed_over", words) : t(`trail.entry.${type.data}`, words);
  // "a member" begins a sentence; names and addresses are never changed.
  const unnamed = entry.actor.name === null && entry.actor.email === null;
  return unnamed && sentence.startsWith(actor) ? capitalized(sentence) : sentence;
}

/** Who did it: a name where there is one. */
export function actorName(actor: Envelope["createdBy"]): string {
  const t = translator("envelopes");
  if (actor.type === "api_key" && actor.name) return t("actor.key", { name: actor.name });
  return actor.name ?? actor.email ?? t(`actor.${actor.type}`);
}

const tones: Partial<Record<string, Tone>> = {
  "recipient.signed": "good",
  "envelope.completed": "good",
  "envelope.sealed": "good",
  "envelope.declined": "bad",
  "recipient.declined": "bad",
  "envelope.voided": "bad",
  "envelope.expired": "bad",
  "envelope.seal_failed": "bad",
  "recipient.locked": "bad",
  "recipient.otp_failed": "bad",
  "recipient.delivery_failed": "bad",
};

export const toneOf = ({ type }: TrailEntry): Tone => tones[type] ?? "neutral";

const capitalized = (text: string) => text.charAt(0).toLocaleUpperCase() + text.slice(1);
