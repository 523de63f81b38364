import { setTimeout as delay } from "node:timers/promises";
import type { Deps } from "../../kernel/deps.ts";
import { type JobContext, RetryLater } from "../../kernel/job-runner.ts";
import { bringForward, findLive } from "../../kernel/job-store.ts";
import { codeQueue, sendMail } from "./jobs.ts";
import * as store from "./store.ts";

/** How often it is looked whether a delivery that is under way has ended, and for how long, in milliseconds. */
const lookEveryMs = 20;
const lookForMs = 1000;
const soonMs = 100;
const latestMs = 60_000;
/** An earlier mail that failed as often, over some five minutes, is waited for no longer. */
const mostAttempts = 6;

/**
 * Mails about one envelope reach an address in the order in which they were written: a request does not come after the reminder
 * of it. A code does not wait in the line of other mails for that: it takes the earlier one along to its own, and goes without
 * it when the mail server has just refused that one, since a code is of use for minutes only.
 * @param isOutlived whether nobody can use that mail any more, so that it goes to nobody
 * @throws RetryLater while an earlier mail is still to go
 */
export async function awaitEarlier(
  deps: Deps,
  mail: store.MailRow,
  { signal }: Pick<JobContext, "signal">,
  isOutlived: (earlier: string) => Promise<boolean>,
): Promise<void> {
  if (mail.envelope === null) return;
  const ownQueue = mail.kind === "code" ? codeQueue : sendMail.queue;
  for (const earlier of await store.listEarlierQueued(deps.db.read, mail)) {
    if (await isOutlived(earlier)) continue;
    const until = performance.now() + lookForMs;
    for (;;) {
      const [job] = await findLive(deps.db.read, sendMail, earlier);
      if (job === undefined) break;
      if (job.attempts > mostAttempts) break;
      if (job.status === "running") {
        if (performance.now() > until) {
          // It hangs: a code goes alone, and another mail keeps its place in the queue from nobody.
          if (mail.kind === "code") break;
          throw new RetryLater("an earlier mail to this address is being sent", soonMs);
        }
        await delay(lookEveryMs, undefined, { signal });
        continue;
      }
      const now = deps.clock.now();
      let { queue } = job;
      if (mail.kind === "code") {
        if (queue === codeQueue && job.run_at > now) break;
        if (queue !== codeQueue) await deps.db.tx((tx) => bringForward(tx, job.id, { now, queue: codeQueue }));
        queue = codeQueue;
      }
      // In one queue the earlier is begun first once both are due.
      const dueMs = mail.kind === "code" ? 0 : Math.min(Math.max(job.run_at - now, 0), latestMs);
      const delayMs = queue === ownQueue ? dueMs : Math.max(dueMs, soonMs);
      throw new RetryLater("an earlier mail to this address goes first", delayMs);
    }
  }
}
