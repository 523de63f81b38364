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

/** To start a thread and load its code costs more than most steps: one waits so long for the next step, and keeps no process up. */
const restMs = 5000;
let resting: { thread: Worker; end: NodeJS.Timeout } | null = null;

function takeThread(): Worker {
  const taken = resting;
  resting = null;
  if (!taken) return newThread();
  clearTimeout(taken.end);
  taken.thread.ref();
  return taken.thread;
}

function newThread(): Worker {
  const thread = new Worker(new URL("./thread.ts", import.meta.url));
  // Nobody may take one that ended.
  const forget = () => {
    if (resting?.thread === thread) resting = null;
  };
  return thread.on("error", forget).on("exit", forget);
}

/** Of two that rest one is enough. */
function layDown(thread: Worker): void {
  if (resting) return void thread.terminate();
  const end = setTimeout(() => {
    resting = null;
    void thread.terminate();
  }, restMs);
  resting = { thread, end: end.unref() };
  thread.unref();
}

/**
 * Runs one step in a thread beside this one.
 * @throws the reason of the signal when it is aborted, and what the step throws
 */
export async function runInThread(
  order: Order,
  { signal, told }: { signal?: AbortSignal | undefined; told?: ((progress: Progress) => void) | undefined } = {},
): Promise<Outcome> {
  signal?.throwIfAborted();
  const thread = takeThread();
  const stop = () => void thread.terminate();
  signal?.addEventListener("abort", stop);
  const ended = Promise.withResolvers<Outcome | StepFailed>();
  const hear = (message: Message) => {
    if ("progress" in message) told?.(message.progress);
    else ended.resolve("outcome" in message ? message.outcome : new StepFailed(message.failure));
  };
  const gone = () => ended.reject(signal?.aborted ? signal.reason : new Error(`the thread of ${order.step} ended`));
  thread.on("message", hear).on("error", ended.reject).on("exit", gone);
  try {
    thread.postMessage(order);
    const outcome = await ended.promise;
    signal?.throwIfAborted();
    layDown(thread);
    if (outcome instanceof StepFailed) throw outcome;
    return outcome;
  } catch (error) {
    // Whatever was half said, nobody takes this thread again.
    if (!(error instanceof StepFailed)) stop();
    throw error;
  } finally {
    signal?.removeEventListener("abort", stop);
    thread.off("message", hear).off("error", ended.reject).off("exit", gone);
  }
}
