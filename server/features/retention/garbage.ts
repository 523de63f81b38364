import type { Deps } from "../../kernel/deps.ts";
import { RetryLater } from "../../kernel/job-runner.ts";
import { lockStore } from "../../kernel/store-lock.ts";
import { namesInUse } from "./names-in-use.ts";

/**
 * What was put so recently stays: its row may not be written yet, and replies to idempotent calls, which name blobs in
 * encrypted text, live a day and some.
 */
export const youngMs = 48 * 3_600_000;

/** How long to wait at a time while the store is copied, or the clock is not believed. */
const waitMs = 10 * 60_000;

/**
 * Removes the files that no row names, nor one of a database that may come back. Safe beside everything else, and whenever it is
 * interrupted.
 * @throws RetryLater while somebody copies the store, or the clock cannot be right: age would be judged by it
 */
export async function collectGarbage(deps: Deps, signal?: AbortSignal): Promise<{ files: number; bytes: number }> {
  const release = await lockStore(deps.config.dataDir);
  if (release === null) throw new RetryLater("the files are being copied", waitMs);
  try {
    return await collect(deps, signal);
  } finally {
    await release();
  }
}

async function collect(deps: Deps, signal?: AbortSignal): Promise<{ files: number; bytes: number }> {
  requireTime(deps);
  const since = deps.clock.now() - youngMs;
  const removed = { files: 0, bytes: 0 };
  const isNamed = await namesInUse(deps);
  for await (const sha256 of deps.blobs.list()) {
    signal?.throwIfAborted();
    if (isNamed(sha256)) continue;
    requireTime(deps);
    const size = await deps.blobs.removeUnused(sha256, since);
    if (size === null) continue;
    removed.files += 1;
    removed.bytes += size;
  }
  return removed;
}

/** @throws RetryLater while the clock cannot be right: nothing is deleted by it */
export function requireTime({ clock }: Pick<Deps, "clock">): void {
  if (clock.doubt?.()) throw new RetryLater("the clock of this machine cannot be right", waitMs);
}
