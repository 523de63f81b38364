import type { Deps } from "../../kernel/deps.ts";
import { GiveUp, handle, type JobBinding, RetryLater } from "../../kernel/job-runner.ts";
import { PoolBusy } from "../../kernel/pool.ts";
import { signAutomatically } from "./countersign.ts";
import { invite } from "./invite.ts";
import { countersign, inviteRecipient, purgeAttachment, storeRevision } from "./jobs.ts";
import { ensureRevisions, RevisionFailed } from "./service.ts";
import { deleteUnsubmitted } from "./store.ts";

export function handlers(deps: Deps): JobBinding[] {
  return [
    handle(inviteRecipient, (payload, context) => invite(deps, payload, context)),
    handle(
      storeRevision,
      async ({ envelope }) => {
        await ensureRevisions(deps, envelope).catch(judge);
        return undefined;
      },
      {
        async onDead({ envelope }, error) {
          deps.log.error({ envelope, err: error }, "a signature could not be drawn into the document");
        },
      },
    ),
    handle(countersign, (payload) => signAutomatically(deps, payload)),
    handle(
      purgeAttachment,
      async ({ attachment }) =>
        (tx) =>
          deleteUnsubmitted(tx, attachment),
    ),
  ];
}

/** A full pool costs no attempt; what cannot be drawn is left for the operator at once. */
function judge(error: unknown): never {
  if (error instanceof PoolBusy) throw new RetryLater(error.message, 500);
  if (error instanceof RevisionFailed) throw new GiveUp(error.message, { cause: error });
  throw error;
}
