import type { Deps } from "../../kernel/deps.ts";
import { type Commit, GiveUp, handle, type JobBinding, type JobContext, RetryLater } from "../../kernel/job-runner.ts";
import { findLive } from "../../kernel/job-store.ts";
import type { Activity } from "./activity.ts";
import { type Ended, performBackup, performDrill, performVerify } from "./acts.ts";
import type { BackupProgress } from "./contract.ts";
import { planBackup, runBackup, runDrill, runVerify } from "./jobs.ts";
import { scheduleBackup } from "./service.ts";
import * as store from "./store.ts";
import { TargetBusy } from "./target-errors.ts";
import { BackupRefused, type Work } from "./write.ts";

const busyMs = 30_000;

/** @param activity where everybody in this process sees how far it is */
export function createBackupHandlers(deps: Deps, activity: Activity): JobBinding[] {
  /**
   * What was cancelled is recorded already; what the end of the service cut off is done again.
   * @param isWanted asked once a cancellation would be heard: one that came before has taken the job away by then
   */
  async function run(
    about: Pick<BackupProgress, "kind" | "id">,
    { signal }: JobContext,
    { isWanted, perform }: { isWanted: () => Promise<boolean>; perform: (work: Work) => Promise<Ended> },
  ): Promise<Commit | undefined> {
    const act = activity.begin(about, signal);
    const stuck = (message: string) => deps.log.warn(about, message);
    try {
      const commit = (await isWanted()) ? (await perform({ ...act, stuck })).commit : undefined;
      act.end();
      return commit;
    } catch (error) {
      act.end();
      if (!signal.aborted && act.signal.aborted) return undefined;
      if (error instanceof TargetBusy) {
        activity.expect(about);
        throw new RetryLater(error.message, busyMs);
      }
      throw error;
    }
  }
  return [
    handle(planBackup, async () => {
      await scheduleBackup(deps, activity);
      return undefined;
    }),
    handle(runBackup, ({ id }, context) =>
      run({ kind: "backup", id }, context, {
        isWanted: async () => (await store.findRun(deps.db.read, id))?.status === "running",
        perform: (work) => performBackup(deps, id, work),
      }),
    ),
    handle(runVerify, ({ id, actor }, context) =>
      run({ kind: "verify", id }, context, {
        isWanted: async () => (await findLive(deps.db.read, runVerify, id)).length > 0,
        perform: (work) => performVerify(deps, { id, actor }, work).catch(untilAllowed),
      }),
    ),
    handle(runDrill, ({ id, backup }, context) =>
      run({ kind: "drill", id }, context, {
        isWanted: async () => (await store.findDrill(deps.db.read, id))?.status === "running",
        perform: (work) => performDrill(deps, { id, backup: backup ?? undefined }, work),
      }),
    ),
  ];
}

/** Time does not give files to another user: the job ends with what would, and is queued again by whoever has done it. */
function untilAllowed(error: unknown): never {
  throw error instanceof BackupRefused ? new GiveUp(error.message, { cause: error }) : error;
}
