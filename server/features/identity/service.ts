import type { OrganizationCaller } from "../../kernel/caller.ts";
import { toTs } from "../../kernel/clock.ts";
import { type Page, type PageQuery, pageOfAll } from "../../kernel/cursor.ts";
import { isUniqueViolation, type Reader } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, invalid, notFound } from "../../kernel/errors.ts";
import { hashSecret, newId, newSecret } from "../../kernel/ids.ts";
import { type Actor, administrativePermissions, type Permission, permissions } from "../../kernel/wire.ts";
import { recordAdminAct } from "./admin-audit.ts";
import { type ApiKey, type ApiKeyCreated, type CreateApiKey, passwordLength } from "./contract.ts";
import { hashPassword } from "./password.ts";
import type { Person } from "./people.ts";
import { presentApiKey } from "./present.ts";
import { requireStanding } from "./standing.ts";
import * as store from "./store.ts";

export {
  type AdminAuditRow,
  adminHead,
  checkAdminChain,
  listAdminActs,
  listAdminChain,
  recordAdminAct,
} from "./admin-audit.ts";
export {
  type AnyKey,
  type AnySession,
  allKeys,
  allSessions,
  endAnySession,
  endEverySessionOf,
  makerOf,
  ownedBy,
  renameOrganization,
  revokeAnyKey,
} from "./administration.ts";
export { checkNewPassword } from "./breach.ts";
export {
  acceptOne,
  hasOpenInvitation,
  type InvitationRow,
  openInvitationsFor,
  openInvitationsIn,
  revokeInvitation,
} from "./invitations.ts";
export { stillGranted } from "./inviter.ts";
export {
  changeRole,
  endMembership,
  foundOrganization,
  hasAnyOwner,
  type Membership,
  organizationsOf,
  roleIn,
  workIn,
} from "./memberships.ts";
export {
  endOwnSession,
  endSessionOf,
  endSessionsOf,
  type OwnSession,
  purgeSessions,
  rotateSession,
  sessionsOf,
} from "./own-sessions.ts";
export { hashPassword, isOutdated, verifyPassword } from "./password.ts";
export { changePerson, createPerson, localeOfPerson, type Person, personByEmail, personById } from "./people.ts";
export { ownPlanOf, type PlanName, planOf, setPlan } from "./plans.ts";
export { scopesOf } from "./present.ts";
export { presentSession } from "./session-present.ts";
export {
  clearedSessionCookie,
  cookieOf,
  currentPerson,
  freshMs,
  requireFresh,
  type SignInMethod,
  sessionCookie,
  startSession,
} from "./sessions.ts";
export { requireLiveSession, requireStanding } from "./standing.ts";
export { NoTurn } from "./turns.ts";

const dayMs = 24 * 60 * 60 * 1000;
/** Contract §13. */
const mostKeys = 100;

export type NewOrganization = {
  name: string;
  owner: { email: string; name: string; password: string | null };
  locale?: string;
  timeZone?: string;
};

/**
 * Creates an organization and its first owner.
 * @throws AppError `conflict` when the address has an account
 */
export async function createOrganization(
  deps: Deps,
  input: NewOrganization,
): Promise<{ organization: string; user: string }> {
  const { password } = input.owner;
  if (password !== null && (password.length < passwordLength.min || password.length > passwordLength.max)) {
    const detail = `A password has ${passwordLength.min} to ${passwordLength.max} characters.`;
    throw invalid([{ pointer: "#/password", code: password.length < passwordLength.min ? "min" : "max", detail }]);
  }
  const passwordHash = password === null ? null : await hashPassword(password);
  const now = deps.clock.ts();
  const organization = newId("org");
  const user = newId("usr");
  try {
    await deps.db.tx(async (tx) => {
      await store.insertOrganization(tx, {
        id: organization,
        name: input.name,
        locale: input.locale ?? "en",
        time_zone: input.timeZone ?? "UTC",
        notify_email: null,
        retention_days: null,
        retention_before: null,
        retention_from: null,
        created_at: now,
      });
      await store.insertUser(tx, {
        id: user,
        email: input.owner.email,
        email_lower: input.owner.email.toLowerCase(),
        name: input.owner.name,
        password_hash: passwordHash,
        locale: null,
        starting_organization: null,
        created_at: now,
      });
      await store.insertMembership(tx, { organization, user, role: "owner", created_at: now });
    });
  } catch (error) {
    if (isUniqueViolation(error))
      throw new AppError("conflict", { detail: "This address has an account already.", cause: error });
    throw error;
  }
  return { organization, user };
}

/**
 * Creates an API key; the secret is in the answer and nowhere else.
 * @param granted what the creator holds; nobody grants a key a permission that they lack
 * @param caller whoever asks over HTTP: what they hold is looked up again where the key is made
 */
