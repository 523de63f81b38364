import { toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import * as store from "./store.ts";

const dayMs = 24 * 3_600_000;
/** Contract §13. */
const kept = { deliveries: 30 * dayMs, events: 90 * dayMs };
/** Few enough that nobody waits long for the database. */
const atOnce = 1000;

/** Forgets what was kept long enough, and ends what waited too long for a paused endpoint. Each step stands by itself. */
export async function tidy(deps: Deps, signal: AbortSignal): Promise<undefined> {
  await deps.db.tx((tx) => store.forgetSecrets(tx, deps.clock.ts()));
  const purges = [
    [store.giveUpHeld, 0],
    [store.purgeDeliveries, kept.deliveries],
    [store.purgeEvents, kept.events],
  ] as const;
  for (const [purge, ms] of purges) {
    for (;;) {
      signal.throwIfAborted();
      const gone = await deps.db.tx((tx) => purge(tx, toTs(deps.clock.now() - ms), atOnce));
      if (gone === 0) break;
    }
  }
  return undefined;
}
