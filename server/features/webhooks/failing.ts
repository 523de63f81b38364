import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { enqueue } from "../../kernel/jobs.ts";
import { localeOfPerson, organizationById, ownersOf } from "../identity/service.ts";
import { queueMail } from "../mail/service.ts";
import { reportFailing } from "./jobs.ts";
import * as store from "./store.ts";

const alarmAfterMs = 24 * 3_600_000;

/** Queues the look at an endpoint that fails; there is one look at a time, however often it recovers and fails. */
export async function watchFailing(tx: Tx, endpoint: string, since: string): Promise<void> {
  const runAt = Date.parse(since) + alarmAfterMs;
  await enqueue(tx, reportFailing, { endpoint }, { runAt, dedupeKey: `webhooks.report-failing:${endpoint}` });
}

/** Tells the owners once of an endpoint that has been failing for a day. Nothing is told of one that has recovered or is paused. */
export async function tellOwners(tx: Tx, deps: Deps, { endpoint: id }: { endpoint: string }): Promise<void> {
  const endpoint = await store.findEndpoint(tx, id);
  const since = endpoint?.failing_since ?? null;
  if (endpoint === undefined || since === null || endpoint.enabled === 0 || endpoint.alarmed_at !== null) return;
  // It has recovered meanwhile and fails again.
  if (deps.clock.now() < Date.parse(since) + alarmAfterMs) return watchFailing(tx, id, since);
  await store.updateEndpoint(tx, id, { alarmed_at: deps.clock.ts() });
  const { name: organizationName } = await organizationById(tx, endpoint.organization);
  for (const owner of await ownersOf(tx, endpoint.organization)) {
    await queueMail(tx, deps, {
      cause: `webhook_failing:${id}:${since}:${owner.id}`,
      organization: null,
      envelope: null,
      testMode: false,
      to: { email: owner.email, name: owner.name },
      locale: await localeOfPerson(tx, owner),
      content: {
        kind: "webhook_failing",
        organizationName,
        url: new URL(endpoint.url).origin,
        since,
        statusCode: endpoint.last_status_code,
        link: `${deps.config.appUrl}/settings/webhooks/${id}`,
      },
    });
  }
}
