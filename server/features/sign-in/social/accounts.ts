import type { Tx } from "../../../kernel/db.ts";
import type { Deps } from "../../../kernel/deps.ts";
import type { RequestInfo } from "../../../kernel/request.ts";
import { createPerson, personByEmail } from "../../identity/service.ts";
import { begin, type SignedIn } from "../begin.ts";
import { queueSecurityNotice } from "../security-notice.ts";
import { maySignUp } from "../sign-up.ts";
import type { SocialClaims } from "./claims.ts";
import type { SocialProvider } from "./contract.ts";
import * as store from "./store.ts";

/** Whose account a provider's answer opens. An identity is provider, issuer and subject; an address is only a way to find one. */

export type AccountProblem = "social-no-account" | "social-unverified" | "social-taken";
export type Opened = SignedIn | { connected: true } | { problem: AccountProblem };

type Given = { provider: SocialProvider; claims: SocialClaims };

/** Signs in whoever the identity belongs to, finds or makes their account; in the caller's transaction. */
export async function openAccount(tx: Tx, deps: Deps, given: Given, request: RequestInfo): Promise<Opened> {
  const { provider, claims } = given;
  const known = await store.findIdentity(tx, keyOf(given));
  if (known) {
    await store.touchIdentity(tx, known, { email: claims.email, at: deps.clock.ts() });
    return await begin(tx, deps, known.user, provider, request);
  }
  const { email } = claims;
  if (email === null || !claims.emailVerified) return { problem: "social-unverified" };
  const person = await personByEmail(tx, email);
  if (person) {
    await connect(tx, deps, given, person.id);
    await noteUse(tx, deps, given);
    return await begin(tx, deps, person.id, provider, request);
  }
  if (!(await maySignUp(tx, deps, email))) return { problem: "social-no-account" };
  const name = claims.name ?? email.slice(0, email.lastIndexOf("@"));
  const user = await createPerson(tx, deps, { email, name, passwordHash: null, locale: null });
  await store.insertIdentity(tx, { ...rowOf(deps, given, user), last_used_at: deps.clock.ts() });
  return await begin(tx, deps, user, provider, request);
}

/** Connects the identity to a person who is signed in and asked for it; in the caller's transaction. */
export async function connectAccount(tx: Tx, deps: Deps, given: Given, user: string): Promise<Opened> {
  const known = await store.findIdentity(tx, keyOf(given));
  if (known && known.user !== user) return { problem: "social-taken" };
  if (!known) await connect(tx, deps, given, user);
  return { connected: true };
}

async function connect(tx: Tx, deps: Deps, given: Given, user: string): Promise<void> {
  const row = rowOf(deps, given, user);
  await store.insertIdentity(tx, row);
  const cause = `${row.provider}:${row.issuer}:${row.subject}:${row.created_at}`;
  await queueSecurityNotice(tx, deps, user, "social_connected", cause);
}

async function noteUse(tx: Tx, deps: Deps, given: Given): Promise<void> {
  await store.touchIdentity(tx, keyOf(given), { email: given.claims.email, at: deps.clock.ts() });
}

function keyOf({ provider, claims }: Given) {
  return { provider, issuer: claims.issuer, subject: claims.subject };
}

function rowOf(deps: Deps, given: Given, user: string): store.SocialIdentityRow {
  const created = deps.clock.ts();
  return { ...keyOf(given), user, email: given.claims.email, created_at: created, last_used_at: null };
}
