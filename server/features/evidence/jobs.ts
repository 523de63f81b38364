import { z } from "zod";
import { defineJob, exponentialBackoff } from "../../kernel/jobs.ts";

/**
 * Seals a completed envelope. 1 s, 2 s, 4 s … then every hour: 34 waits reach over 23 hours, after which the seal has
 * failed and everybody is told so without a file.
 */
export const sealEnvelope = defineJob({
  name: "evidence.seal",
  payload: z.object({ envelope: z.string() }),
  maxAttempts: 35,
  backoffMs: exponentialBackoff,
  queue: "seal",
});

/** Signs an anchor over all leaves that none covers yet. One at a time: enqueue it with `anchorDedupeKey`. */
export const anchorLeaves = defineJob({
  name: "evidence.anchor",
  payload: z.object({}),
  maxAttempts: 1_000_000,
  queue: "anchor",
});

export const anchorDedupeKey = "evidence.anchor";
