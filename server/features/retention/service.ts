import type { OrganizationCaller } from "../../kernel/caller.ts";
import { toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { matchesTag } from "../../kernel/if-match.ts";
import { enqueue } from "../../kernel/jobs.ts";
import { announceEnvelope, type OwnedEnvelope } from "../envelopes/service.ts";
import { recordAdminAct } from "../identity/service.ts";
import { type EnvelopeRetention, LegalHold, type RetentionSettings, retentionTag } from "./contract.ts";
import { daysNow, dueAt, dueBefore } from "./deletion.ts";
import { retentionDedupeKey, runRetention } from "./jobs.ts";
import * as store from "./store.ts";

export { youngMs } from "./garbage.ts";
export { namedTemplateFiles } from "./names.ts";
export { namesInUse } from "./names-in-use.ts";

const dayMs = 86_400_000;

export async function envelopeRetention(deps: Deps, { envelope }: OwnedEnvelope): Promise<EnvelopeRetention> {
  const term = await store.readTerm(deps.db.read, envelope.organization);
  const { legal_hold: hold, documents_deleted_at: deletedAt } = envelope;
  const sealed = envelope.status !== "completed" || envelope.seal === "sealed";
  const ended = envelope.completed_at ?? envelope.declined_at ?? envelope.voided_at ?? envelope.expired_at;
  const counts = ended !== null && sealed && hold === null && deletedAt === null;
  const due = counts ? dueAt(term, Date.parse(ended), deps.clock.now()) : null;
  return {
    hold: hold === null ? null : LegalHold.parse(JSON.parse(hold)),
    deleteAfter: due === null ? null : toTs(due),
    deletedAt,
  };
}

/** @throws AppError `conflict` when it is held already or its documents were deleted */
export async function holdEnvelope(
  deps: Deps,
  { organization, actor }: OrganizationCaller,
  { id, reason, ip }: { id: string; reason: string; ip: string },
): Promise<void> {
  await deps.db.tx(async (tx) => {
    const hold: LegalHold = { at: deps.clock.ts(), by: actor, reason };
    if (!(await store.setHold(tx, id, JSON.stringify(hold)))) {
      const detail = "The envelope is held already, or its documents were deleted.";
      throw new AppError("conflict", { detail });
    }
    await recordAdminAct(tx, deps, organization, { actor, action: "envelope.held", target: id, ip, data: { reason } });
    announceEnvelope(tx, deps, id);
  });
}

/** One that is not held stays so. */
export async function releaseEnvelope(
  deps: Deps,
  { organization, actor }: OrganizationCaller,
  id: string,
  ip: string,
): Promise<void> {
  await deps.db.tx(async (tx) => {
    if (!(await store.setHold(tx, id, null))) return;
    await recordAdminAct(tx, deps, organization, { actor, action: "envelope.released", target: id, ip });
    announceEnvelope(tx, deps, id);
  });
}

export async function retentionSettings(deps: Deps, organization: string): Promise<RetentionSettings> {
  const { days, from } = await store.readTerm(deps.db.read, organization);
  const now = deps.clock.now();
  return {
    keepDays: days,
    actsFrom: from !== null && now < Date.parse(from) ? from : null,
    due: days === null ? 0 : await store.countDue(deps.db.read, organization, dueBefore(now, days)),
    held: await store.countHeld(deps.db.read, organization),
  };
}

/**
 * A shorter term acts a day after the last change, so that a mistake can be taken back; a longer one at once.
 * @param change.ifMatch the If-Match header: tags of the settings that the caller saw
 * @throws AppError `precondition-failed` when somebody else set another term meanwhile
 */
export async function changeRetention(
  deps: Deps,
  { organization, actor }: OrganizationCaller,
  { keepDays, ifMatch, ip }: { keepDays: number | null; ifMatch: string | null; ip: string },
): Promise<RetentionSettings> {
  await deps.db.tx(async (tx) => {
    const term = await store.readTerm(tx, organization);
    if (term.days === keepDays) return;
    if (ifMatch !== null && !matchesTag(ifMatch, retentionTag({ keepDays: term.days })))
      throw new AppError("precondition-failed");
    const now = deps.clock.now();
    const before = daysNow(term, now);
    const shorter = keepDays !== null && (before === null || keepDays < before);
    await store.setTerm(tx, organization, { days: keepDays, before, from: shorter ? toTs(now + dayMs) : null });
    await recordAdminAct(tx, deps, organization, {
      actor,
      action: "retention.changed",
      target: organization,
      ip,
      data: { from: term.days, to: keepDays },
    });
  });
  return await retentionSettings(deps, organization);
}

/** After a start the clock is looked at, and people are served, before anything is deleted. */
const settleMs = 10 * 60_000;

/**
 * Queues the daily run when the last one is a day old. What is queued stays so over a restart, so that one which is restarted
 * often deletes too.
 */
export async function scheduleRetention(deps: Deps): Promise<void> {
  const last = await store.lastRun(deps.db.read);
  const now = deps.clock.now();
  // One that is noted in the future stems from a clock that was wrong.
  if (last !== null && Math.abs(now - Date.parse(last)) < dayMs) return;
  await deps.db.tx((tx) => enqueue(tx, runRetention, {}, { dedupeKey: retentionDedupeKey, runAt: now + settleMs }));
}
