import { z } from "zod";
import { defineJob, defineRecurring } from "../../kernel/jobs.ts";
import { accountQueue } from "../mail/jobs.ts";

const Asked = z.object({
  /** Of the code or token: names the mail. */
  cause: z.string(),
  email: z.string(),
  locale: z.string().nullable(),
  content: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("sign_in_code"), code: z.string(), minutes: z.int() }),
    z.object({ kind: z.literal("confirm_account"), code: z.string(), minutes: z.int() }),
    z.object({ kind: z.literal("magic_link"), link: z.string(), minutes: z.int() }),
    z.object({ kind: z.literal("password_reset"), link: z.string(), minutes: z.int() }),
  ]),
});
export type Asked = z.infer<typeof Asked>;

/**
 * Mails what was asked for, if it may be. Only this job looks at accounts: the request that enqueues it does the same work
 * for every address. Secret, since it carries the code or link.
 */
export const mailSignIn = defineJob({
  name: "sign-in.mail",
  payload: Asked,
  queue: accountQueue,
  secret: true,
});

/** Deletes codes, links, tries and sessions that have ended. */
export const forgetSignIns = defineRecurring("sign-in.forget");
