import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, invalid, notFound } from "../../kernel/errors.ts";
import type { Remember } from "../../kernel/request.ts";
import type { Actor } from "../../kernel/wire.ts";
import { planOf } from "../identity/service.ts";
import { uploadWarnings } from "../templates/service.ts";
import { appendAudit } from "./audit.ts";
import type { Envelope, PersonInput, VoidEnvelope } from "./contract.ts";
import { move } from "./move.ts";
import { maxViewers } from "./people-contract.ts";
import { insertViewers, nextViewerPosition, revokeViewer, updateRecipient } from "./people-store.ts";
import { planRefusal, plans } from "./plan.ts";
import { presentEnvelope } from "./present.ts";
import { viewerAdded, viewerRow } from "./rows.ts";
import { isFinal, turnRefusal } from "./state.ts";
import { type EnvelopeRecord, readEnvelope, touchEnvelope } from "./store.ts";
import type { RecipientRow } from "./tables.ts";

/** What the sender does to an envelope after it was created. */

export type By = { actor: Actor; ip: string | null; userAgent: string | null };

/** @throws AppError envelope-not-in-progress */
export async function voidEnvelope(
  deps: Deps,
  envelope: string,
  input: VoidEnvelope,
  by: By,
  remember: Remember | null,
): Promise<Envelope> {
  const { reason, notify } = input;
  return await deps.db.tx(async (tx) => {
    const { record } = await move(
      tx,
      deps,
      await reload(tx, envelope),
      { type: "voided" },
      { ...by, data: { "envelope.voided": { reason } }, envelope: { void_reason: reason }, beside: { notify } },
    );
    const voided = presentEnvelope(record, await uploadWarnings(deps, tx, record.envelope));
    await remember?.(tx, { status: 200, body: voided });
    return voided;
  });
}

/**
 * Adds viewers; who is one already stays as is.
 * @returns all viewers of the envelope
 * @throws AppError envelope-not-in-progress, plan-upgrade-required, validation-failed
 */
export async function addViewers(
  deps: Deps,
  envelope: string,
  people: readonly PersonInput[],
  by: By,
): Promise<EnvelopeRecord> {
  await deps.db.tx(async (tx) => {
    const record = await reload(tx, envelope);
    const known = new Set(record.viewers.map(({ email }) => email.toLowerCase()));
    const added = people.filter(({ email }) => {
      const fresh = !known.has(email.toLowerCase());
      known.add(email.toLowerCase());
      return fresh;
    });
    const viewers = record.viewers.length + added.length;
    const refusal = planRefusal(plans[await planOf(tx, deps, record.envelope.organization)], {
      viewers,
      viewerDocumentAccess: false,
    });
    if (refusal !== undefined && added.length > 0) {
      throw new AppError("plan-upgrade-required", {
        detail: refusal,
        upgradeUrl: `${deps.config.appUrl}/settings/billing`,
      });
    }
    // Whatever the plan allows: the body of one call cannot say how many there are already.
    if (viewers > maxViewers && added.length > 0) {
      const detail = `An envelope has at most ${maxViewers} viewers.`;
      throw invalid([{ pointer: "#/viewers", code: "max", detail }]);
    }
    if (isFinal(record.envelope.status)) throw new AppError("envelope-not-in-progress");
    if (added.length === 0) return;
    const now = deps.clock.ts();
    const first = await nextViewerPosition(tx, envelope);
    const rows = added.map((person, index) => viewerRow(envelope, first + index, person, now));
    await insertViewers(tx, rows);
    await touchEnvelope(tx, envelope, now);
    await appendAudit(
      tx,
      deps,
      envelope,
      rows.map((row) => viewerAdded(row, by)),
    );
  });
  return await reload(deps.db.read, envelope);
}

/** @throws AppError not-found when there is no such viewer, or not any more */
export async function deleteViewer(deps: Deps, envelope: string, viewer: string, by: By): Promise<void> {
  await deps.db.tx(async (tx) => {
    const now = deps.clock.ts();
    if (!(await revokeViewer(tx, envelope, viewer, now))) throw notFound("The viewer");
    await touchEnvelope(tx, envelope, now);
    await appendAudit(tx, deps, envelope, [{ type: "viewer.revoked", ...by, data: { viewer } }]);
  });
}

const resendPauseMs = 60_000;

/**
 * Notes that a recipient whose turn it is gets a fresh link. Signing ends the earlier ones and mails it, in the same transaction.
 * @throws AppError envelope-not-in-progress, not-recipients-turn, recipient-finished, rate-limited
 */
export async function markResent(
  tx: Tx,
  deps: Deps,
  envelope: string,
  recipient: string,
  by: By,
): Promise<RecipientRow> {
  const record = await readEnvelope(tx, envelope);
  const row = record?.recipients.find(({ id }) => id === recipient);
  if (record === undefined || row === undefined) throw notFound("The recipient");
  const now = deps.clock.ts();
  const { status, expires_at: expiresAt } = record.envelope;
  const refusal = turnRefusal({ status, expiresAt }, row.status, now);
  if (refusal !== undefined) throw new AppError(refusal);
  // A countersigner is signed for automatically: nobody waits for a link.
  if (row.kind === "countersigner") throw new AppError("not-recipients-turn");
  const waitMs = row.last_sent_at === null ? 0 : Date.parse(row.last_sent_at) + resendPauseMs - Date.parse(now);
  if (waitMs > 0) {
    const detail = "A link can be sent again once a minute.";
    throw new AppError("rate-limited", { detail, retryAfter: Math.ceil(waitMs / 1000) });
  }
  await updateRecipient(tx, recipient, row.status, { last_sent_at: now, delivery_error: null });
  await touchEnvelope(tx, envelope, now);
  await appendAudit(tx, deps, envelope, [{ type: "recipient.resent", ...by, data: { recipient, role: row.role } }]);
  return { ...row, last_sent_at: now, delivery_error: null };
}

async function reload(reader: Reader, envelope: string): Promise<EnvelopeRecord> {
  const record = await readEnvelope(reader, envelope);
  if (record === undefined) throw notFound("The envelope");
  return record;
}
