import { Worker } from "node:worker_threads";
import type { Message, Order, Outcome, Progress } from "./thread-steps.ts";

/** What a step met: the error of the machine (its code), or a part of a backup that is damaged. */
class StepFailed extends Error {
  readonly code: string;
  override name = "StepFailed";
  constructor({ message, code }: { message: string; code: string | null }) {
    super(message);
    this.code = code ?? "BACKUP_DAMAGED";
  }
}

/**
 * Runs one step in a thread of its own.
 * @throws the reason of the signal when it is aborted, and what the step throws
 */
export async function runInThread(
  order: Order,
  { signal, told }: { signal?: AbortSignal | undefined; told?: ((progress: Progress) => void) | undefined } = {},
): Promise<Outcome> {
  signal?.throwIfAborted();
  const worker = new Worker(new URL("./thread.ts", import.meta.url), { workerData: order });
  const stop = () => void worker.terminate();
  signal?.addEventListener("abort", stop);
  try {
    return await new Promise<Outcome>((resolve, reject) => {
      worker.on("message", (message: Message) => {
        if ("progress" in message) told?.(message.progress);
        else if ("outcome" in message) resolve(message.outcome);
        else reject(new StepFailed(message.failure));
      });
      worker.on("error", reject);
      worker.on("exit", () => reject(signal?.aborted ? signal.reason : new Error(`the thread of ${order.step} ended`)));
    });
  } finally {
    signal?.removeEventListener("abort", stop);
    await worker.terminate();
  }
}
