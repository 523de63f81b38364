import { announceCredentials } from "../../kernel/admission.ts";
import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";

export type OrganizationRow = {
  id: string;
  name: string;
  locale: string;
  time_zone: string;
  notify_email: string | null;
  created_at: Ts;
  /** Days that documents are kept after an envelope ended; null: for ever. */
  retention_days: number | null;
  /** Days that counted before the last change, and do until `retention_from`. */
  retention_before: number | null;
  retention_from: Ts | null;
};
export type UserRow = {
  id: string;
  email: string;
  email_lower: string;
  name: string;
  /** `scrypt$N$r$p$salt$hash`, or null while no password is set. */
  password_hash: string | null;
  /** What mails and pages to this person are written in; null: the organization's, or the browser's. */
  locale: string | null;
  /** The organization that each sign-in starts in; null: the first. */
  starting_organization: string | null;
  created_at: Ts;
};
export type MembershipRow = { organization: string; user: string; role: string; created_at: Ts };
export type ApiKeyRow = {
  id: string;
  organization: string;
  name: string;
  test_mode: number;
  secret_sha256: string;
  hint: string;
  /** JSON array of permissions. */
  scopes: string;
  expires_at: Ts | null;
  revoked_at: Ts | null;
  last_used_at: Ts | null;
  last_used_ip: string | null;
  /** JSON of the actor. */
  created_by: string;
  created_at: Ts;
};

declare module "../../kernel/db.ts" {
  interface Tables {
    organizations: OrganizationRow;
    users: UserRow;
    memberships: MembershipRow;
    api_keys: ApiKeyRow;
  }
}

export async function insertOrganization(tx: Tx, row: OrganizationRow): Promise<void> {
  await tx.insertInto("organizations").values(row).execute();
}

export async function findOrganization(reader: Reader, id: string): Promise<OrganizationRow | undefined> {
  return await reader.selectFrom("organizations").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function listOrganizations(reader: Reader): Promise<OrganizationRow[]> {
  return await reader.selectFrom("organizations").selectAll().orderBy("created_at").orderBy("id").execute();
}

export async function insertUser(tx: Tx, row: UserRow): Promise<void> {
  await tx.insertInto("users").values(row).execute();
}

export async function insertMembership(tx: Tx, row: MembershipRow): Promise<void> {
  await tx.insertInto("memberships").values(row).execute();
}

/** Members of the organization, owners first. */
export async function listMembers(reader: Reader, organization: string): Promise<(UserRow & { role: string })[]> {
  const rows = await reader
    .selectFrom("memberships")
    .innerJoin("users", "users.id", "memberships.user")
    .selectAll("users")
    .select("memberships.role")
    .where("memberships.organization", "=", organization)
    .orderBy("users.created_at")
    .execute();
  const rank = (role: string) => ["owner", "admin", "member"].indexOf(role);
  return rows.sort((a, b) => rank(a.role) - rank(b.role));
}

export async function insertApiKey(tx: Tx, row: ApiKeyRow): Promise<void> {
  await tx.insertInto("api_keys").values(row).execute();
}

export async function findApiKeyByHash(reader: Reader, sha256: string): Promise<ApiKeyRow | undefined> {
  return await reader.selectFrom("api_keys").selectAll().where("secret_sha256", "=", sha256).executeTakeFirst();
}

/** Newest first; an organization has a hundred at most. */
export async function listApiKeys(reader: Reader, organization: string): Promise<ApiKeyRow[]> {
  return await reader
    .selectFrom("api_keys")
    .selectAll()
    .where("organization", "=", organization)
    .where("revoked_at", "is", null)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
}

/** @returns whether a key that was not revoked before is so now */
export async function revokeApiKey(tx: Tx, organization: string, id: string, at: Ts): Promise<boolean> {
  const done = await tx
    .updateTable("api_keys")
    .set({ revoked_at: at })
    .where("organization", "=", organization)
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  announceCredentials(tx);
  return done.numUpdatedRows > 0n;
}

export async function touchApiKey(tx: Tx, id: string, at: Ts, ip: string): Promise<void> {
  await tx.updateTable("api_keys").set({ last_used_at: at, last_used_ip: ip }).where("id", "=", id).execute();
}

export async function findUser(reader: Reader, id: string): Promise<UserRow | undefined> {
  return await reader.selectFrom("users").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function findUserByEmail(reader: Reader, email: string): Promise<UserRow | undefined> {
  return await reader.selectFrom("users").selectAll().where("email_lower", "=", email.toLowerCase()).executeTakeFirst();
}

export async function updateUser(
  tx: Tx,
  id: string,
  change: Partial<Pick<UserRow, "name" | "locale" | "password_hash" | "starting_organization">>,
): Promise<void> {
  await tx.updateTable("users").set(change).where("id", "=", id).execute();
}

/** Organizations of a person with their role, by the time of joining. */
export async function organizationsOf(reader: Reader, user: string): Promise<(OrganizationRow & { role: string })[]> {
  return await reader
    .selectFrom("memberships")
    .innerJoin("organizations", "organizations.id", "memberships.organization")
    .selectAll("organizations")
    .select("memberships.role")
    .where("memberships.user", "=", user)
    .orderBy("memberships.created_at")
    .orderBy("organizations.id")
    .execute();
}
