import { z } from "zod";
import { defineJob, defineUpkeep } from "../../kernel/jobs.ts";

const hourMs = 3_600_000;

/**
 * The queue of mails to people about their accounts: anybody may ask for those, and however many do, mails about signing do
 * not wait behind them.
 */
export const accountQueue = "account-mail";

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

/** Wipes the contents of mails that are of no use any more. */
export const wipeMails = defineUpkeep("mail.wipe");
