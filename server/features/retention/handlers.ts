import type { Deps } from "../../kernel/deps.ts";
import { handle, type JobBinding } from "../../kernel/job-runner.ts";
import { deleteDue } from "./deletion.ts";
import { collectGarbage } from "./garbage.ts";
import { planRetention, runRetention } from "./jobs.ts";
import { scheduleRetention } from "./service.ts";
import * as store from "./store.ts";

export function handlers(deps: Deps): JobBinding[] {
  return [
    handle(planRetention, async () => {
      await scheduleRetention(deps);
      return undefined;
    }),
    handle(runRetention, async (_, { signal }) => {
      // Marked first, each envelope in a transaction of its own; files go afterwards. Whatever ends the process in
      // between, the next run finds files that nothing names.
      const { deleted: envelopes, failed } = await deleteDue(deps, signal);
      for (const { envelope, cause: err } of failed)
        deps.log.error(
          { envelope, err },
          "its documents are due and could not be deleted; signet fsck says what is wrong",
        );
      const { files, bytes } = await collectGarbage(deps, signal);
      // What was written over in the database still stands in its log, until that is taken over and cut off.
      // Each time: the run before may have been ended before it.
      const isCut = await deps.db.truncateLog();
      if (!isCut)
        deps.log.warn("what was deleted stands in the database's log until nobody reads the database for a moment");
      if (envelopes > 0 || files > 0) deps.log.info({ envelopes, files, bytes }, "documents were deleted");
      return (tx) => store.noteRun(tx, deps.clock.ts());
    }),
  ];
}
