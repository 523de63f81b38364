import { credentialsTopic } from "../../kernel/admission.ts";
import type { OrganizationCaller, PersonCaller } from "../../kernel/caller.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { checksumOk, hashSecret } from "../../kernel/ids.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { shareReads } from "../../kernel/shared-reads.ts";
import { scopesOf } from "./present.ts";
import { cookieOf, createSessionAuthenticator, sessionCookieName } from "./sessions.ts";
import * as store from "./store.ts";

/**
 * Keys that were looked up in the last second are believed without a read. A revocation in this process takes effect with its
 * commit (`credentialsTopic`), one by another process within the second.
 */
export const keyCacheMs = 1000;
const mostCached = 1000;
/** "Last used" is written at most this often a key, off the request's path. */
const touchMs = 60_000;

type Cached = { caller: OrganizationCaller; id: string; expiresAt: number; at: number };

/**
 * Makes the function that tells who holds an API key, sent as `Authorization: Bearer` or `x-api-key`. It throws
 * `unauthorized`, the same whether the key is missing, malformed, unknown, revoked or expired.
 */
function createKeyAuthenticator(deps: Deps): (request: RequestInfo, again: boolean) => Promise<OrganizationCaller> {
  const cache = new Map<string, Cached>();
  const touched = new Map<string, number>();
  let changes = 0;
  deps.db.onCommitted(credentialsTopic, () => {
    changes += 1;
    cache.clear();
  });

  function touch(id: string, now: number, ip: string): void {
    if (now - (touched.get(id) ?? Number.NEGATIVE_INFINITY) < touchMs) return;
    touched.set(id, now);
    deps.db
      .tx((tx) => store.touchApiKey(tx, id, deps.clock.ts(), ip))
      .catch((err: unknown) => deps.log.warn({ err }, "last use of an API key was not recorded"));
  }

  return async (request, again) => {
    const hash = hashSecret(readKey(request));
    const now = deps.clock.now();
    let entry = cache.get(hash);
    if (!entry || now - entry.at >= keyCacheMs || now < entry.at) {
      const before = changes;
      entry = await lookUp(deps, hash, now);
      // Read while a key was revoked, it may be that one as it was: good for this request, which came before, and no other.
      if (changes === before) {
        if (cache.size >= mostCached) cache.clear();
        cache.set(hash, entry);
      }
    }
    if (entry.expiresAt <= now) throw new AppError("unauthorized");
    if (!again) touch(entry.id, now, request.ip);
    return entry.caller;
  };
}

function readKey(request: RequestInfo): string {
  const bearer = /^Bearer +(\S+) *$/i.exec(request.header("authorization") ?? "")?.[1];
  const header = request.header("x-api-key")?.trim();
  if (request.header("authorization") !== null && !bearer) throw new AppError("unauthorized");
  if (bearer && header && bearer !== header) {
    throw new AppError("unauthorized", { detail: "Authorization and x-api-key carry different keys." });
  }
  const secret = bearer ?? header;
  if (!secret || !/^svc_(live|test)_/.test(secret) || !checksumOk(secret)) throw new AppError("unauthorized");
  return secret;
}

/** Shared, since all streams of a key ask at once when something happens. */
const findKey = shareReads(store.findApiKeyByHash);

async function lookUp(deps: Deps, hash: string, now: number): Promise<Cached> {
  // The look-up is by the hash of a 256-bit secret: how long it takes tells nothing about any key.
  const row = await findKey(deps.db.read, hash);
  if (!row || row.revoked_at !== null) throw new AppError("unauthorized");
  const caller: OrganizationCaller = {
    kind: "api_key",
    id: row.id,
    session: null,
    organization: row.organization,
    testMode: row.test_mode === 1,
    permissions: new Set(scopesOf(row)),
    actor: { type: "api_key", id: row.id, name: row.name, email: creatorEmail(row) },
    signedInAt: null,
  };
  const expiresAt = row.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(row.expires_at);
  return { caller, id: row.id, expiresAt, at: now };
}

/** The creator's address tells whom to write to about envelopes of this key (contract §3). */
function creatorEmail(row: store.ApiKeyRow): string | null {
  const creator: unknown = JSON.parse(row.created_by);
  const email = creator !== null && typeof creator === "object" && "email" in creator ? creator.email : null;
  return typeof email === "string" ? email : null;
}

/** Who calls operations of organizations and people: an API key where one is sent, else the session of the cookie. */
export function createAuthenticators(deps: Deps) {
  const byKey = createKeyAuthenticator(deps);
  const bySession = createSessionAuthenticator(deps);
  const organization = (request: RequestInfo, _: URLSearchParams, again: boolean): Promise<OrganizationCaller> =>
    sendsKey(request) || cookieOf(request, sessionCookieName) === null
      ? byKey(request, again)
      : bySession.member(request, again);
  return {
    key: organization,
    // A good key is refused by the kernel, which tells it from a bad one.
    dashboard: organization,
    async person(request: RequestInfo, _: URLSearchParams, again: boolean): Promise<PersonCaller> {
      if (!sendsKey(request)) return await bySession.person(request, again);
      await byKey(request, again);
      throw new AppError("forbidden", { detail: "This operation needs a dashboard session; API keys cannot use it." });
    },
  };
}

function sendsKey(request: RequestInfo): boolean {
  return request.header("authorization") !== null || request.header("x-api-key") !== null;
}
