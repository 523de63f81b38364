import type { Json } from "../../kernel/canonical.ts";
import type { Ts } from "../../kernel/clock.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { enqueue } from "../../kernel/jobs.ts";
import { type Actor, systemActor } from "../../kernel/wire.ts";
import { draftEntries, storeEntries } from "./audit.ts";
import type { AuditEntry, AuditType } from "./audit-contract.ts";
import { chainEndOf } from "./audit-store.ts";
import type { AuditDraft } from "./chain.ts";
import type { RecipientStatus } from "./contract.ts";
import { countersign, inviteRecipient, sealEnvelope, storeRevision } from "./jobs.ts";
import type { Beside } from "./observers.ts";
import { updateRecipient } from "./people-store.ts";
import { startReminders } from "./reminders.ts";
import { type Effect, type EnvelopeEvent, type EnvelopeState, type Refused, type Step, transition } from "./state.ts";
import { type EnvelopeRecord, updateEnvelope } from "./store.ts";
import type { EnvelopeRow, RecipientRow } from "./tables.ts";

/** Who moves an envelope, and what is to be stored beside the new state. */
export type Mover = {
  actor: Actor;
  ip?: string | null;
  userAgent?: string | null;
  /** `data` of the audit entries, by type. */
  data?: Partial<Record<AuditType, Readonly<Record<string, Json>>>>;
  envelope?: Partial<EnvelopeRow>;
  /** Entries of the trail that come before those of the move. */
  first?: readonly AuditDraft[];
  /** Columns of the recipient whom the event names. */
  recipient?: Partial<RecipientRow>;
  /** For those who hear of the entries; by default everybody is told. */
  beside?: Beside;
};

/** `record`: the envelope as it is now. */
export type Moved = { record: EnvelopeRecord; entries: AuditEntry[] };

/**
 * Moves an envelope in the caller's transaction: lets the state machine decide, writes rows, audit entries and jobs.
 * @param record as it is in this transaction
 * @throws AppError with the code of the refusal
 */
export async function move(
  tx: Tx,
  deps: Deps,
  record: EnvelopeRecord,
  event: EnvelopeEvent,
  mover: Mover,
): Promise<Moved> {
  const outcome = await tryMove(tx, deps, record, event, mover);
  if ("refused" in outcome) throw new AppError(outcome.refused);
  return outcome;
}

/** As `move`, but a refusal is a value: for jobs, which may come too late or twice. */
export async function tryMove(
  tx: Tx,
  deps: Deps,
  record: EnvelopeRecord,
  event: EnvelopeEvent,
  mover: Mover,
): Promise<Moved | Refused> {
  const now = deps.clock.ts();
  const step = transition(stateOf(record), event, now);
  if ("refused" in step) return step;
  const moved = await write(tx, deps, record, step, mover, "recipient" in event ? event.recipient : undefined);
  for (const effect of step.effects) await carryOut(tx, record, effect, moved.entries[0]?.at ?? now);
  return moved;
}

export function stateOf({ envelope, recipients, revisions }: EnvelopeRecord): EnvelopeState {
  return {
    status: envelope.status,
    seal: envelope.seal,
    expiresAt: envelope.expires_at,
    recipients: recipients.map(({ id, kind, delivery, status, turn }) => ({ id, kind, delivery, status, turn })),
    revision: revisions.at(-1)?.number ?? null,
  };
}

