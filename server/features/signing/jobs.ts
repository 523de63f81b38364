import { z } from "zod";
import { defineJob } from "../../kernel/jobs.ts";
import { Ts } from "../../kernel/wire.ts";

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

/** Removes an uploaded attachment that no submission refers to, 24 hours after the upload. */
export const purgeAttachment = defineJob({
  name: "signing.purge-attachment",
  payload: z.object({ attachment: z.string() }),
});
