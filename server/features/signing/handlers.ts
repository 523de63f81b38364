import type { Deps } from "../../kernel/deps.ts";
import { handle, type JobBinding } from "../../kernel/job-runner.ts";
import { signAutomatically } from "./countersign.ts";
import { invite } from "./invite.ts";
import { countersign, inviteRecipient, purgeAttachment, storeRevision } from "./jobs.ts";
import { ensureRevisions } from "./service.ts";
import { deleteUnsubmitted } from "./store.ts";

export function handlers(deps: Deps): JobBinding[] {
  return [
    handle(inviteRecipient, (payload, context) => invite(deps, payload, context)),
    handle(storeRevision, async ({ envelope }) => {
      await ensureRevisions(deps, envelope);
      return undefined;
    }),
    handle(countersign, (payload) => signAutomatically(deps, payload)),
    handle(
      purgeAttachment,
      async ({ attachment }) =>
        (tx) =>
          deleteUnsubmitted(tx, attachment),
    ),
  ];
}
