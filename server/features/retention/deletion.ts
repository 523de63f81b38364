import { toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { RetryLater } from "../../kernel/job-runner.ts";
import { systemActor } from "../../kernel/wire.ts";
import { appendAudit } from "../envelopes/service.ts";
import { recordAdminAct } from "../identity/service.ts";
import { requireTime } from "./garbage.ts";
import * as store from "./store.ts";

const dayMs = 86_400_000;
const atOnce = 100;

/** Envelopes that ended before this are due. */
export function dueBefore(now: number, days: number): string {
  return toTs(now - days * dayMs);
}

/** How long the organization keeps documents at this moment; null is for ever. */
export function daysNow({ days, before, from }: store.Term, now: number): number | null {
  return from !== null && now < Date.parse(from) ? before : days;
}

/** When the documents of an envelope that ended then are due; null is never. */
export function dueAt(term: store.Term, ended: number, now: number): number | null {
  const { days, from } = term;
  const until = daysNow(term, now);
  const before = until === null ? Number.POSITIVE_INFINITY : ended + until * dayMs;
  const after = days === null ? Number.POSITIVE_INFINITY : Math.max(ended + days * dayMs, Date.parse(from ?? toTs(0)));
  const due = Math.min(before, after);
  return Number.isFinite(due) ? due : null;
}

/**
 * Marks every envelope that is due as deleted and takes away its values and mails; the files go with the next collection.
 * Each in a transaction of its own, so that it can be interrupted anywhere and goes on where it was. One that cannot be
 * marked is passed over: it stands in the way of no other. @returns how many, and why others could not be
 * @throws RetryLater while the clock cannot be right
 */
export async function deleteDue(
  deps: Deps,
  signal?: AbortSignal,
): Promise<{ deleted: number; failed: readonly { envelope: string; cause: unknown }[] }> {
  requireTime(deps);
  let deleted = 0;
  const failed: { envelope: string; cause: unknown }[] = [];
  for (const { organization, ...term } of await store.listTerms(deps.db.read)) {
    const now = deps.clock.now();
    const days = daysNow(term, now);
    if (days === null) continue;
    const before = dueBefore(now, days);
    let after: store.DuePlace | null = null;
    for (;;) {
      const due: store.DuePlace[] = await store.listDue(deps.db.read, organization, { before, after, limit: atOnce });
      for (const { id: envelope } of due) {
        signal?.throwIfAborted();
        try {
          if (await deleteDocuments(deps, { envelope, organization, days })) deleted += 1;
        } catch (cause) {
          if (cause instanceof RetryLater) throw cause;
          failed.push({ envelope, cause });
        }
      }
      after = due.at(-1) ?? null;
      if (due.length < atOnce) break;
    }
  }
  return { deleted, failed };
}

/** @returns false when it is not due any more */
async function deleteDocuments(
  deps: Deps,
  { envelope, organization, days }: { envelope: string; organization: string; days: number },
): Promise<boolean> {
  return await deps.db.tx(async (tx) => {
    requireTime(deps);
    const now = deps.clock.now();
    if (daysNow(await store.readTerm(tx, organization), now) !== days) return false;
    if (!(await store.markDeleted(tx, envelope, organization, dueBefore(now, days), toTs(now)))) return false;
    await store.wipe(tx, envelope);
    const data = { keepDays: days };
    await appendAudit(tx, deps, envelope, [{ type: "envelope.documents_deleted", actor: systemActor, data }]);
    await recordAdminAct(tx, deps, organization, {
      actor: systemActor,
      action: "envelope.documents_deleted",
      target: envelope,
      ip: null,
      data,
    });
    return true;
  });
}
