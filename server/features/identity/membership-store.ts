import { announceCredentials } from "../../kernel/admission.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { MembershipRow } from "./store.ts";

export async function findMembership(
  reader: Reader,
  organization: string,
  user: string,
): Promise<MembershipRow | undefined> {
  return await reader
    .selectFrom("memberships")
    .selectAll()
    .where("organization", "=", organization)
    .where("user", "=", user)
    .executeTakeFirst();
}

export async function setRole(tx: Tx, organization: string, user: string, role: string): Promise<void> {
  announceCredentials(tx);
  await tx
    .updateTable("memberships")
    .set({ role })
    .where("organization", "=", organization)
    .where("user", "=", user)
    .execute();
}

export async function deleteMembership(tx: Tx, organization: string, user: string): Promise<void> {
  announceCredentials(tx);
  await tx.deleteFrom("memberships").where("organization", "=", organization).where("user", "=", user).execute();
}

export async function countOwners(reader: Reader, organization: string): Promise<number> {
  const { owners } = await reader
    .selectFrom("memberships")
    .select((is) => is.fn.countAll<number>().as("owners"))
    .where("organization", "=", organization)
    .where("role", "=", "owner")
    .executeTakeFirstOrThrow();
  return owners;
}

export async function anyOwner(reader: Reader): Promise<boolean> {
  const rows = await reader.selectFrom("memberships").select("user").where("role", "=", "owner").limit(1).execute();
  return rows.length > 0;
}

/** Sign-ins of a person who left start elsewhere. */
export async function forgetStartingOrganization(tx: Tx, user: string, organization: string): Promise<void> {
  await tx
    .updateTable("users")
    .set({ starting_organization: null })
    .where("id", "=", user)
    .where("starting_organization", "=", organization)
    .execute();
}
