import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { ViewerNews } from "../envelopes/jobs.ts";
import {
  type EnvelopeRow,
  loadEnvelope,
  mailHead,
  markInvited,
  senderName,
  type ViewerRow,
  viewerOf,
} from "../envelopes/service.ts";
import { queueMail } from "../mail/service.ts";
import { mintLink } from "./tokens.ts";

/** Mails to viewers. Each carries a link of its own: only hashes of tokens are kept, so none can be sent twice. */

/** Invites a viewer once; an envelope that never went out to anybody has none. */
export async function invite(tx: Tx, deps: Deps, id: string): Promise<void> {
  const watched = await viewerOf(tx, id);
  if (!watched) return;
  const { envelope, viewer } = watched;
  // A sender may give the same reason for an envelope that was sent.
  if (envelope.void_reason === "render_failed" && envelope.sent_at === null) return;
  if (!(await markInvited(tx, deps, viewer))) return;
  const link = await mintLink(tx, deps, viewer.id);
  await queueMail(tx, deps, {
    ...mailTo(envelope, viewer),
    cause: `viewer_invite:${viewer.id}`,
    content: { kind: "viewer_invite", title: envelope.title, link, sender: await senderName(tx, envelope) },
  });
}

/** Tells those who were invited, once, how it ended. */
export async function tell(
  tx: Tx,
  deps: Deps,
  { envelope: id, news }: { envelope: string; news: ViewerNews },
): Promise<void> {
  const record = await loadEnvelope(tx, id);
  if (!record) return;
  const { envelope, viewers } = record;
  for (const viewer of viewers) {
    if (viewer.invited_at === null) continue;
    const link = await mintLink(tx, deps, viewer.id);
    await queueMail(tx, deps, {
      ...mailTo(envelope, viewer),
      cause: `viewer_update:${viewer.id}`,
      content: { kind: "viewer_update", title: envelope.title, status: news, link },
    });
  }
}

function mailTo(envelope: EnvelopeRow, viewer: ViewerRow) {
  return {
    ...mailHead(envelope),
    to: { email: viewer.email, name: viewer.name },
    locale: viewer.locale ?? envelope.locale,
  };
}
