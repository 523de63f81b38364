import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { type Message, type Order, type Progress, runStep } from "./thread-steps.ts";

/** The thread of the steps of a backup, one behind the other (`steps.ts` starts it). */

// On Linux this is the priority of the thread, elsewhere of the whole process: people who sign come first.
if (process.platform === "linux") setPriority(0, 10);

const tellEveryMs = 100;
let told = 0;
const post = (message: Message) => parentPort?.postMessage(message);

function tell(progress: Progress): void {
  const now = performance.now();
  // The last word is always said: behind it everything is written out, which may take its time.
  if (now - told < tellEveryMs && (progress.files === 0 || progress.files < progress.allFiles)) return;
  told = now;
  post({ progress });
}

parentPort?.on("message", (order: Order) => {
  told = 0;
  try {
    post({ outcome: runStep(order, tell) });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
    post({ failure: { message, code } });
  }
});
