import { z } from "zod";
import { defineJob } from "../../kernel/jobs.ts";

/**
 * Draws the document of a new envelope. What cannot be drawn voids the envelope at once; a full disk or a worker that fails
 * may pass, so the envelope is voided for it only after a day.
 */
export const renderEnvelope = defineJob({
  name: "envelopes.render",
  payload: z.object({ envelope: z.string() }),
  // 1 s, 2 s, 4 s … up to one hour: 36 attempts reach over 24 hours.
  maxAttempts: 36,
  queue: "draw",
});

/** Ends an envelope whose `expiresAt` has passed; queued for that moment when the envelope is created. */
export const expireEnvelope = defineJob({ name: "envelopes.expire", payload: z.object({ envelope: z.string() }) });
