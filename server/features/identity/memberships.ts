import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { newId } from "../../kernel/ids.ts";
import type { Actor } from "../../kernel/wire.ts";
import { recordAdminAct } from "./admin-audit.ts";
import { OrgRole } from "./contract.ts";
import { revokeBeyond } from "./inviter.ts";
import * as membershipStore from "./membership-store.ts";
import * as sessionStore from "./session-store.ts";
import * as store from "./store.ts";

/** Who belongs to which organization. Every change records what was done in the same transaction. */

/** Who does it, and from where. */
export type By = { actor: Actor; ip: string | null };

export async function roleIn(reader: Reader, organization: string, user: string): Promise<OrgRole | null> {
  const row = await membershipStore.findMembership(reader, organization, user);
  return row ? OrgRole.parse(row.role) : null;
}

export type Membership = store.OrganizationRow & { role: OrgRole };

/** Organizations of a person with their role, by the time of joining. */
export async function organizationsOf(reader: Reader, user: string): Promise<Membership[]> {
  return (await store.organizationsOf(reader, user)).map((row) => ({ ...row, role: OrgRole.parse(row.role) }));
}

/** Whether any organization has an owner: until then the appliance waits for its first one. */
export async function hasAnyOwner(reader: Reader): Promise<boolean> {
  return await membershipStore.anyOwner(reader);
}

/** Creates an organization that belongs to this person. @returns its id */
export async function foundOrganization(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  input: { name: string; locale?: string | undefined; timeZone?: string | undefined },
  founder: string,
  by: By,
): Promise<string> {
  const id = newId("org");
  const now = deps.clock.ts();
  await store.insertOrganization(tx, {
    id,
    name: input.name,
    locale: input.locale ?? "en",
    time_zone: input.timeZone ?? "UTC",
    notify_email: null,
    retention_days: null,
    retention_before: null,
    retention_from: null,
    created_at: now,
  });
  await store.insertMembership(tx, { organization: id, user: founder, role: "owner", created_at: now });
  await recordAdminAct(tx, deps, id, { ...by, action: "organization.created", target: id, data: { name: input.name } });
  return id;
}

/** Makes a person a member; one who is a member already keeps their role. @returns whether they were none before */
export async function joinOrganization(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  organization: string,
  user: Pick<store.UserRow, "id" | "email" | "name">,
  role: OrgRole,
  ip: string | null,
): Promise<boolean> {
  if (await membershipStore.findMembership(tx, organization, user.id)) return false;
  await store.insertMembership(tx, { organization, user: user.id, role, created_at: deps.clock.ts() });
  await recordAdminAct(tx, deps, organization, {
    actor: { type: "user", id: user.id, name: user.name, email: user.email },
    action: "member.joined",
    target: user.id,
    ip,
    data: { email: user.email, name: user.name, role },
  });
  return true;
}

/** @throws AppError `last-owner` when nobody else owns the organization */
async function requireAnotherOwner(tx: Tx, organization: string): Promise<void> {
  if ((await membershipStore.countOwners(tx, organization)) < 2) throw new AppError("last-owner");
}

/** @throws AppError `last-owner` */
export async function changeRole(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  organization: string,
  member: Pick<store.UserRow, "id" | "email" | "name"> & { role: OrgRole },
  role: OrgRole,
  by: By,
): Promise<void> {
  if (role === member.role) return;
  if (member.role === "owner") await requireAnotherOwner(tx, organization);
  await membershipStore.setRole(tx, organization, member.id, role);
  await recordAdminAct(tx, deps, organization, {
    ...by,
    action: "member.role_changed",
    target: member.id,
    data: { email: member.email, name: member.name, from: member.role, to: role },
  });
  await revokeBeyond(tx, deps, organization, member.id, role, by);
}

/**
 * Ends a membership: the person's sessions leave the organization at once, their keys stay, since they are its own.
 * @throws AppError `last-owner`
 */
export async function endMembership(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  organization: string,
  member: Pick<store.UserRow, "id" | "email" | "name"> & { role: OrgRole },
  action: "member.removed" | "member.left",
  by: By,
): Promise<void> {
  if (member.role === "owner") await requireAnotherOwner(tx, organization);
  await membershipStore.deleteMembership(tx, organization, member.id);
  await membershipStore.forgetStartingOrganization(tx, member.id, organization);
  await sessionStore.leaveOrganization(tx, member.id, organization);
  const data = { email: member.email, name: member.name, role: member.role };
  await recordAdminAct(tx, deps, organization, { ...by, action, target: member.id, data });
  await revokeBeyond(tx, deps, organization, member.id, null, by);
}

/** Lets a session work in an organization of its person, or in none. */
export async function workIn(tx: Tx, session: string, organization: string | null): Promise<void> {
  await sessionStore.setSessionOrganization(tx, session, organization);
}
