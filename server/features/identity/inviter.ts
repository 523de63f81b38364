import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { Actor } from "../../kernel/wire.ts";
import { recordAdminAct } from "./admin-audit.ts";
import { OrgRole } from "./contract.ts";
import * as store from "./invitation-store.ts";
import { findMembership } from "./membership-store.ts";

/** An invitation is worth what the person behind it may give: when they lose that, so does their invitation. */

/** Whether somebody of this role, null for no member, may bring in others as `granted`. */
function mayGrant(role: OrgRole | null, granted: OrgRole): boolean {
  return role === "owner" || (role === "admin" && granted !== "owner");
}

type Given = Pick<store.InvitationRow, "organization" | "role" | "invited_by">;

/** Null for operators and the service itself, whose invitations nobody's role decides. */
function inviterOf({ invited_by }: Pick<Given, "invited_by">): string | null {
  const { type, id } = Actor.parse(JSON.parse(invited_by));
  return type === "user" ? id : null;
}

/** Whether whoever made the invitation could still make it. */
export async function stillGranted(reader: Reader, invitation: Given): Promise<boolean> {
  const inviter = inviterOf(invitation);
  if (inviter === null) return true;
  const membership = await findMembership(reader, invitation.organization, inviter);
  return mayGrant(membership ? OrgRole.parse(membership.role) : null, OrgRole.parse(invitation.role));
}

/** Revokes what a person invited to beyond their present role; null when they are no member any more. */
export async function revokeBeyond(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  organization: string,
  user: string,
  role: OrgRole | null,
  by: { actor: Actor; ip: string | null },
): Promise<void> {
  for (const row of await store.openOfOrganization(tx, organization)) {
    if (inviterOf(row) !== user || mayGrant(role, OrgRole.parse(row.role))) continue;
    await store.markRevoked(tx, row.id, deps.clock.ts());
    const data = { email: row.email, role: row.role, reason: "inviter_authority_ended" };
    await recordAdminAct(tx, deps, organization, { ...by, action: "invitation.revoked", target: row.id, data });
  }
}
