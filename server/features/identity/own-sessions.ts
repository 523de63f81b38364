import { toTs } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { hashSecret, newSecret } from "../../kernel/ids.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import * as store from "./session-store.ts";
import { idleMs, readSession } from "./sessions.ts";

/** What people do with their own sessions: look at them, end them, renew their secret. */

export type OwnSession = store.SessionRow;
const keptMs = 30 * 24 * 60 * 60 * 1000;

export async function sessionsOf(reader: Reader, deps: Pick<Deps, "clock">, user: string): Promise<OwnSession[]> {
  const now = deps.clock.now();
  return await store.liveSessions(reader, user, toTs(now), toTs(now - idleMs));
}

/** Ends the session that this browser holds, if any. */
export async function endSessionOf(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  request: Pick<RequestInfo, "header">,
): Promise<void> {
  const session = await readSession(tx, request);
  if (session && session.ended_at === null) await store.endSession(tx, session.user, session.id, deps.clock.ts());
}

/** @returns whether this was a session of the person that had not ended */
export async function endOwnSession(tx: Tx, deps: Pick<Deps, "clock">, user: string, id: string): Promise<boolean> {
  return await store.endSession(tx, user, id, deps.clock.ts());
}

/** Ends every session of the person; `except` is the one that stays. */
export async function endSessionsOf(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  user: string,
  except: string | null = null,
): Promise<void> {
  await store.endSessions(tx, user, deps.clock.ts(), except);
}

/**
 * Gives a session a new secret after its person gained or changed a credential; what somebody copied before is worth nothing.
 * @returns the secret for `sessionCookie`
 */
export async function rotateSession(tx: Tx, id: string): Promise<string> {
  const secret = newSecret("svcu");
  await store.setSessionSecret(tx, id, hashSecret(secret));
  return secret;
}

/** Forgets sessions that ended or ran out thirty days ago. */
export async function purgeSessions(tx: Tx, deps: Pick<Deps, "clock">): Promise<void> {
  await store.deleteSessionsBefore(tx, toTs(deps.clock.now() - keptMs));
}
