import { createStreamBell, pingMs } from "../../kernel/bell.ts";
import { toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { ServerSentEvent } from "../../kernel/endpoint.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { changesTopic } from "./audit.ts";
import type { EnvelopeChange } from "./dashboard-contract.ts";
import { readChanges } from "./store.ts";

/** An envelope is told of at most once in this time. */
const pauseMs = 1000;
/** A time is taken before its commit, so what changed shortly before a look may become visible only after it. */
const overlapMs = 10_000;

/** Tells which envelopes of the organization change, until the client goes away or may not see them any more. */
export async function* followChanges(
  deps: Deps,
  organization: string,
  { signal, stillAllowed }: Pick<RequestInfo, "signal" | "stillAllowed">,
): AsyncGenerator<ServerSentEvent> {
  const bell = createStreamBell(deps, changesTopic, signal);
  let lookedAt = deps.clock.now();
  const look = async () => {
    const now = deps.clock.now();
    const since = toTs(Math.min(lookedAt, now) - overlapMs);
    lookedAt = now;
    return await readChanges(deps.db.read, organization, since);
  };
  const timesOf = (rows: Awaited<ReturnType<typeof look>>) => new Map(rows.map((row) => [row.id, row.updated_at]));
  try {
    let told = timesOf(await look());
    yield { retry: 3000 };
    while (!signal.aborted) {
      const rung = await bell.wait(pingMs);
      if (signal.aborted || !(await stillAllowed())) return;
      const rows = await look();
      for (const { id, updated_at: at } of rows) {
        if (told.get(id) === at) continue;
        const data: EnvelopeChange = { id };
        yield { event: "envelope", data: JSON.stringify(data) };
      }
      told = timesOf(rows);
      if (rung) await bell.pause(pauseMs);
      else yield { comment: "ping" };
    }
  } finally {
    bell.close();
  }
}
