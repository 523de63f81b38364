import { announceCredentials } from "../../kernel/admission.ts";
import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";

export type SessionRow = {
  id: string;
  secret_sha256: string;
  user: string;
  organization: string | null;
  /** How the person signed in. */
  method: string;
  ip: string;
  user_agent: string | null;
  signed_in_at: Ts;
  last_seen_at: Ts;
  /** End of the longest life of a session, however much it is used. */
  expires_at: Ts;
  ended_at: Ts | null;
};

declare module "../../kernel/db.ts" {
  interface Tables {
    sessions: SessionRow;
  }
}

export async function insertSession(tx: Tx, row: SessionRow): Promise<void> {
  await tx.insertInto("sessions").values(row).execute();
}

/** The session with its person and their role in its organization, whatever its state. */
export async function findSession(reader: Reader, sha256: string) {
  return await reader
    .selectFrom("sessions")
    .innerJoin("users", "users.id", "sessions.user")
    .leftJoin("memberships", (join) =>
      join
        .onRef("memberships.user", "=", "sessions.user")
        .onRef("memberships.organization", "=", "sessions.organization"),
    )
    .selectAll("sessions")
    .select(["users.email", "users.name", "memberships.role"])
    .where("sessions.secret_sha256", "=", sha256)
    .executeTakeFirst();
}

/** A session that has not ended, by its id. */
export async function readOwnSession(reader: Reader, id: string): Promise<SessionRow | undefined> {
  return await reader
    .selectFrom("sessions")
    .selectAll()
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .executeTakeFirst();
}

/** Sessions of the person that have not ended, last seen first. */
export async function liveSessions(reader: Reader, user: string, now: Ts, idleSince: Ts): Promise<SessionRow[]> {
  return await reader
    .selectFrom("sessions")
    .selectAll()
    .where("user", "=", user)
    .where("ended_at", "is", null)
    .where("expires_at", ">", now)
    .where("last_seen_at", ">", idleSince)
    .orderBy("last_seen_at", "desc")
    .orderBy("id", "desc")
    .execute();
}

export async function touchSession(tx: Tx, id: string, at: Ts, ip: string): Promise<void> {
  await tx.updateTable("sessions").set({ last_seen_at: at, ip }).where("id", "=", id).execute();
}

export async function setSessionOrganization(tx: Tx, id: string, organization: string | null): Promise<void> {
  announceCredentials(tx);
  await tx.updateTable("sessions").set({ organization }).where("id", "=", id).execute();
}

/** @returns whether a live session of this person was ended */
export async function endSession(tx: Tx, user: string, id: string, at: Ts): Promise<boolean> {
  announceCredentials(tx);
  const done = await tx
    .updateTable("sessions")
    .set({ ended_at: at })
    .where("id", "=", id)
    .where("user", "=", user)
    .where("ended_at", "is", null)
    .executeTakeFirst();
  return done.numUpdatedRows > 0n;
}

/** Ends every session of the person but one. */
export async function endSessions(tx: Tx, user: string, at: Ts, except: string | null): Promise<void> {
  announceCredentials(tx);
  const all = tx.updateTable("sessions").set({ ended_at: at }).where("user", "=", user).where("ended_at", "is", null);
  await (except === null ? all : all.where("id", "!=", except)).execute();
}

/** Sessions that work in an organization which the person has left go on without one. */
export async function leaveOrganization(tx: Tx, user: string, organization: string): Promise<void> {
  announceCredentials(tx);
  await tx
    .updateTable("sessions")
    .set({ organization: null })
    .where("user", "=", user)
    .where("organization", "=", organization)
    .execute();
}

export async function setSessionSecret(tx: Tx, id: string, sha256: string): Promise<void> {
  announceCredentials(tx);
  await tx.updateTable("sessions").set({ secret_sha256: sha256 }).where("id", "=", id).execute();
}

export async function deleteSessionsBefore(tx: Tx, before: Ts): Promise<void> {
  await tx
    .deleteFrom("sessions")
    .where((is) => is.or([is("ended_at", "<", before), is("expires_at", "<", before)]))
    .execute();
}
