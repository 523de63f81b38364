import { z } from "zod";
import type { Ts } from "../../kernel/clock.ts";
import { Ts as TsSchema } from "../../kernel/wire.ts";

/** What the appliance writes to people. Isomorphic. */

const title = z.string();
const link = z.string();

/** What a person must hear of, in case it was not they who did it. */
export const securityNotices = [
  "password_changed",
  "password_reset",
  "passkey_added",
  "passkey_removed",
  "social_connected",
  "social_disconnected",
] as const;
export const viewerNews = ["completed", "sealed", "declined", "voided", "expired"] as const;

/** What a mail says; words, layout and language are the mail feature's business. */
export const MailContent = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("signing_request"),
    sender: z.string(),
    title,
    message: z.string().nullable(),
    recipientName: z.string(),
    link,
    expiresAt: TsSchema.nullable(),
  }),
  z.object({ kind: z.literal("code"), code: z.string(), title, minutes: z.int() }),
  z.object({
    kind: z.literal("completed"),
    title,
    /** Download of the sealed file; null when sealing failed. */
    link: link.nullable(),
    /** Blobs that are attached while they have at most 7 MB together. */
    sealedSha256: z.string().nullable(),
    certificateSha256: z.string().nullable(),
    filename: z.string(),
    sealFailed: z.boolean(),
  }),
  z.object({ kind: z.literal("voided"), title, reason: z.string(), sender: z.string() }),
  z.object({ kind: z.literal("declined"), title, by: z.string(), reason: z.string() }),
  z.object({
    kind: z.literal("reminder"),
    sender: z.string(),
    title,
    message: z.string().nullable(),
    recipientName: z.string(),
    link,
    expiresAt: TsSchema.nullable(),
  }),
  z.object({ kind: z.literal("viewer_invite"), title, link, sender: z.string() }),
  /** The envelope that a viewer follows has ended. */
  z.object({ kind: z.literal("viewer_update"), title, link, status: z.enum(viewerNews) }),
  z.object({ kind: z.literal("render_failed"), title, message: z.string() }),
  /** To the sender: a job that the envelope waits for is dead. */
  z.object({ kind: z.literal("stalled"), title, message: z.string() }),
  // To people about their account; they belong to no organization's business.
  z.object({ kind: z.literal("sign_in_code"), code: z.string(), minutes: z.int() }),
  z.object({ kind: z.literal("confirm_account"), code: z.string(), minutes: z.int() }),
  z.object({ kind: z.literal("magic_link"), link, minutes: z.int() }),
  z.object({ kind: z.literal("password_reset"), link, minutes: z.int() }),
  /** Somebody asked for an account with an address that has one. */
  z.object({ kind: z.literal("account_exists"), link }),
  z.object({ kind: z.literal("security_notice"), notice: z.enum(securityNotices), at: TsSchema }),
  /** To a witness, who keeps it: the checkpoint note of an anchor. */
  z.object({ kind: z.literal("anchor_witness"), sequence: z.int(), checkpoint: z.string() }),
  /** To an owner: who may now do what owners or administrators do. */
  z.object({
    kind: z.literal("member_promoted"),
    organizationName: z.string(),
    name: z.string(),
    email: z.string(),
    role: z.enum(["owner", "admin"]),
    by: z.string(),
    at: TsSchema,
  }),
  /** To an owner: an endpoint has taken nothing for a day. */
  z.object({
    kind: z.literal("webhook_failing"),
    organizationName: z.string(),
    url: z.string(),
    since: TsSchema,
    /** Of the last answer; null without one. */
    statusCode: z.int().nullable(),
    link,
  }),
  z.object({
    kind: z.literal("invitation"),
    organizationName: z.string(),
    invitedBy: z.string(),
    role: z.enum(["owner", "admin", "member"]),
    link,
  }),
]);
export type MailContent = z.infer<typeof MailContent>;
export type MailKind = MailContent["kind"];

/**
 * queued: waits for its job. sent: the mail server took it. written: no mail server is set, it lies in the outbox
 * folder. held: kept back (`heldFor`), readable by members. failed: it goes to nobody any more, because the server
 * refused it for good or it outlived its use while it waited.
 */
export const mailStatuses = ["queued", "sent", "written", "held", "failed"] as const;
export type MailStatus = (typeof mailStatuses)[number];
/** test_mode: the address is outside the organization. loopback: its links would lead nowhere. */
export const heldReasons = ["test_mode", "loopback"] as const;
export type HeldFor = (typeof heldReasons)[number];

/** A mail as `signet outbox` and members see it. */
export type MailRecord = {
  id: string;
  /** Null for mails to a person about their account. */
  organization: string | null;
  envelope: string | null;
  testMode: boolean;
  kind: MailKind;
  to: { email: string; name: string | null };
  subject: string;
  status: MailStatus;
  heldFor: HeldFor | null;
  /** With angle brackets, the same on every attempt. */
  messageId: string;
  createdAt: Ts;
  sentAt: Ts | null;
  error: string | null;
  /** Plain text with its link or code; null once these were wiped after delivery. */
  text: string | null;
  /** The one link or code that the text carries. */
  link: string | null;
  code: string | null;
};
