import type { OrganizationCaller } from "../../kernel/caller.ts";
import { type Page, type PageQuery, pageOfAll } from "../../kernel/cursor.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { OrgRole } from "../identity/contract.ts";
import {
  changeRole,
  currentPerson,
  endMembership,
  organizationsOf,
  requireFresh,
  roleIn,
  workIn,
} from "../identity/service.ts";
import { findMember, listMembers, type MemberRow } from "./members-store.ts";
import type { Member } from "./people-contract.ts";
import { presentMember } from "./present.ts";
import { noticePromotion } from "./promotion-notice.ts";

/** Who belongs to the organization as what. Everything is decided in the transaction, with the roles as they are then. */

/** Owners first, then administrators, then members; each by the time of joining. */
export async function members(deps: Deps, organization: string, query: PageQuery): Promise<Page<Member>> {
  const rows = await listMembers(deps.db.read, organization);
  const placeOf = (row: MemberRow) => ({
    t: `${rank.owner - rank[OrgRole.parse(row.role)]} ${row.joined_at}`,
    id: row.id,
  });
  return pageOfAll(deps.secrets, `members:${organization}`, rows, query, { first: "oldest", placeOf }, presentMember);
}

/**
 * The role of whoever manages members now, whatever it was when the request came in.
 * @throws AppError `forbidden`
 */
export async function requireManager(tx: Tx, caller: OrganizationCaller): Promise<OrgRole> {
  const role = await roleIn(tx, caller.organization, caller.id);
  if (role === "owner" || role === "admin") return role;
  throw new AppError("forbidden", { permission: "member:manage" });
}

/** @throws AppError `forbidden` unless an owner acts where an owner is concerned */
export function requireOwnerFor(acting: OrgRole, ...concerned: OrgRole[]): void {
  if (acting !== "owner" && concerned.includes("owner")) {
    throw new AppError("forbidden", { detail: "Only an owner may make, change or remove an owner." });
  }
}

/** @throws AppError `not-found` */
export async function requireMember(reader: Reader, organization: string, id: string): Promise<void> {
  await memberById(reader, organization, id);
}

async function memberById(reader: Reader, organization: string, id: string) {
  const member = await findMember(reader, organization, id);
  if (!member) throw notFound("The member");
  return { ...member, role: OrgRole.parse(member.role) };
}

const rank: Record<OrgRole, number> = { member: 0, admin: 1, owner: 2 };

/** @throws AppError `not-found`, `forbidden`, `last-owner`, `fresh-sign-in-required` */
export async function changeMember(
  deps: Deps,
  caller: OrganizationCaller,
  id: string,
  role: OrgRole,
  ip: string,
): Promise<Member> {
  return await deps.db.tx(async (tx) => {
    const acting = await requireManager(tx, caller);
    const member = await memberById(tx, caller.organization, id);
    requireOwnerFor(acting, member.role, role);
    if (role !== "member") requireFresh(deps, caller);
    await changeRole(tx, deps, caller.organization, member, role, { actor: caller.actor, ip });
    const promoted = rank[role] > rank[member.role];
    if (promoted) await noticePromotion(tx, deps, caller.organization, { ...member, role }, caller.actor);
    return presentMember({ ...member, role });
  });
}

/** @throws AppError `not-found`, `forbidden`, `last-owner`, `fresh-sign-in-required` */
export async function removeMember(deps: Deps, caller: OrganizationCaller, id: string, ip: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    const acting = await requireManager(tx, caller);
    const member = await memberById(tx, caller.organization, id);
    requireOwnerFor(acting, member.role);
    requireFresh(deps, caller);
    await endMembership(tx, deps, caller.organization, member, "member.removed", { actor: caller.actor, ip });
  });
}

/**
 * The session that left goes on in another organization of the person, if there is one.
 * @returns the session
 * @throws AppError `last-owner`
 */
export async function leave(deps: Deps, caller: OrganizationCaller, request: RequestInfo): Promise<string> {
  const person = await currentPerson(deps, request);
  if (!person) throw new AppError("unauthorized");
  await deps.db.tx(async (tx) => {
    const member = await memberById(tx, caller.organization, caller.id);
    const by = { actor: caller.actor, ip: request.ip };
    await endMembership(tx, deps, caller.organization, member, "member.left", by);
    await workIn(tx, person.session, (await organizationsOf(tx, caller.id))[0]?.id ?? null);
  });
  return person.session;
}
