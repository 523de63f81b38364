import type { PersonCaller } from "../../../kernel/caller.ts";
import { toTs } from "../../../kernel/clock.ts";
import { type Page, type PageQuery, pageOfAll } from "../../../kernel/cursor.ts";
import { isUniqueViolation } from "../../../kernel/db.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { AppError, invalid, notFound } from "../../../kernel/errors.ts";
import { hashSecret, newId } from "../../../kernel/ids.ts";
import type { RequestInfo } from "../../../kernel/request.ts";
import { personById, requireFresh, requireLiveSession } from "../../identity/service.ts";
import { begin, noteRefusal, type SignedIn } from "../begin.ts";
import { queueSecurityNotice } from "../security-notice.ts";
import * as ceremony from "./ceremony.ts";
import type { Passkey } from "./contract.ts";
import * as store from "./store.ts";

/** Passkeys of people: register, sign in, name, remove. A challenge serves once, five minutes, one purpose and one person. */

export const mostPasskeys = 20;

function present(row: store.PasskeyRow): Passkey {
  const { id, name, created_at, last_used_at } = row;
  return { id, name, backedUp: row.backed_up === 1, createdAt: created_at, lastUsedAt: last_used_at };
}

async function rememberChallenge(
  deps: Deps,
  purpose: store.ChallengePurpose,
  user: string | null,
  challenge: string,
): Promise<string> {
  const id = newId("chl");
  const now = deps.clock.now();
  const expires = toTs(now + ceremony.challengeMs);
  const row = { id, purpose, user, challenge_sha256: hashSecret(challenge), expires_at: expires };
  await deps.db.tx((tx) => store.insertChallenge(tx, row, toTs(now)));
  return id;
}

/** Takes the challenge in a transaction of its own, so that a wrong answer uses it up as well. */
async function takeChallenge(deps: Deps, id: string, purpose: store.ChallengePurpose, user: string | null) {
  return await deps.db.tx((tx) => store.takeChallenge(tx, { id, purpose, user, now: deps.clock.ts() }));
}

export async function beginSignIn(deps: Deps) {
  const options = await ceremony.signInOptions(deps);
  return { challenge: await rememberChallenge(deps, "sign_in", null, options.challenge), options: { ...options } };
}

/**
 * Signs in with the answer of an authenticator.
 * @throws AppError `unauthorized`, the same whatever is wrong with it
 */
export async function finishSignIn(
  deps: Deps,
  input: { challenge: string; response: unknown },
  request: RequestInfo,
): Promise<SignedIn> {
  const refused = () => {
    noteRefusal(deps, "passkey", request);
    return new AppError("unauthorized", { detail: "This passkey cannot be used to sign in here." });
  };
  const challenge = await takeChallenge(deps, input.challenge, "sign_in", null);
  const assertion = ceremony.readAssertion(input.response);
  if (!challenge || !assertion) throw refused();
  const passkey = await store.findByCredential(deps.db.read, assertion.id);
  if (!passkey) throw refused();
  const verified = await ceremony.verifyAssertion(deps, assertion, passkey, challenge.challenge_sha256);
  if (!verified) throw refused();
  return await deps.db.tx(async (tx) => {
    const use = { ...verified, at: deps.clock.ts() };
    if (!(await store.noteUse(tx, passkey, use))) throw refused();
    return await begin(tx, deps, passkey.user, "passkey", request);
  });
}

/** @throws AppError `fresh-sign-in-required`, `conflict` when the person has as many as there may be */
export async function beginRegistration(deps: Deps, caller: PersonCaller) {
  requireFresh(deps, caller);
  const person = await personById(deps.db.read, caller.user);
  if (!person) throw new AppError("unauthorized");
  const rows = await store.passkeysOf(deps.db.read, caller.user);
  requireRoom(rows.length);
  const existing = rows.map((row) => ({
    credentialId: row.credential_id,
    transports: transportsOf(row),
  }));
  const options = await ceremony.registrationOptions(deps, person, existing);
  const challenge = await rememberChallenge(deps, "register", caller.user, options.challenge);
  return { challenge, options: { ...options } };
}

/** @throws AppError `fresh-sign-in-required`, `validation-failed`, `conflict` */
export async function finishRegistration(
  deps: Deps,
  caller: PersonCaller,
  input: { challenge: string; name: string; response: unknown },
): Promise<Passkey> {
  requireFresh(deps, caller);
  const challenge = await takeChallenge(deps, input.challenge, "register", caller.user);
  if (!challenge) {
    const detail = "This registration has expired or was used already: begin again.";
    throw invalid([{ pointer: "#/challenge", code: "reference", detail }]);
  }
  const credential = await ceremony.verifyRegistration(deps, input.response, challenge.challenge_sha256);
  if (!credential) {
    const detail = "The authenticator's answer cannot be used.";
    throw invalid([{ pointer: "#/response", code: "format", detail }]);
  }
  const row: store.PasskeyRow = {
    id: newId("psk"),
    user: caller.user,
    credential_id: credential.credentialId,
    public_key: credential.publicKey,
    counter: credential.counter,
    transports: JSON.stringify(credential.transports),
    backed_up: credential.backedUp ? 1 : 0,
    name: input.name,
    created_at: deps.clock.ts(),
    last_used_at: null,
  };
  try {
    await deps.db.tx(async (tx) => {
      await requireLiveSession(tx, deps, caller);
      requireRoom((await store.passkeysOf(tx, caller.user)).length);
      await store.insertPasskey(tx, row);
      await queueSecurityNotice(tx, deps, caller.user, "passkey_added", row.id);
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new AppError("conflict", { detail: "This passkey is registered already.", cause: error });
  }
  return present(row);
}

function requireRoom(count: number): void {
  if (count < mostPasskeys) return;
  const detail = `A person has at most ${mostPasskeys} passkeys: remove one that you no longer use.`;
  throw new AppError("conflict", { detail });
}

function transportsOf(row: store.PasskeyRow): string[] {
  const transports: unknown = JSON.parse(row.transports);
  return Array.isArray(transports) ? transports.filter((entry) => typeof entry === "string") : [];
}

/** Newest first. */
export async function listPasskeys(deps: Deps, user: string, query: PageQuery): Promise<Page<Passkey>> {
  const rows = await store.passkeysOf(deps.db.read, user);
  const placeOf = (row: store.PasskeyRow) => ({ t: row.created_at, id: row.id });
  return pageOfAll(deps.secrets, `passkeys:${user}`, rows, query, { first: "newest", placeOf }, present);
}

/** @throws AppError `not-found` */
export async function requirePasskey(deps: Deps, user: string, id: string): Promise<void> {
  const own = await store.passkeysOf(deps.db.read, user);
  if (!own.some((row) => row.id === id)) throw notFound("The passkey");
}

/** @throws AppError `not-found` */
export async function renamePasskey(deps: Deps, user: string, id: string, name: string): Promise<Passkey> {
  const row = await deps.db.tx((tx) => store.renamePasskey(tx, user, id, name));
  if (!row) throw notFound("The passkey");
  return present(row);
}

/** Removing the last one is fine: a code by mail always signs in. @throws AppError `fresh-sign-in-required`, `not-found` */
export async function removePasskey(deps: Deps, caller: PersonCaller, id: string): Promise<void> {
  requireFresh(deps, caller);
  await deps.db.tx(async (tx) => {
    await requireLiveSession(tx, deps, caller);
    if (!(await store.deletePasskey(tx, caller.user, id))) throw notFound("The passkey");
    await queueSecurityNotice(tx, deps, caller.user, "passkey_removed", id);
  });
}
