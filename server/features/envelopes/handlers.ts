import { toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { type Commit, handle, type JobBinding, RetryLater } from "../../kernel/job-runner.ts";
import { PoolBusy } from "../../kernel/pool.ts";
import { noteDeliveryError } from "../mail/jobs.ts";
import { showingDelay } from "./delay.ts";
import { expireEnvelope, renderEnvelope } from "./jobs.ts";
import { loadEnvelope, markExpired, markRendered, markRenderFailed } from "./progress.ts";
import { versionOf } from "./service.ts";
import { inProgress, isOverdue } from "./state.ts";
import { markUndelivered } from "./undelivered.ts";

export function handlers(deps: Deps): JobBinding[] {
  return [
    handle(
      renderEnvelope,
      ({ envelope }, { signal }) =>
        showingDelay(deps, { envelope, step: "render", signal }, render(deps, envelope, signal)),
      {
        async onDead({ envelope }, error, tx) {
          deps.log.error({ envelope, err: error }, "rendering was given up");
          const message = "The document could not be rendered.";
          await markRenderFailed(tx, deps, { envelope, code: "internal", message });
        },
      },
    ),
    handle(noteDeliveryError, async (failed) => (tx) => markUndelivered(tx, failed)),
    handle(expireEnvelope, async ({ envelope: id }) => {
      const record = await loadEnvelope(deps.db.read, id);
      if (record === undefined || !inProgress(record.envelope.status)) return undefined;
      const { expires_at: expiresAt } = record.envelope;
      const now = deps.clock.now();
      if (expiresAt !== null && !isOverdue({ expiresAt }, toTs(now))) {
        throw new RetryLater("the envelope is not overdue yet", Date.parse(expiresAt) - now);
      }
      return async (tx) => {
        await markExpired(tx, deps, id);
      };
    }),
  ];
}

async function render(deps: Deps, id: string, signal: AbortSignal): Promise<Commit | undefined> {
  const record = await loadEnvelope(deps.db.read, id);
  if (record?.envelope.status !== "rendering") return undefined;
  const { envelope } = record;
  const version = await versionOf(deps, deps.db.read, envelope);
  const rendering = version.render(deps, {
    variables: JSON.parse(envelope.variables),
    locale: envelope.locale,
    testMode: envelope.test_mode === 1,
    at: envelope.created_at,
    signal,
  });
  const drawn = await rendering.catch((error: unknown) => {
    if (error instanceof PoolBusy) throw new RetryLater(error.message, 500);
    throw error;
  });
  if (!drawn.ok) {
    const { code, message } = drawn.error;
    return (tx) => markRenderFailed(tx, deps, { envelope: id, code, message });
  }
  const { sha256, size } = await deps.blobs.put(drawn.value.parts);
  const { pageCount, boxes } = drawn.value;
  return (tx) => markRendered(tx, deps, { envelope: id, sha256, size, pageCount, boxes });
}
