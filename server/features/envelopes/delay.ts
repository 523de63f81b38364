import type { Deps } from "../../kernel/deps.ts";
import { GiveUp, RetryLater } from "../../kernel/job-runner.ts";
import { announceEnvelope } from "./audit.ts";
import { updateFailure } from "./failure-store.ts";
import type { StallStep } from "./stalled.ts";
import { readEnvelope } from "./store.ts";
import type { EnvelopeRow } from "./tables.ts";

type Delayed = { envelope: string; step: "render" | "seal" | StallStep; signal: AbortSignal };

/**
 * Shows with the envelope why the work on it failed, while it is tried again; what succeeds in the end clears it. What is
 * given up is no delay.
 */
export async function showingDelay<T>(deps: Deps, about: Delayed, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof RetryLater || error instanceof GiveUp) && !about.signal.aborted) {
      const message = error instanceof Error ? error.message : String(error);
      await noteDelay(deps, about, message.slice(0, 500)).catch((err: unknown) =>
        deps.log.warn({ envelope: about.envelope, err }, "the cause of a delay could not be noted"),
      );
    }
    throw error;
  }
}

async function noteDelay(deps: Deps, { envelope: id, step }: Delayed, message: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    const envelope = (await readEnvelope(tx, id))?.envelope;
    if (envelope === undefined || !waitsFor(step, envelope)) return;
    const at = deps.clock.ts();
    const stage = step === "seal" ? "seal" : "render";
    await updateFailure(tx, id, { stage, code: `${step}-delayed`, message, at }, at);
    announceEnvelope(tx, deps, id);
  });
}

function waitsFor(step: Delayed["step"], { status, seal }: EnvelopeRow): boolean {
  if (step === "seal") return seal === "pending";
  return status === (step === "render" ? "rendering" : "sent");
}
