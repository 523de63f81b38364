import type { Json } from "../../kernel/canonical.ts";
import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { notFound } from "../../kernel/errors.ts";
import { type Actor, systemActor } from "../../kernel/wire.ts";
import { type FieldBoxes, storedBoxes } from "../templates/service.ts";
import { appendAudit, draftEntries, storeEntries } from "./audit.ts";
import { chainEndOf } from "./audit-store.ts";
import type { AuditDraft } from "./chain.ts";
import type { EnvelopeStatus, FieldValue } from "./contract.ts";
import { move, tryMove } from "./move.ts";
import { updateCopiesNotified, updateRecipient } from "./people-store.ts";
import { clearStall } from "./stalled.ts";
import {
  type EnvelopeRecord,
  insertRevision,
  readEnvelope,
  touchEnvelope,
  updateAnchor,
  updateEnvelope,
} from "./store.ts";
import type { EnvelopeRow, RecipientRow } from "./tables.ts";

/**
 * How an envelope gets on. Every function works in the caller's transaction, for signing, evidence and our own jobs; those that
 * take a record want it as it was read there, so that it is read once.
 */

export type { EnvelopeRecord } from "./store.ts";
export type { EnvelopeRow, RecipientRow } from "./tables.ts";

/** Of any organization: the caller has been let in by a token of this envelope, or is a job. */
export function loadEnvelope(reader: Reader, envelope: string): Promise<EnvelopeRecord | undefined> {
  return readEnvelope(reader, envelope);
}

async function requireEnvelope(tx: Tx, envelope: string): Promise<EnvelopeRecord> {
  const record = await readEnvelope(tx, envelope);
  if (record === undefined) throw notFound("The envelope");
  return record;
}

type Recipient = { recipient: string };
type Visitor = { ip: string | null; userAgent: string | null };

/** First open of the signing page; later ones and those that come too late change nothing. */
export async function markViewed(
  tx: Tx,
  deps: Deps,
  record: EnvelopeRecord,
  { recipient, ...visitor }: Recipient & Visitor,
): Promise<void> {
  if (record.recipients.find((one) => one.id === recipient)?.status !== "sent") return;
  await tryMove(tx, deps, record, { type: "viewed", recipient }, { ...visitor, actor: actorFor(record, recipient) });
}

/** The one-time code was entered; the caller writes the audit entry. */
export async function markVerified(tx: Tx, recipient: RecipientRow, at: Ts): Promise<void> {
  await updateRecipient(tx, recipient.id, recipient.status, { verified_at: at });
}

/** A reminder is queued for them; the caller writes the audit entry. */
export async function markReminded(tx: Tx, deps: Deps, recipient: RecipientRow): Promise<void> {
  const now = deps.clock.ts();
  await updateRecipient(tx, recipient.id, recipient.status, { last_sent_at: now });
  await touchEnvelope(tx, recipient.envelope, now);
}

/**
 * Takes a recipient's signature: `sent|viewed` → `completed`. The last one completes the envelope and queues the seal;
 * the others queue the revision that shows what they filled in.
 * @param input `auditData`: fieldsSha256, signatureSha256, documentSha256 (contract §4); `consent`: the entry before that one
 * @returns `submission`: k, this being the k-th submission of the envelope
 * @throws AppError recipient-finished, not-recipients-turn or envelope-not-in-progress
 */
export async function completeRecipient(
  tx: Tx,
  deps: Deps,
  record: EnvelopeRecord,
  input: Recipient &
    Visitor & {
      values: Readonly<Record<string, FieldValue>>;
      auditData: Readonly<Record<string, Json>>;
      consent: AuditDraft | null;
    },
): Promise<{ status: EnvelopeStatus; submission: number; last: boolean }> {
  const { recipient, values, auditData, consent, ip, userAgent } = input;
  const submission = 1 + record.recipients.filter((one) => one.status === "completed").length;
  const moved = await move(
    tx,
    deps,
    record,
    { type: "completed", recipient },
    {
      actor: actorFor(record, recipient),
      ip,
      userAgent,
      first: consent === null ? [] : [consent],
      data: { "recipient.signed": auditData },
      recipient: { values: JSON.stringify(values), submission },
    },
  );
  const { status } = moved.record.envelope;
  return { status, submission, last: status === "completed" };
}

