import { askHelper, endHelper, type Helper, startHelper } from "./helper-process.ts";
import type { LockAnswer, LockMessage, LockOrder } from "./lock-process.ts";
import { fromFailure, helperEnvironment, waitAtMost } from "./run-step.ts";
import { StepLost, TargetBusy } from "./target-errors.ts";

/**
 * Starts a process that holds the lock until it is ended: one that waits for a share that is gone can be ended, a call cannot.
 * @throws TargetBusy, TargetSilent, StepLost, what the system says about the folder
 */
export async function takeLock(order: LockOrder, patienceMs: number): Promise<Helper> {
  const { folder } = order;
  const late = waitAtMost(folder, patienceMs);
  try {
    const { helper, answer } = await ask(order, late).catch((cause: unknown) => {
      late.signal.throwIfAborted();
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new StepLost(`the backups in ${folder} could not be locked: ${reason}`, { cause });
    });
    if ("held" in answer) return helper;
    await endHelper(helper, undefined);
    throw "busy" in answer
      ? new TargetBusy(`another process works with the backups in ${folder}`)
      : fromFailure(answer.failure);
  } finally {
    late.end();
  }
}

async function ask(order: LockOrder, { signal, begin }: Pick<ReturnType<typeof waitAtMost>, "signal" | "begin">) {
  const helper = startHelper(new URL("./lock-process.ts", import.meta.url), { env: helperEnvironment() });
  const hear = (message: LockMessage): LockAnswer | undefined => {
    if (!("begun" in message)) return message;
    begin();
  };
  return { helper, answer: await askHelper(helper, order, { signal, hear, leave: true }) };
}
