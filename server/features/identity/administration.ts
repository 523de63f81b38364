import { toTs } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { notFound } from "../../kernel/errors.ts";
import type { Actor } from "../../kernel/wire.ts";
import { recordAdminAct } from "./admin-audit.ts";
import * as administration from "./administration-store.ts";
import type { Person } from "./people.ts";
import * as sessionStore from "./session-store.ts";
import { idleMs } from "./sessions.ts";
import * as store from "./store.ts";

/**
 * What whoever administers the machine does to accounts and organizations of which they are no member. The caller writes the
 * operators' audit in the same transaction; what concerns an organization stands in its own audit too.
 */

export type { AnyKey, AnySession } from "./administration-store.ts";

type Now = Pick<Deps, "clock">;

export async function allSessions(
  reader: Reader,
  deps: Now,
  filter: administration.AccessFilter,
): Promise<administration.AnySession[]> {
  const now = deps.clock.now();
  return await administration.listSessions(reader, filter, { now: toTs(now), idleSince: toTs(now - idleMs) });
}

/** Keys that work; with `user` those that this person made. */
export async function allKeys(
  reader: Reader,
  deps: Now,
  filter: administration.AccessFilter,
): Promise<administration.AnyKey[]> {
  const now = deps.clock.ts();
  const keys = await administration.listKeys(reader, filter);
  return keys.filter(
    ({ expires_at: expires, created_by: by }) =>
      (expires === null || expires > now) && (filter.user === undefined || makerOf(by).id === filter.user),
  );
}

/** Who made a key. */
export function makerOf(createdBy: string): Pick<Actor, "id" | "email"> {
  const { id, email }: { id?: unknown; email?: unknown } = JSON.parse(createdBy);
  return { id: typeof id === "string" ? id : null, email: typeof email === "string" ? email : null };
}

/** @throws AppError `not-found` when there is no such live session */
export async function endAnySession(tx: Tx, deps: Now, id: string): Promise<{ user: string }> {
  const session = await sessionStore.readOwnSession(tx, id);
  if (!session || !(await sessionStore.endSession(tx, session.user, id, deps.clock.ts())))
    throw notFound("The session");
  return { user: session.user };
}

/** @returns how many were live */
export async function endEverySessionOf(tx: Tx, deps: Now, user: string): Promise<number> {
  const live = await allSessions(tx, deps, { user });
  await sessionStore.endSessions(tx, user, deps.clock.ts(), null);
  return live.length;
}

/** @throws AppError `not-found` */
export async function revokeAnyKey(tx: Tx, deps: Now, id: string, actor: Actor): Promise<{ organization: string }> {
  const key = await administration.findKey(tx, id);
  if (!key || !(await store.revokeApiKey(tx, key.organization, id, deps.clock.ts()))) throw notFound("The API key");
  const act = { actor, ip: null, action: "api_key.revoked" as const, target: id, data: { name: key.name } };
  await recordAdminAct(tx, deps, key.organization, act);
  return { organization: key.organization };
}

/** @throws AppError `not-found` */
export async function renameOrganization(
  tx: Tx,
  deps: Now,
  { id, name }: { id: string; name: string },
  actor: Actor,
): Promise<void> {
  const before = await store.findOrganization(tx, id);
  if (!before) throw notFound("The organization");
  if (before.name === name) return;
  await administration.renameOrganization(tx, id, name);
  const data = { name: { from: before.name, to: name } };
  await recordAdminAct(tx, deps, id, { actor, ip: null, action: "organization.updated", target: id, data });
}

/** Organizations that the person owns, by name. */
export async function ownedBy(reader: Reader, person: Pick<Person, "id">): Promise<store.OrganizationRow[]> {
  return (await store.organizationsOf(reader, person.id)).filter(({ role }) => role === "owner");
}
