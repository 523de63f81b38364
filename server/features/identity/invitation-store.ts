import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";

export type InvitationRow = {
  id: string;
  organization: string;
  email: string;
  email_lower: string;
  role: string;
  token_sha256: string;
  /** JSON of the actor. */
  invited_by: string;
  locale: string;
  created_at: Ts;
  expires_at: Ts;
  last_sent_at: Ts;
  accepted_at: Ts | null;
  accepted_by: string | null;
  /** Revoked by somebody, or replaced by a later invitation of the address. */
  revoked_at: Ts | null;
};

declare module "../../kernel/db.ts" {
  interface Tables {
    invitations: InvitationRow;
  }
}

/** Invitations that the address can still accept, oldest first. */
export async function openInvitationsOf(reader: Reader, email: string, now: Ts): Promise<InvitationRow[]> {
  return await reader
    .selectFrom("invitations")
    .selectAll()
    .where("email_lower", "=", email.toLowerCase())
    .where("accepted_at", "is", null)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", now)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}

/** @returns whether it was still open */
export async function markAccepted(tx: Tx, id: string, user: string, at: Ts): Promise<boolean> {
  const done = await tx
    .updateTable("invitations")
    .set({ accepted_at: at, accepted_by: user })
    .where("id", "=", id)
    .where("accepted_at", "is", null)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  return done.numUpdatedRows > 0n;
}

/** Invitations of an organization that nobody has accepted or revoked, newest first; expired ones too. */
export async function openOfOrganization(reader: Reader, organization: string): Promise<InvitationRow[]> {
  return await reader
    .selectFrom("invitations")
    .selectAll()
    .where("organization", "=", organization)
    .where("accepted_at", "is", null)
    .where("revoked_at", "is", null)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
}

export async function markRevoked(tx: Tx, id: string, at: Ts): Promise<void> {
  await tx.updateTable("invitations").set({ revoked_at: at }).where("id", "=", id).execute();
}
