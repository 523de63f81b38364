import { enqueue } from "../../kernel/jobs.ts";
import type { AuditType } from "../envelopes/audit-contract.ts";
import { inviteViewer, tellViewers, type ViewerNews } from "../envelopes/jobs.ts";
import type { AuditObserver } from "../envelopes/service.ts";

/** How it ended: the sealed file is there, or there will be none. */
const newsOf: Partial<Record<AuditType, ViewerNews>> = {
  "envelope.declined": "declined",
  "envelope.voided": "voided",
  "envelope.expired": "expired",
  "envelope.sealed": "sealed",
  "envelope.seal_failed": "completed",
};

/** Invites viewers and tells them of the end. */
export const informViewers: AuditObserver = async (tx, _deps, { envelope, entries, beside, record }) => {
  // Those whom an envelope begins with are invited once its document is there.
  const begins = entries.some(({ type }) => type === "envelope.created");
  for (const { type, data } of entries) {
    if (type === "viewer.added" && !begins) await enqueue(tx, inviteViewer, { envelope, viewer: String(data.viewer) });
    if (type === "envelope.ready")
      for (const { id: viewer } of (await record()).viewers) await enqueue(tx, inviteViewer, { envelope, viewer });
    const news = newsOf[type];
    if (news !== undefined && beside.notify && (await record()).viewers.length > 0)
      await enqueue(tx, tellViewers, { envelope, news });
  }
};
