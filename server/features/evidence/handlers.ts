import type { Deps } from "../../kernel/deps.ts";
import { handle, type JobBinding, RetryLater } from "../../kernel/job-runner.ts";
import { PoolBusy } from "../../kernel/pool.ts";
import { showingDelay } from "../envelopes/delay.ts";
import { loadEnvelope, markSealFailed } from "../envelopes/progress.ts";
import { scheduleAnchor, signNextAnchor } from "./anchoring.ts";
import { tellCompleted } from "./completion.ts";
import { anchorLeaves, sealEnvelope } from "./jobs.ts";
import { countSeal, sealCompleted } from "./sealing.ts";

export function handlers(deps: Deps): JobBinding[] {
  return [
    handle(
      sealEnvelope,
      ({ envelope }, { signal }) =>
        showingDelay(deps, { envelope, stage: "seal", signal }, patiently(sealCompleted(deps, envelope, signal))),
      {
        async onDead({ envelope }, error, tx) {
          const record = await loadEnvelope(tx, envelope);
          if (record?.envelope.seal !== "pending") return;
          await markSealFailed(tx, deps, { envelope, code: "seal-failed", message: error.message.slice(0, 500) });
          await tellCompleted(tx, deps, record, null);
          countSeal(tx, deps, "failed");
        },
      },
    ),
    handle(anchorLeaves, async () => {
      const commit = await signNextAnchor(deps);
      // A leaf may have come since; while this job ran it could not queue another.
      return commit ?? ((tx) => scheduleAnchor(tx, deps));
    }),
  ];
}

const busyMs = 1000;

/** Many seals at once are no failure of any of them. */
async function patiently<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PoolBusy) throw new RetryLater(error.message, busyMs);
    throw error;
  }
}
