import type { Deps } from "../../kernel/deps.ts";
import { handle, type JobBinding } from "../../kernel/job-runner.ts";
import { deliver } from "./deliver.ts";
import { queueReplayed } from "./deliveries.ts";
import { tellOwners } from "./failing.ts";
import { deliverEvent, replayPage, reportFailing, tidyWebhooks } from "./jobs.ts";
import * as store from "./store.ts";
import { tidy } from "./tidy.ts";

export function handlers(deps: Deps): JobBinding[] {
  return [
    handle(deliverEvent, ({ delivery }) => deliver(deps, delivery), {
      async onDead({ delivery }, _error, tx) {
        await store.settleDelivery(tx, delivery, { status: "failed", final: 1, next_attempt_at: null });
      },
    }),
    handle(replayPage, async (page) => (tx) => queueReplayed(tx, deps, page)),
    handle(reportFailing, async (about) => (tx) => tellOwners(tx, deps, about)),
    handle(tidyWebhooks, (_, { signal }) => tidy(deps, signal)),
  ];
}
