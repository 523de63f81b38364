import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { GiveUp, handle, type JobBinding, RetryLater } from "../../kernel/job-runner.ts";
import { PoolBusy } from "../../kernel/pool.ts";
import { countersign, inviteRecipient, remindRecipient, storeRevision } from "../envelopes/jobs.ts";
import { markStalled, type StallStep, showingDelay } from "../envelopes/service.ts";
import { signAutomatically } from "./countersign.ts";
import { invite } from "./invite.ts";
import { purgeAttachment } from "./jobs.ts";
import { remind } from "./remind.ts";
import { ensureRevisions, RevisionFailed } from "./service.ts";
import { deleteUnsubmitted } from "./store.ts";

export function handlers(deps: Deps): JobBinding[] {
  return [
    handle(inviteRecipient, (payload, context) => invite(deps, payload, context), {
      onDead: stalls(deps, "invite", "The signing link could not be sent."),
    }),
    handle(remindRecipient, async (turn) => (tx) => remind(tx, deps, turn)),
    handle(
      storeRevision,
      async ({ envelope }, { signal }) => {
        const work = ensureRevisions(deps, envelope).catch(judge);
        await showingDelay(deps, { envelope, step: "revision", signal }, work);
        return undefined;
      },
      { onDead: stalls(deps, "revision", "A signature could not be drawn into the document.") },
    ),
    handle(countersign, (payload) => signAutomatically(deps, payload), {
      onDead: stalls(deps, "countersign", "The countersignature could not be added."),
    }),
    handle(
      purgeAttachment,
      async ({ attachment }) =>
        (tx) =>
          deleteUnsubmitted(tx, attachment),
    ),
  ];
}

/** Nothing else would move the envelope on: what went wrong is shown with it, and its sender is told. */
function stalls(deps: Deps, step: StallStep, message: string) {
  return async ({ envelope }: { envelope: string }, error: Error, tx: Tx) => {
    deps.log.error({ envelope, err: error }, message);
    await markStalled(tx, deps, { envelope, step, message });
  };
}

/** A full pool costs no attempt; what cannot be drawn is left for the operator at once. */
function judge(error: unknown): never {
  if (error instanceof PoolBusy) throw new RetryLater(error.message, 500);
  if (error instanceof RevisionFailed) throw new GiveUp(error.message, { cause: error });
  throw error;
}
