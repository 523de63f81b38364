import type { BackupProgress } from "./contract.ts";
import type { Progress } from "./steps.ts";

/** What this process does about backups at this moment, for whoever watches; what became of it stands in the database. */
export type Activity = ReturnType<typeof createActivity>;

type About = Pick<BackupProgress, "kind" | "id">;

const nothing = { done: 0, all: 0 };
/** Before that a remaining time would be a guess. */
const knownAfterMs = 1000;

export function createActivity(now: () => number = () => performance.now()) {
  let current: BackupProgress | null = null;
  let abort: AbortController | null = null;
  let stepBegun = 0;
  const listeners = new Set<() => void>();

  function set(next: BackupProgress | null): void {
    current = next;
    for (const listener of [...listeners]) listener();
  }

  return {
    current: () => current,
    /** Something was asked for, and waits in the queue. */
    expect(about: About): void {
      if (current === null) set({ ...about, step: "waiting", files: nothing, bytes: nothing, secondsLeft: null });
    },
    /** @param signal of the service, which may stop */
    begin(about: About, signal?: AbortSignal) {
      const own = new AbortController();
      abort = own;
      set({ ...about, step: "waiting", files: nothing, bytes: nothing, secondsLeft: null });
      return {
        signal: signal ? AbortSignal.any([signal, own.signal]) : own.signal,
        told(step: BackupProgress["step"], progress: Progress | null): void {
          if (current?.step !== step) stepBegun = now();
          const files = { done: progress?.files ?? 0, all: progress?.allFiles ?? 0 };
          const bytes = { done: progress?.bytes ?? 0, all: progress?.allBytes ?? 0 };
          set({ ...about, step, files, bytes, secondsLeft: secondsLeft(bytes, now() - stepBegun) });
        },
        end(): void {
          abort = null;
          set(null);
        },
      };
    },
    /** Ends what runs; what only waits is taken off. @returns what it was */
    cancel(): BackupProgress | null {
      const was = current;
      abort?.abort(new Cancelled());
      if (abort === null) set(null);
      return was;
    },
    onChange(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export class Cancelled extends Error {
  override name = "Cancelled";
  constructor() {
    super("it was cancelled");
  }
}

function secondsLeft({ done, all }: { done: number; all: number }, ms: number): number | null {
  if (ms < knownAfterMs || done === 0 || all === 0) return null;
  return Math.max(0, Math.ceil((ms * (all - done)) / done / 1000));
}
