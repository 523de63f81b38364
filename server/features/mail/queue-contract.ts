import { z } from "zod";
import { localEndpoint } from "../../kernel/endpoint.ts";
import { Email, Ts } from "../../kernel/wire.ts";

export const MailTest = z
  .object({
    delivered: z.boolean(),
    /** `file`: no mail server is set, and the mail was written under outbox/ in the data folder. */
    by: z.enum(["smtp", "file"]),
    /** What the mail server answered last, or why there was no answer; null when it was delivered. */
    error: z.string().nullable(),
    /** Which words say what to do, so that pages have them in their language. */
    code: z.string().nullable(),
    /** What to do about it. */
    action: z.string().nullable(),
    /** The conversation, without the password. */
    transcript: z.array(z.object({ from: z.enum(["client", "server", "note"]), text: z.string() })),
    milliseconds: z.int(),
  })
  .meta({ id: "MailTest" });
export type MailTest = z.infer<typeof MailTest>;

export const testMail = localEndpoint({
  method: "POST",
  path: "/local/mail/test",
  id: "testMail",
  summary: "Send a mail to this address now, with the settings in force or those given, and tell how it went",
  body: {
    kind: "json",
    maxBytes: 16 * 1024,
    schema: z.strictObject({
      to: Email,
      /** Tried without being stored. */
      smtpUrl: z
        .string()
        .max(1000)
        .regex(/^smtps?:\/\//, "use smtp://user:password@host:port or smtps://…")
        .optional(),
      mailFrom: z.string().max(300).optional(),
    }),
  },
  responses: { 200: { kind: "json", schema: MailTest } },
  errors: ["validation-failed"],
});

export const QueuedMail = z.object({
  id: z.string(),
  /** Null for mails to people about their accounts. */
  organization: z.object({ id: z.string(), name: z.string() }).nullable(),
  kind: z.string(),
  /** Masked. */
  to: z.string(),
  status: z.enum(["queued", "failed", "held"]),
  /** Why it stays here: test mode, or links that work on this machine alone. */
  heldFor: z.string().nullable(),
  cause: z.string().nullable(),
  attempts: z.int(),
  createdAt: Ts,
  nextAttemptAt: Ts.nullable(),
});
export type QueuedMail = z.infer<typeof QueuedMail>;

export const MailQueue = z
  .object({
    by: z.enum(["smtp", "file"]),
    /** Host and port of the mail server. */
    server: z.string().nullable(),
    counts: z.object({ queued: z.int(), failed: z.int(), held: z.int(), sent: z.int(), written: z.int() }),
    /** Newest first; those that went out are left out. */
    data: z.array(QueuedMail),
  })
  .meta({ id: "MailQueue" });
export type MailQueue = z.infer<typeof MailQueue>;

export const getMailQueue = localEndpoint({
  method: "GET",
  path: "/local/mail",
  id: "getMailQueue",
  summary: "Mails that wait, were held back or could not be delivered, each with its cause",
  query: z.object({ limit: z.coerce.number().int().min(1).max(500).default(100) }),
  responses: { 200: { kind: "json", schema: MailQueue } },
});

export const mailEndpoints = [getMailQueue, testMail];
