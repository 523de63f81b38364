import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { InvitationRow } from "../identity/service.ts";

export async function findOpen(reader: Reader, organization: string, id: string): Promise<InvitationRow | undefined> {
  return await reader
    .selectFrom("invitations")
    .selectAll()
    .where("organization", "=", organization)
    .where("id", "=", id)
    .where("accepted_at", "is", null)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
}

export async function findByToken(reader: Reader, sha256: string): Promise<InvitationRow | undefined> {
  return await reader.selectFrom("invitations").selectAll().where("token_sha256", "=", sha256).executeTakeFirst();
}

export async function insertInvitation(tx: Tx, row: InvitationRow): Promise<void> {
  await tx.insertInto("invitations").values(row).execute();
}

/** Gives the invitation a new token, a new life and who stands for it: the earlier token names nothing any more. */
export async function renew(tx: Tx, row: InvitationRow, token: string): Promise<void> {
  const { id, invited_by, last_sent_at, expires_at } = row;
  await tx
    .updateTable("invitations")
    .set({ token_sha256: token, invited_by, last_sent_at, expires_at })
    .where("id", "=", id)
    .execute();
}

export type InvitationMailRow = {
  id: string;
  organization: string;
  email_lower: string;
  /** usr_… */
  inviter: string;
  at: Ts;
};

declare module "../../kernel/db.ts" {
  interface Tables {
    invitation_mails: InvitationMailRow;
  }
}

/** Newest first. */
export async function mailsTo(reader: Reader, email: string): Promise<InvitationMailRow[]> {
  return await reader
    .selectFrom("invitation_mails")
    .selectAll()
    .where("email_lower", "=", email)
    .orderBy("at", "desc")
    .execute();
}

/** Newest first. */
export async function mailsBy(reader: Reader, inviter: string): Promise<Ts[]> {
  const rows = await reader
    .selectFrom("invitation_mails")
    .select("at")
    .where("inviter", "=", inviter)
    .orderBy("at", "desc")
    .limit(50)
    .execute();
  return rows.map(({ at }) => at);
}

export async function insertMail(tx: Tx, row: InvitationMailRow): Promise<void> {
  await tx.insertInto("invitation_mails").values(row).execute();
}

export async function forgetMails(tx: Tx, before: Ts): Promise<void> {
  await tx.deleteFrom("invitation_mails").where("at", "<=", before).execute();
}
