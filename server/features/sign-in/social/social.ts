import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { PersonCaller } from "../../../kernel/caller.ts";
import { toTs } from "../../../kernel/clock.ts";
import { type Page, type PageQuery, pageOfAll } from "../../../kernel/cursor.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { notFound } from "../../../kernel/errors.ts";
import { hashSecret } from "../../../kernel/ids.ts";
import type { RequestInfo } from "../../../kernel/request.ts";
import { equalInConstantTime } from "../../../kernel/secrets.ts";
import { cookieOf, currentPerson, freshMs, requireFresh, requireLiveSession } from "../../identity/service.ts";
import { ReturnTo } from "../contract.ts";
import { queueSecurityNotice } from "../security-notice.ts";
import { connectAccount, type Opened, openAccount } from "./accounts.ts";
import type { SocialIdentity, SocialProblem, SocialProvider } from "./contract.ts";
import * as oidc from "./provider.ts";
import { requireProvider } from "./providers.ts";
import * as store from "./store.ts";

/**
 * Sign-in with an account elsewhere: the browser goes to the provider and comes back. What is remembered meanwhile serves once,
 * ten minutes, and only in the browser that began: another one has not its cookie (login CSRF).
 */

const stateMs = 10 * 60 * 1000;
const cookieName = "__Host-svc_social";
const attributes = "Path=/; HttpOnly; Secure; SameSite=Lax";
const clearedCookie = `${cookieName}=; ${attributes}; Max-Age=0`;
const Secrets = z.object({ nonce: z.string(), codeVerifier: z.string() });
const contextOf = (stateSha256: string) => `social_states.secrets:${stateSha256}`;

/** Where the browser goes next, and what it is to remember. */
export type Way = { location: string; cookie: string | null };

/** @throws AppError `not-found` when the provider is not set up */
export async function beginSocial(
  deps: Deps,
  provider: SocialProvider,
  returnTo: string | undefined,
  request: RequestInfo,
): Promise<Way> {
  requireProvider(deps.config, provider);
  const person = await whoConnects(deps, request);
  const user = person?.user ?? null;
  if (person && !isFresh(deps, person)) return { location: problemPage(deps, "social-stale", user), cookie: null };
  try {
    const { url, ceremony } = await oidc.authorizationUrl(deps, provider);
    const { state, nonce, codeVerifier } = ceremony;
    const browser = randomBytes(32).toString("base64url");
    const key = hashSecret(state);
    const now = deps.clock.now();
    const row: store.SocialStateRow = {
      state_sha256: key,
      browser_sha256: hashSecret(browser),
      provider,
      secrets: deps.secrets.seal(JSON.stringify({ nonce, codeVerifier }), contextOf(key)),
      return_to: ReturnTo.safeParse(returnTo).data ?? null,
      user,
      expires_at: toTs(now + stateMs),
    };
    await deps.db.tx((tx) => store.insertState(tx, row, toTs(now)));
    return { location: url, cookie: `${cookieName}=${browser}; ${attributes}; Max-Age=${stateMs / 1000}` };
  } catch (error) {
    return { location: problemPage(deps, problemOf(deps, provider, error), user), cookie: null };
  }
}

/**
 * Whoever is signed in and asks for it on a page of our own gets the account connected. A link on another site begins a plain
 * sign-in: it may have put this browser into an account there that is not this person's.
 */
async function whoConnects(deps: Deps, request: RequestInfo): Promise<PersonCaller | null> {
  if (request.header("sec-fetch-site") !== "same-origin") return null;
  return await currentPerson(deps, request);
}

function isFresh(deps: Deps, person: PersonCaller): boolean {
  const age = deps.clock.now() - person.signedInAt;
  return age >= 0 && age < freshMs;
}

/**
 * Ends what `beginSocial` began; always leads back to the dashboard.
 * @throws AppError `not-found` when the provider is not set up
 */
