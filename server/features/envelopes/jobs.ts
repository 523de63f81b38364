import { z } from "zod";
import { defineJob, exponentialBackoff } from "../../kernel/jobs.ts";
import { Ts } from "../../kernel/wire.ts";
import { viewerNews } from "../mail/contract.ts";

/** Every job that an envelope enqueues. Signing, viewers and evidence have the handlers of theirs. */

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

/** Why somebody gets a signing link by mail. A resend revokes every earlier link and lifts a lock (contract §5). */
export const InviteReason = z.enum(["turn", "resend", "reminder", "fresh_link", "reassigned"]);
export type InviteReason = z.infer<typeof InviteReason>;

/** Mints a link token for a recipient whose turn it is (`reason` defaults to turn) and queues the mail that carries it. Does nothing when the turn is over. */
export const inviteRecipient = defineJob({
  name: "signing.invite",
  payload: z.object({ envelope: z.string(), recipient: z.string(), reason: InviteReason.optional() }),
  subject: "envelope",
});

/**
 * Reminds a recipient whose turn it is, then queues itself for the next time. `since` names the turn: of another one, or when
 * it is over, it does nothing. One job a turn is queued at any time.
 */
export const remindRecipient = defineJob({
  name: "signing.remind",
  payload: z.object({
    envelope: z.string(),
    recipient: z.string(),
    since: Ts,
    /** 1 for the first reminder of the turn. */
    number: z.int(),
  }),
  subject: "envelope",
});

/** Draws every submission that has no revision yet onto the newest document. */
export const storeRevision = defineJob({
  name: "signing.revision",
  payload: z.object({ envelope: z.string() }),
  subject: "envelope",
  queue: "draw",
});

/** Signs for a countersigner whose turn has come, with the typed name. */
export const countersign = defineJob({
  name: "signing.countersign",
  payload: z.object({ envelope: z.string(), recipient: z.string() }),
  subject: "envelope",
});

/** Mints a viewer's first link token and queues the mail that carries it. Does nothing for who was invited or revoked. */
export const inviteViewer = defineJob({
  name: "viewers.invite",
  payload: z.object({ envelope: z.string(), viewer: z.string() }),
  subject: "envelope",
});

/** Tells every viewer how the envelope ended, once. */
export const tellViewers = defineJob({
  name: "viewers.tell",
  payload: z.object({ envelope: z.string(), news: z.enum(viewerNews) }),
  subject: "envelope",
});

/** What the viewers are told: the first end counts, and a seal that comes after it failed is no second one. */
export type ViewerNews = z.infer<typeof tellViewers.payload>["news"];

/**
 * Seals a completed envelope. 1 s, 2 s, 4 s … then every hour: 34 waits reach over 23 hours, after which the seal has
 * failed and everybody is told so without a file.
 */
export const sealEnvelope = defineJob({
  name: "evidence.seal",
  payload: z.object({ envelope: z.string() }),
  subject: "envelope",
  maxAttempts: 35,
  backoffMs: exponentialBackoff,
  queue: "seal",
});
