import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { SessionRow } from "./session-store.ts";
import type { ApiKeyRow } from "./store.ts";

/** Over all organizations: for who administers the machine, never for a request from the network. */

export type AccessFilter = { user?: string | undefined; organization?: string | undefined };

export type AnySession = SessionRow & { email: string; organization_name: string | null };

/** Sessions that have not ended, last seen first. */
export async function listSessions(
  reader: Reader,
  filter: AccessFilter,
  { now, idleSince }: { now: Ts; idleSince: Ts },
): Promise<AnySession[]> {
  let query = reader
    .selectFrom("sessions")
    .innerJoin("users", "users.id", "sessions.user")
    .leftJoin("organizations", "organizations.id", "sessions.organization")
    .selectAll("sessions")
    .select(["users.email", "organizations.name as organization_name"])
    .where("sessions.ended_at", "is", null)
    .where("sessions.expires_at", ">", now)
    .where("sessions.last_seen_at", ">", idleSince);
  if (filter.user !== undefined) query = query.where("sessions.user", "=", filter.user);
  if (filter.organization !== undefined) query = query.where("sessions.organization", "=", filter.organization);
  return await query.orderBy("sessions.last_seen_at", "desc").orderBy("sessions.id").limit(1000).execute();
}

export type AnyKey = ApiKeyRow & { organization_name: string };

/** Keys that were not revoked, newest first. */
export async function listKeys(reader: Reader, filter: Pick<AccessFilter, "organization">): Promise<AnyKey[]> {
  let query = reader
    .selectFrom("api_keys")
    .innerJoin("organizations", "organizations.id", "api_keys.organization")
    .selectAll("api_keys")
    .select("organizations.name as organization_name")
    .where("api_keys.revoked_at", "is", null);
  if (filter.organization !== undefined) query = query.where("api_keys.organization", "=", filter.organization);
  return await query.orderBy("api_keys.created_at", "desc").orderBy("api_keys.id").limit(5000).execute();
}

export async function findKey(reader: Reader, id: string): Promise<ApiKeyRow | undefined> {
  return await reader.selectFrom("api_keys").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function renameOrganization(tx: Tx, id: string, name: string): Promise<void> {
  await tx.updateTable("organizations").set({ name }).where("id", "=", id).execute();
}
