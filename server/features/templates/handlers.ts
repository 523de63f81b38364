import { toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { handle, type JobBinding } from "../../kernel/job-runner.ts";
import { sweepUnlisted } from "./jobs.ts";
import * as store from "./store.ts";

/** Milliseconds that a template made for one envelope waits for it, from its last change on. */
const unlistedKeptMs = 24 * 3_600_000;

export function handlers(deps: Deps): JobBinding[] {
  return [
    handle(sweepUnlisted, async () => async (tx) => {
      const deleted = await store.deleteUnlistedBefore(tx, toTs(deps.clock.now() - unlistedKeptMs));
      if (deleted > 0) deps.log.info({ templates: deleted }, "templates that were made for one envelope were deleted");
    }),
  ];
}