async function write(
  tx: Tx,
  deps: Deps,
  record: EnvelopeRecord,
  step: Step,
  mover: Mover,
  named: string | undefined,
): Promise<Moved> {
  const { envelope } = record;
  const own = step.effects.flatMap((effect) => (effect.kind === "audit" ? [draftOf(effect, record, mover)] : []));
  const drafts = [...(mover.first ?? []), ...own];
  const { entries, end } = draftEntries(envelope.id, await chainEndOf(tx, envelope), deps.clock.ts(), drafts);
  const [first] = entries;
  if (first === undefined) return { record, entries };
  // Not the clock's word: an entry is never dated before its predecessor, and the rows say what the trail says.
  const now = first.at;
  const set = {
    ...mover.envelope,
    ...statusColumns(envelope, step.next, now),
    seal: step.next.seal,
    updated_at: now,
    audit_length: end.length,
    audit_head: end.head,
  };
  if (!(await updateEnvelope(tx, envelope, set)))
    throw new AppError("conflict", { detail: "The envelope was changed at the same time." });
  const recipients: RecipientRow[] = [];
  for (const before of record.recipients) {
    const { id } = before;
    const status = step.next.recipients.find((one) => one.id === id)?.status ?? before.status;
    const columns = { ...recipientColumns(before, status, now), ...(id === named ? mover.recipient : {}) };
    recipients.push(status === before.status ? before : { ...before, ...columns });
    if (status === before.status) continue;
    if (!(await updateRecipient(tx, id, before.status, columns))) throw new AppError("conflict");
  }
  const moved = { ...record, envelope: { ...envelope, ...set }, recipients };
  const { beside = { notify: true } } = mover;
  await storeEntries(tx, deps, { envelope: envelope.id, entries, beside, record: async () => moved });
  return { record: moved, entries };
}

function statusColumns(envelope: EnvelopeRow, { status }: EnvelopeState, now: Ts): Partial<EnvelopeRow> {
  if (status === envelope.status) return {};
  switch (status) {
    case "sent":
      return { status, sent_at: now };
    case "completed":
      return { status, completed_at: now };
    case "declined":
      return { status, declined_at: now };
    case "voided":
      return { status, voided_at: now };
    case "expired":
      return { status, expired_at: now };
    case "rendering":
      return { status };
  }
}

function recipientColumns(recipient: RecipientRow, status: RecipientStatus, now: Ts): Partial<RecipientRow> {
  switch (status) {
    case "sent":
      return { status, sent_at: now, last_sent_at: recipient.delivery === "email" ? now : null };
    case "viewed":
      return { status, viewed_at: now };
    case "completed":
      return { status, completed_at: now };
    case "declined":
      return { status, declined_at: now };
    default:
      return { status };
  }
}

/** What happens by itself is the system's doing; the rest is the mover's, with address and browser. */
const ownDoing: ReadonlySet<AuditType> = new Set([
  "recipient.viewed",
  "recipient.signed",
  "recipient.declined",
  "envelope.declined",
  "envelope.voided",
]);

function draftOf(effect: Extract<Effect, { kind: "audit" }>, record: EnvelopeRecord, mover: Mover): AuditDraft {
  const data: Record<string, Json> = {};
  if ("recipient" in effect) {
    const recipient = record.recipients.find((one) => one.id === effect.recipient);
    data.recipient = effect.recipient;
    if (recipient !== undefined) data.role = recipient.role;
    if (effect.type === "recipient.sent" && recipient !== undefined) data.delivery = recipient.delivery;
  }
  Object.assign(data, mover.data?.[effect.type]);
  if (!ownDoing.has(effect.type)) return { type: effect.type, actor: systemActor, data };
  const { actor, ip = null, userAgent = null } = mover;
  return { type: effect.type, actor, ip, userAgent, data };
}

/** @param at when the move happened, as the rows and the trail say */
async function carryOut(tx: Tx, record: EnvelopeRecord, effect: Effect, at: Ts): Promise<void> {
  const { id } = record.envelope;
  switch (effect.kind) {
    case "audit":
      return;
    case "call": {
      const { recipient } = effect;
      if (effect.by === "countersign") return enqueue(tx, countersign, { envelope: id, recipient });
      await enqueue(tx, inviteRecipient, { envelope: id, recipient, reason: "turn" });
      return startReminders(tx, record.envelope, recipient, at);
    }
    case "store-revision":
      return enqueue(tx, storeRevision, { envelope: id });
    case "seal":
      return enqueue(tx, sealEnvelope, { envelope: id });
  }
}