export async function createApiKey(
  deps: Deps,
  organization: string,
  createdBy: Actor,
  granted: ReadonlySet<Permission>,
  input: CreateApiKey,
  ip: string | null = null,
  caller: OrganizationCaller | null = null,
): Promise<ApiKeyCreated> {
  const scopes =
    input.scopes ?? permissions.filter((scope) => granted.has(scope) && !administrativePermissions.includes(scope));
  const lacking = scopes.flatMap((scope, index) =>
    granted.has(scope)
      ? []
      : [
          {
            pointer: `#/scopes/${index}`,
            code: "conflict" as const,
            detail: `You do not hold \`${scope}\`, so you cannot grant it.`,
          },
        ],
  );
  if (lacking.length > 0) throw invalid(lacking);
  const secret = newSecret(input.mode === "test" ? "svc_test" : "svc_live");
  const now = deps.clock.now();
  const row: store.ApiKeyRow = {
    id: newId("key"),
    organization,
    name: input.name,
    test_mode: input.mode === "test" ? 1 : 0,
    secret_sha256: hashSecret(secret),
    hint: `${secret.slice(0, 11)}…${secret.slice(-4)}`,
    scopes: JSON.stringify([...new Set(scopes)]),
    expires_at: input.expiresInDays ? toTs(now + input.expiresInDays * dayMs) : null,
    revoked_at: null,
    last_used_at: null,
    last_used_ip: null,
    created_by: JSON.stringify(createdBy),
    created_at: toTs(now),
  };
  await deps.db.tx(async (tx) => {
    const held = caller === null ? granted : await requireStanding(tx, deps, caller, "apikey:manage");
    if (scopes.some((scope) => !held.has(scope))) throw new AppError("forbidden");
    const keys = await store.listApiKeys(tx, organization);
    if (keys.length >= mostKeys) {
      const detail = `An organization has at most ${mostKeys} API keys: revoke one that nothing uses any more.`;
      throw new AppError("conflict", { detail });
    }
    await store.insertApiKey(tx, row);
    const data = { name: row.name, mode: input.mode, scopes: [...new Set(scopes)] };
    await recordAdminAct(tx, deps, organization, {
      actor: createdBy,
      action: "api_key.created",
      target: row.id,
      ip,
      data,
    });
  });
  return { ...presentApiKey(row, toTs(now)), key: secret };
}

/** All that were not revoked, newest first. */
export async function allApiKeys(deps: Deps, organization: string): Promise<ApiKey[]> {
  const now = deps.clock.ts();
  return (await store.listApiKeys(deps.db.read, organization)).map((row) => presentApiKey(row, now));
}

/** One page, newest first. @throws AppError `validation-failed` for a cursor that is not ours */
export async function listApiKeys(deps: Deps, organization: string, query: PageQuery): Promise<Page<ApiKey>> {
  const rows = await store.listApiKeys(deps.db.read, organization);
  const now = deps.clock.ts();
  const placeOf = (row: store.ApiKeyRow) => ({ t: row.created_at, id: row.id });
  const order = { first: "newest", placeOf } as const;
  return pageOfAll(deps.secrets, `api-keys:${organization}`, rows, query, order, (row) => presentApiKey(row, now));
}

/** @throws AppError `not-found` */
export async function revokeApiKey(
  deps: Deps,
  organization: string,
  id: string,
  by: { actor: Actor; ip: string | null },
): Promise<void> {
  await deps.db.tx(async (tx) => {
    const key = (await store.listApiKeys(tx, organization)).find((row) => row.id === id);
    if (!key || !(await store.revokeApiKey(tx, organization, id, deps.clock.ts()))) throw notFound("The API key");
    const data = { name: key.name };
    await recordAdminAct(tx, deps, organization, { ...by, action: "api_key.revoked", target: id, data });
  });
}

/** @throws Error when the organization is gone: callers hold an id that a foreign key keeps */
export async function organizationById(reader: Reader, id: string): Promise<store.OrganizationRow> {
  const row = await store.findOrganization(reader, id);
  if (!row) throw new Error(`organization ${id} is missing`);
  return row;
}

export async function allOrganizations(reader: Reader): Promise<store.OrganizationRow[]> {
  return await store.listOrganizations(reader);
}

/** Owners of the organization, by the age of their accounts. */
export async function ownersOf(reader: Reader, organization: string): Promise<Person[]> {
  return (await store.listMembers(reader, organization)).filter(({ role }) => role === "owner");
}

/** Whether the address belongs to a member: test mode sends mail to nobody else. */
export async function isMemberAddress(reader: Reader, organization: string, email: string): Promise<boolean> {
  const wanted = email.toLowerCase();
  return (await store.listMembers(reader, organization)).some((member) => member.email_lower === wanted);
}

/**
 * Who "the sender" of an envelope is (contract §3): the dashboard user; for an API key the organization's notification
 * address, else the key's creator while still a member, else the owners.
 */
export async function senderAddresses(
  reader: Reader,
  organization: string,
  createdBy: Actor,
): Promise<{ email: string; name: string | null }[]> {
  const members = await store.listMembers(reader, organization);
  if (createdBy.type === "user") {
    const user = members.find((member) => member.id === createdBy.id);
    if (user) return [{ email: user.email, name: user.name }];
  }
  const { notify_email: notify } = await organizationById(reader, organization);
  if (notify !== null) return [{ email: notify, name: null }];
  const creator =
    createdBy.email === null
      ? undefined
      : members.find((member) => member.email_lower === createdBy.email?.toLowerCase());
  const chosen = creator ? [creator] : members.filter((member) => member.role === "owner");
  return chosen.map(({ email, name }) => ({ email, name }));
}
