import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { OrgRole } from "./contract.ts";
import * as store from "./invitation-store.ts";
import { stillGranted } from "./inviter.ts";
import { joinOrganization } from "./memberships.ts";
import type { UserRow } from "./store.ts";

/** What signing up needs to know of invitations; making and revoking them is the organization's business. */

export type InvitationRow = store.InvitationRow;

/** Whether the address may join an organization by an invitation that is neither accepted, revoked nor expired. */
export async function hasOpenInvitation(reader: Reader, deps: Pick<Deps, "clock">, email: string): Promise<boolean> {
  return (await openInvitationsFor(reader, deps, email)).length > 0;
}

/** Invitations that the address can accept now, oldest first. */
export async function openInvitationsFor(
  reader: Reader,
  deps: Pick<Deps, "clock">,
  email: string,
): Promise<InvitationRow[]> {
  const good: InvitationRow[] = [];
  for (const row of await store.openInvitationsOf(reader, email, deps.clock.ts()))
    if (await stillGranted(reader, row)) good.push(row);
  return good;
}

/** Every one of an organization that nobody has accepted or revoked, newest first; expired ones too. */
export async function openInvitationsIn(reader: Reader, organization: string): Promise<InvitationRow[]> {
  return await store.openOfOrganization(reader, organization);
}

export async function revokeInvitation(tx: Tx, id: string, at: Ts): Promise<void> {
  await store.markRevoked(tx, id, at);
}

/**
 * Uses up an invitation that is still open and makes the person a member.
 * @returns whether they are one by it: false when it was used up, or they were one already
 */
export async function acceptOne(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  invitation: Pick<store.InvitationRow, "id" | "organization" | "role">,
  user: Pick<UserRow, "id" | "email" | "name">,
  ip: string | null,
): Promise<boolean> {
  if (!(await store.markAccepted(tx, invitation.id, user.id, deps.clock.ts()))) return false;
  return await joinOrganization(tx, deps, invitation.organization, user, OrgRole.parse(invitation.role), ip);
}
