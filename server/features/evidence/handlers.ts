import type { Deps } from "../../kernel/deps.ts";
import { GiveUp, handle, type JobBinding, type JobContext, RetryLater } from "../../kernel/job-runner.ts";
import { PoolBusy } from "../../kernel/pool.ts";
import { sealEnvelope } from "../envelopes/jobs.ts";
import { loadEnvelope, markSealFailed, showingDelay } from "../envelopes/service.ts";
import { KeyUnavailable } from "../keys/service.ts";
import { RevisionFailed } from "../signing/service.ts";
import { AnchorsHeld } from "./anchors/hold.ts";
import { noteNext } from "./anchors/notes.ts";
import { scheduleAnchor, signNextAnchor } from "./anchors/signing.ts";
import { stampSigned } from "./anchors/stamping.ts";
import { tell } from "./anchors/witnesses.ts";
import { tellCompleted } from "./completion.ts";
import { extendSealed } from "./extending.ts";
import { InvalidAgain, isGivenUp, oneMoreInvalid } from "./invalid-seals.ts";
import {
  anchorLeaves,
  extendSeal,
  forgetDownloads,
  noteAnchors,
  raiseSeals,
  renewSeals,
  resumeWork,
  stampAnchor,
  tellWitness,
} from "./jobs.ts";
import { countSeal, isInDocument, SealFailure, sealCompleted } from "./sealing.ts";
import { purgeDownloads } from "./service.ts";
import { lastErrorOf } from "./store.ts";
import { raiseNext, renewDue, resumeUpkeep } from "./upkeep.ts";

export function handlers(deps: Deps): JobBinding[] {
  return [
    handle(
      sealEnvelope,
      ({ envelope }, context) => {
        const { signal } = context;
        const work = patiently(sealCompleted(deps, envelope, signal)).catch((error: unknown) =>
          judge(deps, error, context),
        );
        return awaitingKey(showingDelay(deps, { envelope, step: "seal", signal }, work));
      },
      {
        async onDead({ envelope }, error, tx) {
          const record = await loadEnvelope(tx, envelope);
          if (record?.envelope.seal !== "pending") return;
          await markSealFailed(tx, deps, record, { code: "seal-failed", message: error.message.slice(0, 500) });
          await tellCompleted(tx, deps, record, null);
          countSeal(tx, deps, "failed");
        },
      },
    ),
    handle(extendSeal, ({ envelope }, { signal }) => awaitingKey(patiently(extendSealed(deps, envelope, signal)))),
    handle(forgetDownloads, async () => (tx) => purgeDownloads(tx, deps)),
    handle(resumeWork, async () => {
      await resumeUpkeep(deps);
      return undefined;
    }),
    handle(renewSeals, () => renewDue(deps)),
    handle(raiseSeals, ({ after }) => raiseNext(deps, after)),
    handle(stampAnchor, ({ sequence }, { signal }) => patiently(stampSigned(deps, sequence, signal))),
    handle(noteAnchors, ({ after }) => awaitingKey(noteNext(deps, after))),
    handle(tellWitness, (payload) => tell(deps, payload)),
    handle(anchorLeaves, async () => {
      const commit = await awaitingKey(signNextAnchor(deps)).catch((error: unknown) => {
        // Whoever ends the hold plans the next one.
        if (error instanceof AnchorsHeld) return null;
        // Nobody waits for this job, so that its refusal must be heard: a tree that was rewritten, a clock set back.
        deps.log.error({ err: error }, "no anchor was signed");
        throw error;
      });
      if (commit === null) return undefined;
      // A leaf may have come since; while this job ran it could not queue another.
      return commit ?? ((tx) => scheduleAnchor(tx, deps));
    }),
  ];
}

const busyMs = 1000;
const keyAwayMs = 5000;

/** Until the key is back nothing has failed and nothing is given up, however long it takes. */
async function awaitingKey<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof KeyUnavailable) throw new RetryLater(`${error.code}: ${error.message}`, keyAwayMs);
    throw error;
  }
}

/**
 * The same document fails in the same way every time: it is left for the operator, who may try a newer version on it. At once when
 * the cause is known to lie in it, and when seal after seal does not hold.
 */
async function judge(deps: Deps, error: unknown, { id, attempt }: JobContext): Promise<never> {
  if (error instanceof RevisionFailed) throw new GiveUp(error.message, { cause: error });
  if (!(error instanceof SealFailure)) throw error;
  if (isInDocument(error)) throw new GiveUp(error.message, { cause: error });
  if (error.code !== "seal-invalid") throw error;
  const at = deps.clock.ts();
  // A job that an operator queues again begins anew, and still has the failure that it died of.
  const invalid = oneMoreInvalid(attempt > 1 ? await lastErrorOf(deps.db.read, id) : null, at);
  if (isGivenUp(invalid, at)) throw new GiveUp(error.message, { cause: error });
  throw new InvalidAgain(invalid, error);
}

/** Many seals at once are no failure of any of them. */
async function patiently<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PoolBusy) throw new RetryLater(error.message, busyMs);
    throw error;
  }
}
