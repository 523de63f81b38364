import type { Deps } from "../../kernel/deps.ts";
import { RetryLater } from "../../kernel/job-runner.ts";
import { updateFailure } from "./failure-store.ts";
import { readEnvelope } from "./store.ts";

type Delayed = { envelope: string; stage: "render" | "seal"; signal: AbortSignal };

/** Shows with the envelope why the work on it failed, while it is tried again; what succeeds in the end clears it. */
export async function showingDelay<T>(deps: Deps, about: Delayed, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof RetryLater) && !about.signal.aborted) {
      const message = error instanceof Error ? error.message : String(error);
      await noteDelay(deps, about, message.slice(0, 500)).catch((err: unknown) =>
        deps.log.warn({ envelope: about.envelope, err }, "the cause of a delay could not be noted"),
      );
    }
    throw error;
  }
}

async function noteDelay(deps: Deps, { envelope: id, stage }: Delayed, message: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    const envelope = (await readEnvelope(tx, id))?.envelope;
    const waits = stage === "seal" ? envelope?.seal === "pending" : envelope?.status === "rendering";
    const at = deps.clock.ts();
    if (waits) await updateFailure(tx, id, { stage, code: `${stage}-delayed`, message, at }, at);
  });
}
