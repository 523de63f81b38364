import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { localeOfPerson, organizationById, ownersOf } from "../identity/service.ts";
import { queueMail } from "../mail/service.ts";
import * as store from "./store.ts";

/**
 * Tells the owners once of an endpoint that has been failing since then, a day ago. Nothing is told of one that has recovered, is
 * paused, or was pointed elsewhere.
 */
export async function tellOwners(
  tx: Tx,
  deps: Deps,
  { endpoint: id, since }: { endpoint: string; since: string },
): Promise<void> {
  const endpoint = await store.findEndpoint(tx, id);
  if (endpoint?.failing_since !== since || endpoint.enabled === 0 || endpoint.alarmed_at !== null) return;
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
        url: endpoint.url,
        since,
        statusCode: endpoint.last_status_code,
        link: `${deps.config.appUrl}/settings/webhooks/${id}`,
      },
    });
  }
}
