import { z } from "zod";
import { defineJob } from "../../kernel/jobs.ts";
import { Ts } from "../../kernel/wire.ts";

/**
 * Draws the document of a new envelope. What cannot be drawn voids the envelope at once; a full disk or a worker that fails
 * may pass, so the envelope is voided for it only after a day.
 */
export const renderEnvelope = defineJob({
  name: "envelopes.render",
  payload: z.object({ envelope: z.string() }),
  subject: "envelope",
  // 1 s, 2 s, 4 s … up to one hour: 36 attempts reach over 24 hours.
  maxAttempts: 36,
  queue: "draw",
});

/** Ends an envelope whose `expiresAt` has passed; queued for that moment when the envelope is created. */
export const expireEnvelope = defineJob({
  name: "envelopes.expire",
  payload: z.object({ envelope: z.string() }),
  subject: "envelope",
});

/** Notes with the recipient that a signing link could not be delivered to this address. */
export const noteDeliveryError = defineJob({
  name: "envelopes.delivery-error",
  payload: z.object({
    envelope: z.string(),
    email: z.string(),
    /** rejected: the mail server refused it. unreachable: it could not be handed to one. */
    code: z.enum(["rejected", "unreachable"]),
    message: z.string(),
    /** When the mail was written: what was sent again since is not concerned. */
    writtenAt: Ts,
    at: Ts,
  }),
  subject: "envelope",
});
