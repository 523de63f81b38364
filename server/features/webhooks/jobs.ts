import { z } from "zod";
import { defineJob, defineRecurring } from "../../kernel/jobs.ts";
import { Ts } from "../../kernel/wire.ts";

/** Work on webhooks that may wait in the queue. Isomorphic. */

const queue = "webhooks";
/** A call that waits for its answer costs a socket and its event, and no processor time. */
const slots = 128;

/**
 * Makes one attempt. At most four of an endpoint run at a time: receivers that answer late or never keep the others' from
 * nothing.
 */
export const deliverEvent = defineJob({
  name: "webhooks.deliver",
  queue,
  slots,
  payload: z.object({ delivery: z.string(), endpoint: z.string() }),
  subject: "endpoint",
  lane: { by: "endpoint", slots: 4 },
  waits: true,
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
  payload: z.object({ endpoint: z.string() }),
  subject: "endpoint",
  waits: true,
});

/** Queues what waited while an endpoint was paused, page by page: deliveries behind the id `after`. */
export const releaseHeld = defineJob({
  name: "webhooks.release",
  payload: z.object({ endpoint: z.string(), after: z.string() }),
  subject: "endpoint",
});

export const tidyWebhooks = defineRecurring("webhooks.tidy");
