import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { type Message, type Order, type Progress, runStep } from "./thread-steps.ts";

/** The thread of one step of a backup (`steps.ts` starts it). */

// On Linux this is the priority of the thread, elsewhere of the whole process: people who sign come first.
if (process.platform === "linux") setPriority(0, 5);

const tellEveryMs = 100;
let told = 0;
const post = (message: Message) => parentPort?.postMessage(message);

function tell(progress: Progress): void {
  const now = performance.now();
  if (now - told < tellEveryMs) return;
  told = now;
  post({ progress });
}

try {
  post({ outcome: runStep(workerData satisfies Order, tell) });
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
  post({ failure: { message, code } });
}
