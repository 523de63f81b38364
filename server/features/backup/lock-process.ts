import { flushCompileCache } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { holdFileLock } from "../../kernel/db.ts";
import { type Failure, failureOf } from "./steps.ts";
import { lockIn } from "./target-folder.ts";

/** The process that holds the lock of the folder of backups until it is ended, or its parent is gone (`run-lock.ts` starts it). */

export type LockOrder = { folder: string; mode: "exclusive" | "shared" };
/** `begun`: the process runs, has heard it and now calls the system. */
export type LockMessage = { begun: true } | LockAnswer;
export type LockAnswer = { held: true } | { busy: true } | { failure: Failure };

// Killed once the lock is given back, so nothing would be kept at its end.
flushCompileCache();

const tell = (message: LockMessage) => process.send?.(message);

/** So long one whose parent was killed may take to notice it. */
const tries = 20;
const betweenMs = 100;

process.on("disconnect", () => process.exit(1));
process.once("message", (order: LockOrder) => void hold(order));

async function hold({ folder, mode }: LockOrder): Promise<void> {
  tell({ begun: true });
  try {
    const file = await lockIn(folder);
    for (let left = tries; left > 0; left -= 1) {
      if (await holdFileLock(file, mode)) return void tell({ held: true });
      await delay(betweenMs);
    }
    tell({ busy: true });
  } catch (error) {
    tell({ failure: failureOf(error) });
  }
}