export async function finishSocial(
  deps: Deps,
  provider: SocialProvider,
  returned: {
    state?: string | undefined;
    code?: string | undefined;
    error?: string | undefined;
    iss?: string | undefined;
  },
  request: RequestInfo,
): Promise<Way> {
  requireProvider(deps.config, provider);
  const { state = "" } = returned;
  const remembered = await takeState(deps, provider, state, request);
  if (!remembered) return { location: problemPage(deps, "social-failed", null), cookie: clearedCookie };
  const { user, return_to: returnTo } = remembered;
  const failed = (problem: SocialProblem) => ({ location: problemPage(deps, problem, user), cookie: clearedCookie });
  if (returned.error !== undefined)
    return failed(returned.error === "access_denied" ? "social-cancelled" : "social-failed");
  try {
    const ceremony = { state, ...readSecrets(deps, remembered) };
    const given = Object.entries(returned).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const claims = await oidc.finishAuthorization(deps, provider, Object.fromEntries(given), ceremony);
    const connecting = user === null ? null : await currentPerson(deps, request);
    if (connecting?.user !== (user ?? undefined)) return failed("social-failed");
    if (connecting && !isFresh(deps, connecting)) return failed("social-stale");
    const opened = await deps.db.tx<Opened>(async (tx) => {
      if (!connecting) return await openAccount(tx, deps, { provider, claims }, request);
      await requireLiveSession(tx, deps, connecting);
      return await connectAccount(tx, deps, { provider, claims }, connecting.user);
    });
    if ("problem" in opened) return failed(opened.problem);
    const location = `${deps.config.appUrl}${returnTo ?? (user === null ? "/" : "/settings/account")}`;
    // The other cookie opens nothing any more; it goes by itself.
    return { location, cookie: "headers" in opened ? opened.headers["set-cookie"] : clearedCookie };
  } catch (error) {
    return failed(problemOf(deps, provider, error));
  }
}

async function takeState(deps: Deps, provider: SocialProvider, state: string, request: RequestInfo) {
  const row = await deps.db.tx((tx) => store.takeState(tx, hashSecret(state)));
  const browser = cookieOf(request, cookieName) ?? "";
  const good =
    row !== undefined &&
    row.provider === provider &&
    row.expires_at > deps.clock.ts() &&
    equalInConstantTime(hashSecret(browser), row.browser_sha256);
  return good ? row : null;
}

function readSecrets(deps: Deps, row: store.SocialStateRow): z.infer<typeof Secrets> {
  return Secrets.parse(JSON.parse(deps.secrets.open(row.secrets, contextOf(row.state_sha256)).toString()));
}

/** @throws the error itself when it is none of the provider's */
function problemOf(deps: Deps, provider: SocialProvider, error: unknown): SocialProblem {
  const unavailable = error instanceof oidc.ProviderUnavailable;
  if (!unavailable && !(error instanceof oidc.SignInRejected)) throw error;
  // Messages alone: what the libraries attach holds tokens and claims.
  const reasons: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause) reasons.push(at.message);
  deps.log.warn({ provider, reasons }, "sign-in with an account elsewhere failed");
  return unavailable ? "provider-unavailable" : "social-failed";
}

function problemPage({ config }: Deps, problem: SocialProblem, user: string | null): string {
  return `${config.appUrl}${user === null ? "/sign-in" : "/settings/account"}?problem=${problem}`;
}

/** Oldest first. */
export async function listSocialIdentities(deps: Deps, user: string, query: PageQuery): Promise<Page<SocialIdentity>> {
  const rows = await store.identitiesOf(deps.db.read, user);
  const placeOf = ({ created_at, issuer, subject }: store.SocialIdentityRow) => ({
    t: created_at,
    // An account elsewhere has no short id of its own.
    id: hashSecret(`${issuer} ${subject}`),
  });
  const order = { first: "oldest", placeOf } as const;
  return pageOfAll(deps.secrets, `social:${user}`, rows, query, order, (row) => ({
    provider: row.provider,
    email: row.email,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  }));
}

/** @throws AppError `fresh-sign-in-required`, `not-found` */
export async function disconnectSocial(deps: Deps, caller: PersonCaller, provider: SocialProvider): Promise<void> {
  requireFresh(deps, caller);
  await deps.db.tx(async (tx) => {
    await requireLiveSession(tx, deps, caller);
    if (!(await store.deleteIdentities(tx, caller.user, provider))) throw notFound("The connected account");
    await queueSecurityNotice(tx, deps, caller.user, "social_disconnected", `${provider}:${deps.clock.ts()}`);
  });
}
