import { z } from "zod";
import { defineJob, defineRecurring } from "../../kernel/jobs.ts";

/** Deletes what is due and the blobs that nothing names. One at a time: enqueue it with `retentionDedupeKey`. */
export const runRetention = defineJob({
  name: "retention.run",
  payload: z.object({}),
  maxAttempts: 1_000_000,
  queue: "retention",
});

export const retentionDedupeKey = "retention.run";

/** Queues the daily run when the last one is a day old. */
export const planRetention = defineRecurring("retention.plan");
