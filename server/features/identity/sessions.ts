import type { OrganizationCaller, PersonCaller } from "../../kernel/caller.ts";
import { toTs } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { checksumOk, hashSecret, newId, newSecret } from "../../kernel/ids.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { OrgRole, permissionsOf } from "./contract.ts";
import * as store from "./session-store.ts";
import { findUser, organizationsOf } from "./store.ts";

/**
 * Dashboard sessions: a random secret in a cookie, its hash in the database (contract §13). A sign-in always makes a new one, so
 * that a secret which somebody planted before is worth nothing (session fixation).
 */

const dayMs = 24 * 60 * 60 * 1000;
export const idleMs = 7 * dayMs;
const longestMs = 30 * dayMs;
/** How old a sign-in may be for what must not be done by whoever finds a browser open (contract §9). */
export const freshMs = 15 * 60 * 1000;
/** "Last seen" is written at most this often a session, off the request's path. */
const touchMs = 60_000;

export const sessionCookieName = "__Host-svc_session";
const attributes = "Path=/; HttpOnly; Secure; SameSite=Lax";

/** `Set-Cookie` of a new session. Browsers take `Secure` cookies over plain HTTP from loopback, the only place where it is served. */
export function sessionCookie(secret: string): string {
  return `${sessionCookieName}=${secret}; ${attributes}; Max-Age=${longestMs / 1000}`;
}

export const clearedSessionCookie = `${sessionCookieName}=; ${attributes}; Max-Age=0`;

/** The value of a cookie of the request, or null. */
export function cookieOf(request: Pick<RequestInfo, "header">, name: string): string | null {
  for (const part of request.header("cookie")?.split(";") ?? []) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return null;
}

export const signInMethods = [
  "password",
  "code",
  "magic_link",
  "passkey",
  "google",
  "microsoft",
  "sign_up",
  "invitation",
  "first_owner",
] as const;
export type SignInMethod = (typeof signInMethods)[number];

/**
 * Starts a session in the caller's transaction. It works in the person's starting organization, else in their first; a session
 * that this browser had before ends, and hands its organization on when it was the same person's.
 * @returns the secret for `sessionCookie`
 */
export async function startSession(
  tx: Tx,
  deps: Deps,
  user: string,
  method: SignInMethod,
  request: Pick<RequestInfo, "ip" | "userAgent" | "header">,
  organization?: string,
): Promise<{ id: string; secret: string }> {
  const now = deps.clock.now();
  const secret = newSecret("svcu");
  const id = newId("dss");
  const previous = await readSession(tx, request);
  if (previous && previous.ended_at === null) await store.endSession(tx, previous.user, previous.id, toTs(now));
  const kept = previous?.user === user ? previous.organization : null;
  await store.insertSession(tx, {
    id,
    secret_sha256: hashSecret(secret),
    user,
    organization: organization ?? kept ?? (await startingOrganization(tx, user)),
    method,
    ip: request.ip,
    user_agent: request.userAgent,
    signed_in_at: toTs(now),
    last_seen_at: toTs(now),
    expires_at: toTs(now + longestMs),
    ended_at: null,
  });
  return { id, secret };
}

async function startingOrganization(reader: Reader, user: string): Promise<string | null> {
  const organizations = await organizationsOf(reader, user);
  const chosen = (await findUser(reader, user))?.starting_organization;
  return organizations.find(({ id }) => id === chosen)?.id ?? organizations[0]?.id ?? null;
}

/** The session that this browser's cookie names, whatever its state. */
export async function readSession(reader: Reader, request: Pick<RequestInfo, "header">) {
  const secret = cookieOf(request, sessionCookieName);
  if (secret === null || !secret.startsWith("svcu_") || !checksumOk(secret)) return undefined;
  return await store.findSession(reader, hashSecret(secret));
}

/** The session of the request's cookie while it lasts, with its person and their role; undefined otherwise. */
async function readLiveSession(deps: Pick<Deps, "db" | "clock">, request: Pick<RequestInfo, "header">) {
  const row = await readSession(deps.db.read, request);
  const now = deps.clock.now();
  const live =
    row !== undefined && row.ended_at === null && row.expires_at > toTs(now) && row.last_seen_at > toTs(now - idleMs);
  return live ? row : undefined;
}

type LiveSession = NonNullable<Awaited<ReturnType<typeof readLiveSession>>>;

function personOf(row: LiveSession): PersonCaller {
  return {
    kind: "person",
    session: row.id,
    user: row.user,
    // A membership that ended meanwhile counts at once.
    organization: row.role === null ? null : row.organization,
    signedInAt: Date.parse(row.signed_in_at),
    actor: { type: "user", id: row.user, name: row.name, email: row.email },
  };
}

/** Who is signed in at an operation that anybody may call; null for nobody. */
export async function currentPerson(
  deps: Pick<Deps, "db" | "clock">,
  request: Pick<RequestInfo, "header">,
): Promise<PersonCaller | null> {
  const row = await readLiveSession(deps, request);
  return row ? personOf(row) : null;
}

export type DashboardAuthenticator = {
  /** @param again looks without counting as use: a page that is only open does not keep its session alive */
  person: (request: RequestInfo, again: boolean) => Promise<PersonCaller>;
  /** @throws AppError `forbidden` when the person belongs to no organization */
  member: (request: RequestInfo, again: boolean) => Promise<OrganizationCaller>;
};

/** Makes the functions that tell who sits at the dashboard. They throw `unauthorized`, the same whatever is wrong with the cookie. */
export function createSessionAuthenticator(deps: Deps): DashboardAuthenticator {
  const touched = new Map<string, number>();

  function touch(id: string, now: number, ip: string): void {
    if (now - (touched.get(id) ?? Number.NEGATIVE_INFINITY) < touchMs) return;
    if (touched.size > 10_000) touched.clear();
    touched.set(id, now);
    deps.db
      .tx((tx) => store.touchSession(tx, id, toTs(now), ip))
      .catch((err: unknown) => deps.log.warn({ err }, "last use of a session was not recorded"));
  }

  async function liveSession(request: RequestInfo, again: boolean) {
    const row = await readLiveSession(deps, request);
    if (!row) throw new AppError("unauthorized", { detail: "Sign in to the dashboard, or send an API key." });
    if (!again) touch(row.id, deps.clock.now(), request.ip);
    return row;
  }

  return {
    async person(request, again) {
      return personOf(await liveSession(request, again));
    },
    async member(request, again) {
      const row = await liveSession(request, again);
      if (row.organization === null || row.role === null) {
        throw new AppError("forbidden", { detail: "You do not belong to an organization. Choose one, or create one." });
      }
      return {
        kind: "user",
        id: row.user,
        session: row.id,
        organization: row.organization,
        testMode: null,
        permissions: new Set(permissionsOf(OrgRole.parse(row.role))),
        actor: { type: "user", id: row.user, name: row.name, email: row.email },
        signedInAt: Date.parse(row.signed_in_at),
      };
    },
  };
}

/** @throws AppError `fresh-sign-in-required` when the sign-in is older than fifteen minutes */
export function requireFresh(deps: Pick<Deps, "clock">, caller: { signedInAt: number | null }): void {
  const age = deps.clock.now() - (caller.signedInAt ?? Number.NEGATIVE_INFINITY);
  if (age < 0 || age >= freshMs) throw new AppError("fresh-sign-in-required");
}
