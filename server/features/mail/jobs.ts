import { z } from "zod";
import { defineJob, defineRecurring } from "../../kernel/jobs.ts";
import { Ts } from "../../kernel/wire.ts";

const hourMs = 3_600_000;

/**
 * The queue of mails to people about their accounts: anybody may ask for those, and however many do, mails about signing do
 * not wait behind them.
 */
export const accountQueue = "account-mail";

/** The queue of codes that signers wait for: they do not stand behind a thousand requests. */
export const codeQueue = "code-mail";

/**
 * Delivers one stored mail. A mail server that is away for two days loses nothing that is of use still: 5 s, 10 s … up to an
 * hour apart.
 */
export const sendMail = defineJob({
  name: "mail.send",
  payload: z.object({ mail: z.string() }),
  subject: "mail",
  queue: "mail",
  maxAttempts: 58,
  backoffMs: (attempt) => Math.min(5000 * 2 ** Math.min(attempt - 1, 20), hourMs),
});

/** Tells the envelope that a signing link could not be delivered to this address. */
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

/** Wipes the contents of mails that are of no use any more. */
export const wipeMails = defineRecurring("mail.wipe");