/** Declines, which ends the envelope. @throws AppError as completeRecipient */
export async function declineRecipient(
  tx: Tx,
  deps: Deps,
  record: EnvelopeRecord,
  { recipient, reason, ...visitor }: Recipient & Visitor & { reason: string },
): Promise<void> {
  await move(
    tx,
    deps,
    record,
    { type: "declined", recipient },
    {
      ...visitor,
      actor: actorFor(record, recipient),
      data: { "recipient.declined": { reason }, "envelope.declined": { recipient } },
      envelope: { declined_by: recipient, declined_reason: reason },
      recipient: { decline_reason: reason },
    },
  );
}

/**
 * Stores the document after the k-th submission, then gives the next turn its go if everybody before has finished.
 * Storing the same revision again does nothing.
 * @throws Error when this number holds other bytes: drawing must be deterministic
 */
export async function storeRevision(
  tx: Tx,
  deps: Deps,
  revision: { envelope: string; number: number; sha256: string; size: number; recipient: string },
): Promise<void> {
  const { envelope, number, sha256 } = revision;
  if (!(await insertRevision(tx, { ...revision, created_at: deps.clock.ts(), field_boxes: null }))) {
    const known = (await readEnvelope(tx, envelope))?.revisions.find((one) => one.number === number);
    if (known?.sha256 !== sha256) throw new Error(`revision ${number} of ${envelope} was drawn differently before`);
    return;
  }
  const record = await requireEnvelope(tx, envelope);
  const cleared = await clearStall(tx, deps, record.envelope, "revision");
  await tryMove(
    tx,
    deps,
    { ...record, envelope: cleared },
    { type: "revision-stored", number },
    { actor: systemActor },
  );
}

/** The document is drawn: `rendering` → `sent`, and the first turn begins. Does nothing when the envelope has ended. */
export async function markRendered(
  tx: Tx,
  deps: Deps,
  rendered: { envelope: string; sha256: string; size: number; pageCount: number; boxes: FieldBoxes },
): Promise<void> {
  const { envelope, sha256, size, pageCount, boxes } = rendered;
  const outcome = await tryMove(
    tx,
    deps,
    await requireEnvelope(tx, envelope),
    { type: "rendered" },
    {
      actor: systemActor,
      data: { "envelope.ready": { documentSha256: sha256, pageCount } },
      envelope: { document_sha256: sha256, page_count: pageCount, failure: null },
    },
  );
  if ("refused" in outcome) return;
  await insertRevision(tx, {
    envelope,
    number: 0,
    sha256,
    size,
    recipient: null,
    created_at: deps.clock.ts(),
    field_boxes: storedBoxes(boxes),
  });
}

/** The document cannot be drawn: the envelope is voided by the system and its sender is told. */
export async function markRenderFailed(
  tx: Tx,
  deps: Deps,
  failed: { envelope: string; code: string; message: string },
): Promise<void> {
  const { code, message } = failed;
  await tryMove(
    tx,
    deps,
    await requireEnvelope(tx, failed.envelope),
    { type: "render-failed" },
    {
      actor: systemActor,
      data: { "envelope.voided": { reason: "render_failed", code } },
      envelope: {
        void_reason: "render_failed",
        failure: JSON.stringify({ stage: "render", code, message, at: deps.clock.ts() }),
      },
    },
  );
}

/** @returns false when it is not overdue, or has ended before */
export async function markExpired(tx: Tx, deps: Deps, envelope: string): Promise<boolean> {
  const record = await requireEnvelope(tx, envelope);
  const outcome = await tryMove(tx, deps, record, { type: "expired" }, { actor: systemActor });
  return !("refused" in outcome);
}

/**
 * The sealed file is stored: `pending` (or `failed`, after a retry by the operator) → `sealed`.
 * @returns `auditHash`: of the envelope.sealed entry, which the Merkle leaf binds; `eventId`: its id
 * @throws AppError `conflict` when the envelope is not waiting for its seal
 */
