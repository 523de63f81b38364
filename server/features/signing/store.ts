import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type {
  AttachmentRow,
  ConsentTextRow,
  ReassignmentRow,
  SavedSignatureRow,
  SessionRow,
  SubmissionRow,
  TokenRow,
} from "./tables.ts";

// Sessions and tokens

export async function insertSession(tx: Tx, row: SessionRow): Promise<void> {
  await tx.insertInto("signing_sessions").values(row).execute();
}

export async function findSession(reader: Reader, id: string): Promise<SessionRow | undefined> {
  return await reader.selectFrom("signing_sessions").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function findSessionByAccess(reader: Reader, sha256: string): Promise<SessionRow | undefined> {
  return await reader.selectFrom("signing_sessions").selectAll().where("access_sha256", "=", sha256).executeTakeFirst();
}

/** @returns false when it was opened before */
export async function openSession(
  tx: Tx,
  id: string,
  access: Pick<SessionRow, "opened_at" | "access_sha256" | "access_expires_at" | "access_ends_at">,
): Promise<boolean> {
  const done = await tx
    .updateTable("signing_sessions")
    .set(access)
    .where("id", "=", id)
    .where("opened_at", "is", null)
    .executeTakeFirst();
  return done.numUpdatedRows === 1n;
}

export async function slideSession(tx: Tx, id: string, expiresAt: Ts): Promise<void> {
  await tx.updateTable("signing_sessions").set({ access_expires_at: expiresAt }).where("id", "=", id).execute();
}

export async function verifySession(tx: Tx, id: string, at: Ts): Promise<void> {
  await tx.updateTable("signing_sessions").set({ verified_at: at }).where("id", "=", id).execute();
}

/** Keeps the newest `keep` live sessions that links opened and ends the others. */
export async function endOlderLinkSessions(tx: Tx, recipient: string, keep: number, now: Ts): Promise<void> {
  const live = await tx
    .selectFrom("signing_sessions")
    .select("id")
    .where("recipient", "=", recipient)
    .where("source", "=", "link")
    .where("ended_at", "is", null)
    .where("access_expires_at", ">", now)
    .orderBy("opened_at", "desc")
    .orderBy("id", "desc")
    .execute();
  const older = live.slice(keep).map(({ id }) => id);
  if (older.length === 0) return;
  await tx.updateTable("signing_sessions").set({ ended_at: now }).where("id", "in", older).execute();
}

export async function endSessions(tx: Tx, recipient: string, now: Ts): Promise<void> {
  await tx
    .updateTable("signing_sessions")
    .set({ ended_at: now })
    .where("recipient", "=", recipient)
    .where("ended_at", "is", null)
    .execute();
}

export async function insertToken(tx: Tx, row: TokenRow): Promise<void> {
  await tx.insertInto("signing_tokens").values(row).execute();
}

export async function findToken(reader: Reader, sha256: string): Promise<TokenRow | undefined> {
  return await reader.selectFrom("signing_tokens").selectAll().where("sha256", "=", sha256).executeTakeFirst();
}

export async function useToken(tx: Tx, sha256: string, at: Ts, bearerSession: string | null): Promise<void> {
  const bearer = bearerSession === null ? {} : { bearer_session: bearerSession };
  await tx
    .updateTable("signing_tokens")
    .set({ used_at: at, ...bearer })
    .where("sha256", "=", sha256)
    .execute();
}

export async function revokeLinks(tx: Tx, recipient: string, at: Ts): Promise<void> {
  await tx
    .updateTable("signing_tokens")
    .set({ revoked_at: at })
    .where("recipient", "=", recipient)
    .where("kind", "=", "link")
    .where("revoked_at", "is", null)
    .execute();
}

/** Forgets every token of this recipient, so that not even a fresh link can be asked for with one. */
export async function deleteTokens(tx: Tx, recipient: string): Promise<void> {
  await tx.deleteFrom("signing_tokens").where("recipient", "=", recipient).execute();
}

/** When the last link was made for this recipient. */
export async function lastLinkAt(reader: Reader, recipient: string): Promise<Ts | undefined> {
  const row = await reader
    .selectFrom("signing_tokens")
    .select("created_at")
    .where("recipient", "=", recipient)
    .where("kind", "=", "link")
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.created_at;
}

// Documents that were shown

export async function wasServed(reader: Reader, recipient: string, sha256: string): Promise<boolean> {
  const row = await reader
    .selectFrom("signing_served")
    .select("at")
    .where("recipient", "=", recipient)
    .where("sha256", "=", sha256)
    .executeTakeFirst();
  return row !== undefined;
}

export async function insertServed(tx: Tx, recipient: string, sha256: string, at: Ts): Promise<void> {
  await tx
    .insertInto("signing_served")
    .values({ recipient, sha256, at })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

// Attachments

export async function insertAttachment(tx: Tx, row: AttachmentRow): Promise<void> {
  await tx.insertInto("signing_attachments").values(row).execute();
}

/** In the order of their upload. */
export async function listAttachments(reader: Reader, recipient: string): Promise<AttachmentRow[]> {
  return await reader
    .selectFrom("signing_attachments")
    .selectAll()
    .where("recipient", "=", recipient)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}

/** Only what a submission refers to. */
export async function listSubmittedAttachments(reader: Reader, envelope: string): Promise<AttachmentRow[]> {
  return await reader
    .selectFrom("signing_attachments")
    .selectAll()
    .where("envelope", "=", envelope)
    .where("submitted_at", "is not", null)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}

export async function findSubmittedAttachment(
  reader: Reader,
  envelope: string,
  id: string,
): Promise<AttachmentRow | undefined> {
  return await reader
    .selectFrom("signing_attachments")
    .selectAll()
    .where("id", "=", id)
    .where("envelope", "=", envelope)
    .where("submitted_at", "is not", null)
    .executeTakeFirst();
}

/** @returns how many were still there */
export async function markSubmitted(tx: Tx, recipient: string, ids: readonly string[], at: Ts): Promise<number> {
  if (ids.length === 0) return 0;
  const done = await tx
    .updateTable("signing_attachments")
    .set({ submitted_at: at })
    .where("recipient", "=", recipient)
    .where("id", "in", ids)
    .executeTakeFirst();
  return Number(done.numUpdatedRows);
}

/** Leaves one alone that was submitted. */
export async function deleteUnsubmitted(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom("signing_attachments").where("id", "=", id).where("submitted_at", "is", null).execute();
}

export async function deleteUnsubmittedOf(tx: Tx, recipient: string): Promise<void> {
  await tx
    .deleteFrom("signing_attachments")
    .where("recipient", "=", recipient)
    .where("submitted_at", "is", null)
    .execute();
}

// Submissions

export async function insertSubmission(tx: Tx, row: SubmissionRow): Promise<void> {
  await tx.insertInto("signing_submissions").values(row).execute();
}

/** A sender's text, once. */
export async function keepConsentText(tx: Tx, row: ConsentTextRow): Promise<void> {
  await tx
    .insertInto("consent_texts")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function findConsentText(reader: Reader, sha256: string): Promise<ConsentTextRow | undefined> {
  return await reader.selectFrom("consent_texts").selectAll().where("sha256", "=", sha256).executeTakeFirst();
}

/** In the order in which people signed. */
export async function listSubmissions(reader: Reader, envelope: string): Promise<SubmissionRow[]> {
  return await reader
    .selectFrom("signing_submissions")
    .selectAll()
    .where("envelope", "=", envelope)
    .orderBy("number")
    .execute();
}

export async function insertReassignment(tx: Tx, row: ReassignmentRow): Promise<void> {
  await tx.insertInto("signing_reassignments").values(row).execute();
}

export async function listReassignments(reader: Reader, envelope: string): Promise<ReassignmentRow[]> {
  return await reader
    .selectFrom("signing_reassignments")
    .selectAll()
    .where("envelope", "=", envelope)
    .orderBy("at")
    .orderBy("id")
    .execute();
}

/** What the person before was shown says nothing about the one after. */
export async function forgetServed(tx: Tx, recipient: string): Promise<void> {
  await tx.deleteFrom("signing_served").where("recipient", "=", recipient).execute();
}

// Saved signatures

export async function findSavedSignature(reader: Reader, user: string): Promise<SavedSignatureRow | undefined> {
  return await reader.selectFrom("saved_signatures").selectAll().where("user", "=", user).executeTakeFirst();
}

export async function putSavedSignature(tx: Tx, row: SavedSignatureRow): Promise<void> {
  const { content, saved_at } = row;
  await tx
    .insertInto("saved_signatures")
    .values(row)
    .onConflict((conflict) => conflict.column("user").doUpdateSet({ content, saved_at }))
    .execute();
}

export async function deleteSavedSignature(tx: Tx, user: string): Promise<void> {
  await tx.deleteFrom("saved_signatures").where("user", "=", user).execute();
}
