import { type FsckProgress, recordSteps } from "../features/evidence/findings.ts";

const width = 16;
const drawEveryMs = 100;
/** Before that a remaining time would be a guess. */
const knownAfterMs = 1000;

/** One line on a terminal that is drawn over: which records, how much of the files, how fast, how much longer. */
export function fsckBar(write: (text: string) => void, now: () => number = () => performance.now()) {
  const begun = now();
  let drawn = 0;
  let first: FsckProgress | undefined;
  let step: { name: string; share: number; at: number } | undefined;
  return {
    draw(progress: FsckProgress): void {
      first ??= progress;
      const at = now();
      if (step?.name !== progress.step) step = { name: progress.step, share: progress.share, at };
      else if (at - drawn < drawEveryMs) return;
      drawn = at;
      const records =
        progress.step === "done"
          ? "records"
          : `${recordSteps.indexOf(progress.step) + 1}/${recordSteps.length} ${progress.step}`;
      const bytes = progress.bytes - first.bytes;
      const speed = Math.round(bytes / 1e6 / Math.max(0.001, (at - begun) / 1000));
      const left = Math.max(
        leftOf({ share: progress.files, since: first.files, ms: at - begun }),
        leftOf({ share: progress.share, since: step.share, ms: at - step.at }),
      );
      const time = at - begun < knownAfterMs || !Number.isFinite(left) ? "" : `, ${clock(left)} left`;
      const amount = `${(progress.bytes / 1e6).toFixed(0)} MB, ${speed} MB/s${time}`;
      write(`\r\x1b[2K${records.padEnd(13)} ${bar(progress.share)}  files ${bar(progress.files)}  ${amount}`);
    },
    clear: () => write("\r\x1b[2K"),
  };
}

/** Milliseconds until the share is 1, when it goes on as since then. */
function leftOf({ share, since, ms }: { share: number; since: number; ms: number }): number {
  return share >= 1 ? 0 : (ms * (1 - share)) / (share - since);
}

export function bar(share: number): string {
  const full = Math.round(Math.min(1, share) * width);
  return `${"█".repeat(full)}${"░".repeat(width - full)} ${`${Math.floor(Math.min(1, share) * 100)}`.padStart(3)} %`;
}

/** Minutes and seconds, hours when there are any. */
export function clock(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const minutes = `${Math.floor(seconds / 60) % 60}:${two(seconds % 60)}`;
  return seconds < 3600
    ? minutes
    : `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}
