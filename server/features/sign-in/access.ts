import { type Ts, toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { type Actor, maskEmail } from "../../kernel/wire.ts";
import {
  type AnyKey,
  type AnySession,
  allKeys,
  allSessions,
  endAnySession,
  endEverySessionOf,
  makerOf,
  ownedBy,
  personByEmail,
  revokeAnyKey,
  scopesOf,
} from "../identity/service.ts";
import { recordOperatorAct } from "../operators/service.ts";
import type { Access, ManagedKey, ManagedSession } from "./access-contract.ts";
import { withdrawTokens } from "./recovery.ts";
import { issueToken, tokenLifeMs } from "./tokens.ts";

/** Who gets in: sessions and keys of every organization, how to shut them out, and how an owner gets back in. */

/** @throws AppError `not-found` for an address without an account */
export async function listAccess(
  deps: Deps,
  filter: { email?: string | undefined; organization?: string | undefined },
): Promise<Access> {
  const user = filter.email === undefined ? undefined : (await personNamed(deps, filter.email)).id;
  const about = { user, organization: filter.organization };
  const [sessions, keys] = await Promise.all([
    allSessions(deps.db.read, deps, about),
    allKeys(deps.db.read, deps, about),
  ]);
  return { sessions: sessions.map(presentSession), keys: keys.map(presentKey) };
}

function presentSession(row: AnySession): ManagedSession {
  const { organization, organization_name: name } = row;
  return {
    id: row.id,
    person: { id: row.user, email: maskEmail(row.email) },
    organization: organization === null || name === null ? null : { id: organization, name },
    method: row.method,
    ip: row.ip,
    userAgent: row.user_agent,
    signedInAt: row.signed_in_at,
    lastSeenAt: row.last_seen_at,
    expiresAt: row.expires_at,
  };
}

function presentKey(row: AnyKey): ManagedKey {
  const { email } = makerOf(row.created_by);
  return {
    id: row.id,
    organization: { id: row.organization, name: row.organization_name },
    name: row.name,
    hint: row.hint,
    mode: row.test_mode === 1 ? "test" : "live",
    scopes: scopesOf(row),
    createdBy: email === null ? null : maskEmail(email),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    lastUsedIp: row.last_used_ip,
  };
}

/** @throws AppError `not-found` */
export async function endSession(deps: Deps, actor: Actor, id: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    const { user } = await endAnySession(tx, deps, id);
    await recordOperatorAct(tx, deps, { actor, action: "access.session_ended", target: id, data: { user } });
  });
}

/** @throws AppError `not-found` */
export async function revokeKey(deps: Deps, actor: Actor, id: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    const { organization } = await revokeAnyKey(tx, deps, id, actor);
    await recordOperatorAct(tx, deps, { actor, action: "access.key_revoked", target: id, data: { organization } });
  });
}

/**
 * Ends every session of a person, and with `keys` revokes the API keys that this person made.
 * @throws AppError `not-found`
 */
export async function revokeAccess(
  deps: Deps,
  actor: Actor,
  { email, keys: withKeys }: { email: string; keys: boolean },
): Promise<{ sessions: number; keys: number }> {
  const person = await personNamed(deps, email);
  return await deps.db.tx(async (tx) => {
    const sessions = await endEverySessionOf(tx, deps, person.id);
    await withdrawTokens(tx, deps, person);
    const made = withKeys ? await allKeys(tx, deps, { user: person.id }) : [];
    for (const { id } of made) await revokeAnyKey(tx, deps, id, actor);
    const data = { sessions, keys: made.map(({ id }) => id) };
    await recordOperatorAct(tx, deps, { actor, action: "access.revoked", target: person.id, data });
    return { sessions, keys: made.length };
  });
}

/**
 * Gives an owner who is locked out a way back: every session ends, links made before are withdrawn, and a new one lets them
 * set a password.
 * @throws AppError `not-found` for an address without an account, `conflict` for who owns no organization
 */
export async function recoverOwner(
  deps: Deps,
  actor: Actor,
  email: string,
): Promise<{ link: string; expiresAt: Ts; sessionsEnded: number }> {
  const person = await personNamed(deps, email);
  return await deps.db.tx(async (tx) => {
    const owned = await ownedBy(tx, person);
    if (owned.length === 0) {
      const detail =
        "This person owns no organization: an owner can help them, or they ask for a new password themselves.";
      throw new AppError("conflict", { detail });
    }
    const sessionsEnded = await endEverySessionOf(tx, deps, person.id);
    await withdrawTokens(tx, deps, person);
    const { link } = await issueToken(tx, deps, "password_reset", person.email_lower, null);
    const data = { organizations: owned.map(({ id }) => id), sessionsEnded };
    await recordOperatorAct(tx, deps, { actor, action: "access.owner_recovered", target: person.id, data });
    return { link, expiresAt: toTs(deps.clock.now() + tokenLifeMs.password_reset), sessionsEnded };
  });
}

async function personNamed({ db }: Pick<Deps, "db">, email: string) {
  const person = await personByEmail(db.read, email);
  if (!person) throw notFound("An account of this address");
  return person;
}
