import type { Deps } from "../../kernel/deps.ts";
import { handle, type JobBinding } from "../../kernel/job-runner.ts";
import { deliver } from "./deliver.ts";
import { awaitRoom, giveUp, queueReplayed, releasePage } from "./deliveries.ts";
import { tellOwners } from "./failing.ts";
import { deliverEvent, releaseHeld, replayPage, reportFailing, tidyWebhooks } from "./jobs.ts";
import { tidy } from "./tidy.ts";

export function handlers(deps: Deps): JobBinding[] {
  return [
    handle(deliverEvent, ({ delivery }) => deliver(deps, delivery), {
      onDead: ({ delivery }, _error, tx) => giveUp(tx, delivery),
    }),
    handle(replayPage, async (page) => {
      await awaitRoom(deps, page.endpoint);
      return (tx) => queueReplayed(tx, deps, page);
    }),
    handle(releaseHeld, async (page) => (tx) => releasePage(tx, deps, page)),
    handle(reportFailing, async (about) => (tx) => tellOwners(tx, deps, about)),
    handle(tidyWebhooks, (_, { signal }) => tidy(deps, signal)),
  ];
}
