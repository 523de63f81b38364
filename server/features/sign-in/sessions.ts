import type { PersonCaller } from "../../kernel/caller.ts";
import { type Page, type PageQuery, pageOfAll } from "../../kernel/cursor.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { notFound } from "../../kernel/errors.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import {
  changePerson,
  endOwnSession,
  endSessionOf,
  endSessionsOf,
  type OwnSession,
  presentSession,
  purgeSessions,
  sessionsOf,
} from "../identity/service.ts";
import type { DashboardSession } from "../identity/session-contract.ts";
import { deleteCodesBefore } from "./code-store.ts";
import type { SessionInfo } from "./contract.ts";
import { presentSessionInfo } from "./present.ts";
import { deleteSignUpsBefore } from "./sign-up-store.ts";
import { deleteTokensBefore } from "./token-store.ts";
import { deleteTriesBefore } from "./try-store.ts";

/** The person's own sessions and profile. */

/** By the sign-in, newest first: a session that is used meanwhile keeps its place. */
export async function listSessions(deps: Deps, caller: PersonCaller, query: PageQuery): Promise<Page<SessionInfo>> {
  const rows = await sessionsOf(deps.db.read, deps, caller.user);
  const placeOf = (row: OwnSession) => ({ t: row.signed_in_at, id: row.id });
  const order = { first: "newest", placeOf } as const;
  return pageOfAll(deps.secrets, `sessions:${caller.user}`, rows, query, order, (row) =>
    presentSessionInfo(row, caller.session),
  );
}

/** @throws AppError `not-found` */
export async function endSession(deps: Deps, caller: PersonCaller, id: string): Promise<void> {
  if (!(await deps.db.tx((tx) => endOwnSession(tx, deps, caller.user, id)))) throw notFound("The session");
}

export async function endSessions(deps: Deps, caller: PersonCaller, keepCurrent: boolean): Promise<void> {
  await deps.db.tx((tx) => endSessionsOf(tx, deps, caller.user, keepCurrent ? caller.session : null));
}

/** Ends the session that the browser holds, if it is still one. */
export async function signOut(deps: Deps, request: RequestInfo): Promise<void> {
  await deps.db.tx((tx) => endSessionOf(tx, deps, request));
}

export async function updateProfile(
  deps: Deps,
  caller: PersonCaller,
  input: { name?: string | undefined; locale?: string | null | undefined },
): Promise<DashboardSession> {
  return await deps.db.tx(async (tx) => {
    await changePerson(tx, caller.user, {
      ...(input.name === undefined ? {} : { name: input.name }),
      ...(input.locale === undefined ? {} : { locale: input.locale }),
    });
    return await presentSession(tx, deps, caller.session);
  });
}

const dayMs = 24 * 60 * 60 * 1000;

/** Forgets what can no longer be used: codes and links a day after they expired, waiting accounts at once, old sessions. */
export async function purgeSignIn(tx: Tx, deps: Pick<Deps, "clock">): Promise<void> {
  const now = deps.clock.now();
  const dayAgo = new Date(now - dayMs).toISOString();
  await deleteSignUpsBefore(tx, new Date(now).toISOString());
  await deleteCodesBefore(tx, dayAgo);
  await deleteTokensBefore(tx, dayAgo);
  await deleteTriesBefore(tx, dayAgo);
  await purgeSessions(tx, deps);
}
