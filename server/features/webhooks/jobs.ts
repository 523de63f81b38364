import { z } from "zod";
import { defineJob, defineRecurring } from "../../kernel/jobs.ts";
import { Ts } from "../../kernel/wire.ts";

/** Work on webhooks that may wait in the queue. Isomorphic. */

const queue = "webhooks";
/** A call that waits for its answer costs a socket and no processor time. */
const slots = 256;

/**
 * Makes one attempt. At most eight of an endpoint run at a time: receivers that answer late or never keep the others' from
 * nothing.
 */
export const deliverEvent = defineJob({
  name: "webhooks.deliver",
  queue,
  slots,
  payload: z.object({ delivery: z.string(), endpoint: z.string() }),
  subject: "endpoint",
  lane: { by: "endpoint", slots: 8 },
});

/** Queues every event between two moments for an endpoint, page by page. */
export const replayPage = defineJob({
  name: "webhooks.replay",
  payload: z.object({
    endpoint: z.string(),
    until: Ts,
    /** Where the page before ended; `id` is empty before the first. */
    after: z.object({ at: Ts, id: z.string() }),
  }),
  subject: "endpoint",
});

/** Looks a day after the first failure whether an endpoint has recovered. */
export const reportFailing = defineJob({
  name: "webhooks.report-failing",
  payload: z.object({ endpoint: z.string(), since: Ts }),
  subject: "endpoint",
});

export const tidyWebhooks = defineRecurring("webhooks.tidy");
