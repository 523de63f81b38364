import { z } from "zod";
import { defineJob } from "../../kernel/jobs.ts";

/** Draws the document of a new envelope. The envelope is voided when this fails for good. */
export const renderEnvelope = defineJob({
  name: "envelopes.render",
  payload: z.object({ envelope: z.string() }),
  // 1 s, 2 s, 4 s …: after a quarter of an hour the sender learns that it does not work.
  maxAttempts: 10,
});

/** Ends an envelope whose `expiresAt` has passed; queued for that moment when the envelope is created. */
export const expireEnvelope = defineJob({ name: "envelopes.expire", payload: z.object({ envelope: z.string() }) });
