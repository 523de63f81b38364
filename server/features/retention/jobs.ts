import { z } from "zod";
import { defineJob } from "../../kernel/jobs.ts";

/** Deletes what is due and the blobs that nothing names. One at a time: enqueue it with `retentionDedupeKey`. */
export const runRetention = defineJob({
  name: "retention.run",
  payload: z.object({}),
  maxAttempts: 1_000_000,
  queue: "retention",
});

export const retentionDedupeKey = "retention.run";
