import { announceCredentials } from "../../kernel/admission.ts";
import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { RecipientStatus } from "./contract.ts";
import type { CarbonCopyRow, RecipientRow, ViewerRow } from "./tables.ts";

/** Writing of recipients, carbon copies and viewers; store.ts reads them with their envelope. */

export async function insertPeople(
  tx: Tx,
  rows: { recipients: RecipientRow[]; cc: CarbonCopyRow[]; viewers: ViewerRow[] },
): Promise<void> {
  await tx.insertInto("recipients").values(rows.recipients).execute();
  if (rows.cc.length > 0) await tx.insertInto("carbon_copies").values(rows.cc).execute();
  if (rows.viewers.length > 0) await tx.insertInto("viewers").values(rows.viewers).execute();
}

/** Compare-and-set. @returns false when the recipient is in another state */
export async function updateRecipient(
  tx: Tx,
  id: string,
  from: RecipientStatus,
  set: Partial<RecipientRow>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("recipients")
    .set(set)
    .where("id", "=", id)
    .where("status", "=", from)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export async function insertViewers(tx: Tx, rows: ViewerRow[]): Promise<void> {
  await tx.insertInto("viewers").values(rows).execute();
}

/** Places are never given out again, so revoked viewers count too. */
export async function nextViewerPosition(tx: Tx, envelope: string): Promise<number> {
  const row = await tx
    .selectFrom("viewers")
    .select((eb) => eb.fn.max("position").as("position"))
    .where("envelope", "=", envelope)
    .executeTakeFirst();
  return (row?.position ?? -1) + 1;
}

/** @returns false when there is no such viewer, or not any more */
export async function revokeViewer(tx: Tx, envelope: string, viewer: string, at: Ts): Promise<boolean> {
  announceCredentials(tx);
  const { numUpdatedRows } = await tx
    .updateTable("viewers")
    .set({ revoked_at: at })
    .where("id", "=", viewer)
    .where("envelope", "=", envelope)
    .where("revoked_at", "is", null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export async function updateCopiesNotified(tx: Tx, ids: readonly string[], at: Ts): Promise<void> {
  await tx.updateTable("carbon_copies").set({ notified_at: at }).where("id", "in", ids).execute();
}

/** Everybody who ever was a viewer of the envelope, in the order in which they were added; revoked ones too. */
export async function listViewers(reader: Reader, envelope: string): Promise<ViewerRow[]> {
  return await reader.selectFrom("viewers").selectAll().where("envelope", "=", envelope).orderBy("position").execute();
}

/** Revoked ones too. */
export async function findViewer(reader: Reader, id: string): Promise<ViewerRow | undefined> {
  return await reader.selectFrom("viewers").selectAll().where("id", "=", id).executeTakeFirst();
}

/** @returns false when they were invited before, or revoked */
export async function updateInvited(tx: Tx, id: string, at: Ts): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("viewers")
    .set({ invited_at: at })
    .where("id", "=", id)
    .where("invited_at", "is", null)
    .where("revoked_at", "is", null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** @returns false when it was not the first time */
export async function updateFirstView(tx: Tx, id: string, at: Ts): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("viewers")
    .set({ first_viewed_at: at })
    .where("id", "=", id)
    .where("first_viewed_at", "is", null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** @returns false when they were revoked */
export async function updateLastView(tx: Tx, id: string, at: Ts): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("viewers")
    .set({ last_viewed_at: at })
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}
