import type { Deps } from "../../kernel/deps.ts";
import { type Commit, handle, type JobBinding, type JobContext, RetryLater } from "../../kernel/job-runner.ts";
import type { Activity } from "./activity.ts";
import { type Ended, performBackup, performDrill, performVerify } from "./acts.ts";
import type { BackupProgress } from "./contract.ts";
import { runBackup, runDrill, runVerify } from "./jobs.ts";
import * as store from "./store.ts";
import { TargetBusy } from "./target.ts";
import type { Work } from "./write.ts";

const busyMs = 30_000;

/** @param activity where everybody in this process sees how far it is */
export function createBackupHandlers(deps: Deps, activity: Activity): JobBinding[] {
  /** What was cancelled is recorded already; what the end of the service cut off is done again. */
  async function run(
    about: Pick<BackupProgress, "kind" | "id">,
    { signal }: JobContext,
    perform: (work: Work) => Promise<Ended>,
  ): Promise<Commit | undefined> {
    const act = activity.begin(about, signal);
    try {
      const { commit } = await perform(act);
      act.end();
      return commit;
    } catch (error) {
      act.end();
      if (error instanceof TargetBusy) {
        activity.expect(about);
        throw new RetryLater(error.message, busyMs);
      }
      if (signal.aborted || !act.signal.aborted) throw error;
      return undefined;
    }
  }
  return [
    handle(runBackup, async ({ id }, context) => {
      if ((await store.findRun(deps.db.read, id))?.status !== "running") return undefined;
      return await run({ kind: "backup", id }, context, (work) => performBackup(deps, id, work));
    }),
    handle(runVerify, ({ id, actor }, context) =>
      run({ kind: "verify", id }, context, (work) => performVerify(deps, { id, actor }, work)),
    ),
    handle(runDrill, async ({ id, backup }, context) => {
      if ((await store.findDrill(deps.db.read, id))?.status !== "running") return undefined;
      return await run({ kind: "drill", id }, context, (work) =>
        performDrill(deps, { id, backup: backup ?? undefined }, work),
      );
    }),
  ];
}