export async function markSealed(
  tx: Tx,
  deps: Deps,
  sealed: {
    envelope: string;
    sealedSha256: string;
    certificateSha256: string;
    /** Ids of the files that people added and submitted: with the two hashes all that the seal is about. */
    attachments: readonly string[];
    level: NonNullable<EnvelopeRow["seal_level"]>;
    sealedAt: Ts;
  },
): Promise<{ auditHash: string; eventId: string }> {
  const { envelope, sealedSha256, certificateSha256, attachments, level, sealedAt } = sealed;
  const { entries } = await move(
    tx,
    deps,
    await requireEnvelope(tx, envelope),
    { type: "sealed" },
    {
      actor: systemActor,
      data: { "envelope.sealed": { sealedSha256, certificateSha256, attachments, level } },
      envelope: {
        sealed_sha256: sealedSha256,
        certificate_sha256: certificateSha256,
        seal_level: level,
        sealed_at: sealedAt,
        failure: null,
      },
    },
  );
  const [entry] = entries;
  if (entry === undefined) throw new Error("sealing wrote no audit entry");
  return { auditHash: entry.hash, eventId: entry.id };
}

/**
 * The seal was raised or renewed by appending: newest file and level, and an audit entry for a further leaf.
 * @param extended `before`: the file that was extended
 * @returns the entry's hash; undefined when the envelope's file is another one by now
 */
export async function markSealExtended(
  tx: Tx,
  deps: Deps,
  record: EnvelopeRecord,
  extended: {
    before: string;
    sealedSha256: string;
    certificateSha256: string;
    level: NonNullable<EnvelopeRow["seal_level"]>;
  },
): Promise<string | undefined> {
  const { before, sealedSha256, certificateSha256, level } = extended;
  const { envelope } = record;
  if (envelope.seal !== "sealed" || envelope.sealed_sha256 !== before) return undefined;
  if (envelope.documents_deleted_at !== null) return undefined;
  const now = deps.clock.ts();
  const data = { sealedSha256, certificateSha256, level };
  const draft = { type: "envelope.seal_extended" as const, actor: systemActor, data };
  const { entries, end } = draftEntries(envelope.id, await chainEndOf(tx, envelope), now, [draft]);
  const set = {
    sealed_sha256: sealedSha256,
    certificate_sha256: certificateSha256,
    seal_level: level,
    updated_at: now,
    audit_length: end.length,
    audit_head: end.head,
  };
  if (!(await updateEnvelope(tx, envelope, set))) throw new Error(`${envelope.id} was changed at the same time`);
  const extendedRecord = { ...record, envelope: { ...envelope, ...set } };
  await storeEntries(tx, deps, {
    envelope: envelope.id,
    entries,
    beside: { notify: true },
    record: async () => extendedRecord,
  });
  return entries[0]?.hash;
}

/** Sealing was given up. Does nothing unless the seal is pending. */
export async function markSealFailed(
  tx: Tx,
  deps: Deps,
  record: EnvelopeRecord,
  { code, message }: { code: string; message: string },
): Promise<void> {
  const failure = JSON.stringify({ stage: "seal", code, message, at: deps.clock.ts() });
  const data = { "envelope.seal_failed": { code, message } };
  await tryMove(tx, deps, record, { type: "seal-failed" }, { actor: systemActor, data, envelope: { failure } });
}

/** The anchor that covers the envelope's leaf. */
export async function setAnchor(tx: Tx, envelope: string, sequence: number): Promise<void> {
  await updateAnchor(tx, envelope, sequence);
}

/** The completion mail of these carbon copies is queued. */
export async function markCopiesNotified(
  tx: Tx,
  deps: Deps,
  envelope: string,
  copies: readonly string[],
): Promise<void> {
  if (copies.length === 0) return;
  await updateCopiesNotified(tx, copies, deps.clock.ts());
  const drafts = copies.map((cc) => ({ type: "cc.notified" as const, actor: systemActor, data: { cc } }));
  await appendAudit(tx, deps, envelope, drafts);
}

/** A recipient as the one who did it; a countersigner signs by the system's hand. */
function actorFor(record: EnvelopeRecord, recipient: string): Actor {
  const row = record.recipients.find((one) => one.id === recipient);
  if (row === undefined || row.kind === "countersigner") return systemActor;
  return { type: "recipient", id: row.id, name: row.name, email: row.email };
}
