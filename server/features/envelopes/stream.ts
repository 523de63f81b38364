import { createStreamBell, pingMs } from "../../kernel/bell.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { ServerSentEvent } from "../../kernel/endpoint.ts";
import { invalid } from "../../kernel/errors.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { shareReads } from "../../kernel/shared-reads.ts";
import { envelopeTopic } from "./audit.ts";
import { readEntriesAfter } from "./audit-store.ts";
import { isSettled } from "./state.ts";
import type { EnvelopeRow } from "./tables.ts";

const entriesAfter = shareReads(readEntriesAfter);

/** The `seq` that a client has seen last; 0 when it has seen none. @throws AppError for anything but a whole number */
export function lastSeen(header: string | null): number {
  if (header === null || header.trim() === "") return 0;
  const seq = Number(header);
  if (/^\d{1,9}$/.test(header.trim())) return seq;
  const detail = "Last-Event-ID is the `seq` of an audit entry: a whole number.";
  throw invalid([{ header: "last-event-id", code: "format", detail }]);
}

/** Whether there is nothing more to tell somebody who has seen this entry. */
export function isOver({ status, seal, audit_length }: EnvelopeRow, seen: number): boolean {
  return isSettled(status, seal) && seen >= audit_length;
}

/**
 * The audit trail behind `seen` as server-sent events, then what happens next, until the envelope is settled
 * (contract §4), the client goes away, or may not see it any more.
 */
export async function* followEnvelope(
  deps: Deps,
  envelope: string,
  seen: number,
  { signal, stillAllowed }: Pick<RequestInfo, "signal" | "stillAllowed">,
): AsyncGenerator<ServerSentEvent> {
  // Before the first read: a change between reading and listening must not be missed.
  const bell = createStreamBell(deps, envelopeTopic(envelope), signal);
  try {
    yield { retry: 3000 };
    let last = seen;
    while (!signal.aborted) {
      const found = await entriesAfter(deps.db.read, envelope, last);
      if (found === undefined) return;
      for (const entry of found.entries) {
        last = entry.seq;
        yield { id: String(entry.seq), data: JSON.stringify(entry) };
      }
      // Where entries are missing (a damaged database), asking again at once would never end.
      const more = found.entries.length > 0 && last < found.state.audit_length;
      if (!more && isSettled(found.state.status, found.state.seal)) {
        yield { event: "end", data: "{}" };
        return;
      }
      const rung = more || (await bell.wait(pingMs));
      // Keys and sessions end while a stream is open: nothing is told after that.
      if (signal.aborted || !(await stillAllowed())) return;
      if (!rung) yield { comment: "ping" };
    }
  } finally {
    bell.close();
  }
}
