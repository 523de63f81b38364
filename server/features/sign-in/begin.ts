import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { presentSession, type SignInMethod, sessionCookie, startSession } from "../identity/service.ts";
import type { DashboardSession } from "../identity/session-contract.ts";

/** What every successful sign-in answers: the session, and the cookie that holds its secret. */
export type SignedIn = { session: DashboardSession; headers: { "set-cookie": string } };

/** Signs a person in, in the caller's transaction. */
export async function begin(
  tx: Tx,
  deps: Deps,
  user: string,
  method: SignInMethod,
  request: RequestInfo,
): Promise<SignedIn> {
  const { id, secret } = await startSession(tx, deps, user, method, request);
  deps.db.afterCommit(tx, () => deps.log.info({ user, method, requestId: request.requestId }, "signed in"));
  return { session: await presentSession(tx, deps, id), headers: { "set-cookie": sessionCookie(secret) } };
}

/** Notes a refusal without address, code or token. */
export function noteRefusal(deps: Pick<Deps, "log">, method: SignInMethod, request: RequestInfo): void {
  deps.log.info({ method, ip: request.ip, requestId: request.requestId }, "sign-in refused");
}
