import type { BackupProgress } from "../features/backup/contract.ts";
import { bar, clock } from "./fsck-bar.ts";

const drawEveryMs = 100;
const names: Record<BackupProgress["step"], string> = {
  waiting: "waiting",
  database: "database",
  blobs: "documents",
  verify: "verifying",
  prune: "tidying",
  restore: "documents",
  walk: "walking",
};

/** One line on a terminal that is drawn over: what is done, how far, how much, how much longer. */
export function backupBar(write: (text: string) => void) {
  let drawn = 0;
  let step = "";
  return {
    draw(progress: Pick<BackupProgress, "step" | "files" | "bytes" | "secondsLeft">): void {
      const now = performance.now();
      if (progress.step === step && now - drawn < drawEveryMs) return;
      drawn = now;
      step = progress.step;
      const { bytes, files, secondsLeft } = progress;
      const share = bytes.all === 0 ? "" : bar(bytes.done / bytes.all);
      const amount = files.all > 1 ? `  ${files.done} of ${files.all} files, ${(bytes.done / 1e6).toFixed(0)} MB` : "";
      const time = secondsLeft === null ? "" : `, ${clock(secondsLeft * 1000)} left`;
      write(`\r\x1b[2K${names[progress.step].padEnd(12)} ${share}${amount}${time}`);
    },
    clear: () => write("\r\x1b[2K"),
  };
}
