import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { senderAddresses } from "../identity/service.ts";
import { queueMail } from "../mail/service.ts";
import { announceEnvelope } from "./audit.ts";
import { Failure } from "./envelope-contract.ts";
import { returnSealToPending, updateFailure } from "./failure-store.ts";
import { actorOf, mailHead } from "./sender.ts";
import { inProgress } from "./state.ts";
import { readEnvelope } from "./store.ts";
import type { EnvelopeRow } from "./tables.ts";

/** The step that an envelope waits for. */
export type StallStep = "invite" | "revision" | "countersign";

/**
 * A job that the envelope waits for is dead: its cause stands in `failure` and the sender is told.
 * Does nothing when the envelope has ended.
 */
export async function markStalled(
  tx: Tx,
  deps: Deps,
  stalled: { envelope: string; step: StallStep; message: string },
): Promise<void> {
  const { step, message } = stalled;
  const code = `${step}-failed`;
  const record = await readEnvelope(tx, stalled.envelope);
  if (record === undefined || !inProgress(record.envelope.status)) return;
  const { envelope } = record;
  const at = deps.clock.ts();
  await updateFailure(tx, envelope.id, { stage: "render", code, message, at }, at);
  announceEnvelope(tx, deps, envelope.id);
  for (const to of await senderAddresses(tx, envelope.organization, actorOf(envelope))) {
    await queueMail(tx, deps, {
      ...mailHead(envelope),
      cause: `stalled:${envelope.id}:${code}:${at}:${to.email.toLowerCase()}`,
      to,
      locale: envelope.locale,
      content: { kind: "stalled", title: envelope.title, message },
    });
  }
}

/** The step was done after all. Leaves another step's failure alone. @returns the row as it is now */
export async function clearStall(tx: Tx, deps: Deps, envelope: EnvelopeRow, step: StallStep): Promise<EnvelopeRow> {
  if (envelope.failure === null) return envelope;
  const { code } = Failure.parse(JSON.parse(envelope.failure));
  if (code !== `${step}-failed` && code !== `${step}-delayed`) return envelope;
  const now = deps.clock.ts();
  await updateFailure(tx, envelope.id, null, now);
  announceEnvelope(tx, deps, envelope.id);
  return { ...envelope, failure: null, updated_at: now };
}

/**
 * The operator tries a failed seal again; the caller queues the job in the same transaction.
 * @returns false when the envelope's seal has not failed
 */
export async function retrySeal(tx: Tx, deps: Deps, envelope: string): Promise<boolean> {
  return await returnSealToPending(tx, envelope, deps.clock.ts());
}
