import { createStreamBell, pingMs } from "../../kernel/bell.ts";
import type { ViewerCaller } from "../../kernel/caller.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { ServerSentEvent } from "../../kernel/endpoint.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { shareReads } from "../../kernel/shared-reads.ts";
import { envelopeTopic, loadEnvelope } from "../envelopes/service.ts";
import type { ViewerUpdate } from "./contract.ts";

const lengthOf = shareReads(async (reader, envelope: string) => {
  return (await loadEnvelope(reader, envelope))?.envelope.audit_length ?? 0;
});

/**
 * Says when the envelope changed, until the client goes away or the access ends (contract §7).
 * @param seen the `id` of the last event that the client has had; null when it comes for the first time
 */
export async function* followAsViewer(
  deps: Deps,
  { envelope }: ViewerCaller,
  seen: number | null,
  { signal, stillAllowed }: Pick<RequestInfo, "signal" | "stillAllowed">,
): AsyncGenerator<ServerSentEvent> {
  // Before the first read: a change between reading and listening must not be missed.
  const bell = createStreamBell(deps, envelopeTopic(envelope), signal);
  try {
    let last = seen ?? (await lengthOf(deps.db.read, envelope));
    yield { retry: 3000 };
    let rung = true;
    while (!signal.aborted) {
      const length = await lengthOf(deps.db.read, envelope);
      if (length > last) {
        last = length;
        const data: ViewerUpdate = { at: deps.clock.ts() };
        yield { event: "update", id: String(length), data: JSON.stringify(data) };
      } else if (!rung) yield { comment: "ping" };
      rung = await bell.wait(pingMs);
      if (signal.aborted) return;
      if (!(await stillAllowed())) {
        yield { event: "expired", data: "{}" };
        return;
      }
    }
  } finally {
    bell.close();
  }
}
