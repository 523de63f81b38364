import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { appendAudit } from "./audit.ts";
import { findViewer, listViewers, updateFirstView, updateInvited, updateLastView } from "./people-store.ts";
import { type EnvelopeRecord, readEnvelope, touchEnvelope } from "./store.ts";
import type { ViewerRow } from "./tables.ts";

/** What the rows of viewers learn from the viewers' own feature. */

export type { ViewerRow } from "./tables.ts";
/** A viewer, revoked or not, with the envelope. */
export type Watched = EnvelopeRecord & { viewer: ViewerRow };

export async function viewerOf(reader: Reader, id: string): Promise<Watched | undefined> {
  const viewer = await findViewer(reader, id);
  const record = viewer && (await readEnvelope(reader, viewer.envelope));
  return viewer && record && { ...record, viewer };
}

/** Everybody who ever was a viewer of the envelope, revoked or not: what its audit trail has to account for. */
export function allViewersOf(reader: Reader, envelope: string): Promise<ViewerRow[]> {
  return listViewers(reader, envelope);
}

/** The invitation is queued. @returns false when it was before, or the viewer was revoked */
export async function markInvited(tx: Tx, deps: Deps, viewer: Pick<ViewerRow, "id" | "envelope">): Promise<boolean> {
  const now = deps.clock.ts();
  if (!(await updateInvited(tx, viewer.id, now))) return false;
  await touchEnvelope(tx, viewer.envelope, now);
  return true;
}

/** Seen again within this time is the same visit. */
const visitMs = 60_000;

/**
 * A viewer looks at the status; the first time is audited.
 * @returns false when the viewer was revoked meanwhile: then nobody has looked
 */
export async function markSeen(
  deps: Deps,
  viewer: ViewerRow,
  visitor: { ip: string; userAgent: string | null },
): Promise<boolean> {
  const { id, envelope, name, email } = viewer;
  const last = viewer.last_viewed_at;
  if (last !== null && deps.clock.now() - Date.parse(last) < visitMs) return true;
  return await deps.db.tx(async (tx) => {
    const now = deps.clock.ts();
    if (!(await updateLastView(tx, id, now))) return false;
    if (!(await updateFirstView(tx, id, now))) return true;
    await touchEnvelope(tx, envelope, now);
    const { ip, userAgent } = visitor;
    const actor = { type: "viewer" as const, id, name, email };
    await appendAudit(tx, deps, envelope, [{ type: "viewer.viewed", actor, ip, userAgent, data: { viewer: id } }]);
    return true;
  });
}
