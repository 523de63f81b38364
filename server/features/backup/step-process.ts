import { flushCompileCache } from "node:module";
import { setPriority } from "node:os";
import { type Asked, failureOf, type Message, type Progress, runStep } from "./steps.ts";
import { callTarget } from "./target-folder.ts";

/** The process of the steps of a backup, one behind the other (`run-step.ts` starts it and gives its own number). */

// People who sign come first.
setPriority(0, 10);
// Some are killed, so nothing would be kept at their end.
flushCompileCache();

const parent = Number(process.argv[2]);
const tellEveryMs = 100;
let told = 0;
const post = (message: Message) => process.send?.(message);

/**
 * A step waits in its calls and hears of nothing. Whoever began it held the locks of both folders: once they are gone, the next
 * backup is at work there.
 */
function endWithParent(): void {
  if (process.ppid !== parent) process.exit(1);
  // Only POSIX gives a child whose parent ended another one.
  if (process.platform === "win32") process.kill(parent, 0);
}

function tell(progress: Progress): void {
  endWithParent();
  const now = performance.now();
  // The last word is always said: behind it everything is written out, which may take its time.
  if (now - told < tellEveryMs && (progress.files === 0 || progress.files < progress.allFiles)) return;
  told = now;
  post({ progress });
}

process.on("disconnect", () => process.exit(1));
process.on("message", (asked: Asked) => void answer(asked));

async function answer(asked: Asked): Promise<void> {
  told = 0;
  post({ begun: true });
  try {
    if (asked.step === "target") post({ value: await callTarget(asked.folder, asked.asked) });
    else post({ outcome: runStep(asked, tell) });
  } catch (error) {
    post({ failure: failureOf(error) });
  }
}
