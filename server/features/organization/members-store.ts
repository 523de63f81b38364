import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";

export type MemberRow = {
  id: string;
  email: string;
  name: string;
  role: string;
  joined_at: Ts;
  last_sign_in_at: Ts | null;
};

function members(reader: Reader, organization: string) {
  return reader
    .selectFrom("memberships")
    .innerJoin("users", "users.id", "memberships.user")
    .where("memberships.organization", "=", organization)
    .select(["users.id", "users.email", "users.name", "memberships.role", "memberships.created_at as joined_at"])
    .select((is) =>
      is
        .selectFrom("sessions")
        .whereRef("sessions.user", "=", "users.id")
        // What somebody does in their other organizations is none of this one's business.
        .whereRef("sessions.organization", "=", "memberships.organization")
        .select((session) => session.fn.max("sessions.signed_in_at").as("at"))
        .as("last_sign_in_at"),
    );
}

export async function listMembers(reader: Reader, organization: string): Promise<MemberRow[]> {
  return await members(reader, organization).orderBy("memberships.created_at").orderBy("users.id").execute();
}

export async function findMember(reader: Reader, organization: string, user: string): Promise<MemberRow | undefined> {
  return await members(reader, organization).where("users.id", "=", user).executeTakeFirst();
}

export type OrganizationChange = { name?: string; locale?: string; time_zone?: string; notify_email?: string | null };

export async function updateOrganization(tx: Tx, id: string, change: OrganizationChange): Promise<void> {
  await tx.updateTable("organizations").set(change).where("id", "=", id).execute();
}
