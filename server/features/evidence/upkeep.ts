import { type Ts, toTs } from "../../kernel/clock.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Commit } from "../../kernel/job-runner.ts";
import { enqueue } from "../../kernel/jobs.ts";
import type { EnvelopeRow } from "../envelopes/service.ts";
import { resumeNotes } from "./anchors/notes.ts";
import { scheduleAnchor } from "./anchors/signing.ts";
import { extendDedupeKey, extendSeal, raiseDedupeKey, raiseSeals, renewDedupeKey, renewSeals } from "./jobs.ts";
import * as store from "./store.ts";

/** What becomes of a seal after it is made: raised when it fell short, renewed before its time stamp ends. */

const dayMs = 24 * 60 * 60 * 1000;
/** Renewed this long before the end, or when a quarter of the time is left: an authority may be away for months. */
const marginMs = 180 * dayMs;
const raiseAfterMs = 60_000;
const batch = 500;
/** At most so many at once: new seals do not wait behind thousands of old ones. */
const raiseBatch = 4;
const raisePauseMs = 1000;

type Upkeep = {
  envelope: string;
  level: NonNullable<EnvelopeRow["seal_level"]>;
  /** End of the certificate behind the last document timestamp; null without one. */
  validUntil: Ts | null;
};

/** Queues the raising of a seal that fell short of the settings, or notes when to renew it. */
export async function keepUp(tx: Tx, deps: Deps, { envelope, level, validUntil }: Upkeep): Promise<void> {
  const now = deps.clock.now();
  if (level !== "B-LTA" || validUntil === null) {
    if (level === deps.config.sealLevel) return;
    const dedupeKey = extendDedupeKey(envelope);
    await enqueue(tx, extendSeal, { envelope }, { runAt: now + raiseAfterMs, dedupeKey });
    return;
  }
  const left = Date.parse(validUntil) - now;
  const renewAt = now + Math.max(left - marginMs, left * 0.75, 0);
  await store.replaceSealTerm(tx, { envelope, renew_at: toTs(Math.floor(renewAt)), valid_until: validUntil });
  await scheduleRenewal(tx, deps);
}

/** Queues an extension for every seal whose time has come; a term moves on by a day, in case that comes to nothing. */
export async function renewDue(deps: Deps): Promise<Commit> {
  const now = deps.clock.now();
  const due = (await store.listSealTerms(deps.db.read, batch)).filter(({ renew_at: at }) => Date.parse(at) <= now);
  return async (tx) => {
    for (const { envelope, valid_until } of due) {
      await enqueue(tx, extendSeal, { envelope }, { dedupeKey: extendDedupeKey(envelope) });
      await store.replaceSealTerm(tx, { envelope, renew_at: toTs(now + dayMs), valid_until });
    }
    await scheduleRenewal(tx, deps);
  };
}

async function scheduleRenewal(tx: Tx, deps: Deps): Promise<void> {
  const [first] = await store.listSealTerms(tx, 1);
  if (!first) return;
  const now = deps.clock.now();
  const runAt = Math.max(now, Math.min(Date.parse(first.renew_at), now + dayMs));
  await enqueue(tx, renewSeals, {}, { runAt, dedupeKey: renewDedupeKey });
}

/** Leaves wait and no job does when anchors were held back: after that nothing but the next seal would plan one. */
async function resumeAnchors(deps: Deps): Promise<void> {
  const [size, latest] = [await store.readTreeSize(deps.db.read), await store.findLatestAnchor(deps.db.read)];
  if (size > (latest?.tree_size ?? 0)) await deps.db.tx((tx) => scheduleAnchor(tx, deps));
}

/**
 * Queues again what looks after seals and anchors, at each start: seals may stand below a level that the settings ask for only
 * now, or come from a time before they were looked after.
 */
export async function resumeUpkeep(deps: Deps): Promise<void> {
  await resumeNotes(deps);
  await resumeAnchors(deps);
  const [short, [term]] = [await listShort(deps, "", 1), await store.listSealTerms(deps.db.read, 1)];
  if (short.length === 0 && !term) return;
  await deps.db.tx(async (tx) => {
    if (short.length > 0) await enqueue(tx, raiseSeals, { after: "" }, { dedupeKey: raiseDedupeKey });
    await scheduleRenewal(tx, deps);
  });
}

/** Queues an extension for each of the next seals that fall short; those that wait for one already keep theirs. */
export async function raiseNext(deps: Deps, after: string): Promise<Commit> {
  const short = await listShort(deps, after, raiseBatch);
  const last = short.at(-1);
  // Once through, it looks again for as long as there are any: an extension that was lost would never be missed.
  const more = last !== undefined && short.length === raiseBatch;
  const next = more ? { after: last, wait: raisePauseMs } : { after: "", wait: dayMs };
  return async (tx) => {
    for (const envelope of short) {
      // Beside the seals that people wait for, not before them.
      const options = { queue: raiseSeals.queue, dedupeKey: extendDedupeKey(envelope) };
      await enqueue(tx, extendSeal, { envelope }, options);
    }
    if (last === undefined && after === "") return;
    const runAt = deps.clock.now() + next.wait;
    await enqueue(tx, raiseSeals, { after: next.after }, { runAt, dedupeKey: raiseDedupeKey });
  };
}

const levels = ["B-T", "B-LT", "B-LTA"] as const;

function listShort(deps: Deps, after: string, limit: number): Promise<string[]> {
  const below = levels.slice(0, levels.indexOf(deps.config.sealLevel));
  return store.listSealedBelow(deps.db.read, { levels: below, after, limit });
}
