import type { ViewerCaller } from "../../kernel/caller.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { hashSecret } from "../../kernel/ids.ts";
import * as store from "./store.ts";
import { accessExpiry, readToken } from "./tokens.ts";

/** The end of access is moved at most this often: an open page asks several times a minute. */
const slideStepMs = 60_000;

/**
 * Who calls a viewer operation: the holder of an access token (`svcva_`).
 * @param given as it stands in `Authorization: Bearer`, or in the query of the stream
 * @throws AppError `token-invalid`, `token-expired`
 */
export async function authenticateViewer(deps: Deps, given: string | null): Promise<ViewerCaller> {
  const token = readToken(given ?? "", "svcva");
  if (token === undefined) {
    const detail = "A viewer's access token is required: send `Authorization: Bearer <access token>`.";
    throw new AppError("token-invalid", given === null ? { detail } : {});
  }
  const access = await store.findAccess(deps.db.read, hashSecret(token));
  if (!access || access.revoked_at !== null) throw new AppError("token-invalid");
  const now = deps.clock.now();
  if (Date.parse(access.expires_at) <= now) throw new AppError("token-expired");
  const expiresAt = accessExpiry(now, access.ends_at);
  if (Date.parse(expiresAt) - Date.parse(access.expires_at) >= slideStepMs) {
    await deps.db.tx((tx) => store.slideAccess(tx, access.sha256, expiresAt));
  }
  return {
    kind: "viewer",
    viewer: access.viewer,
    envelope: access.envelope,
    organization: access.organization,
    testMode: access.test_mode === 1,
  };
}

/** The token that a request carries; the query counts only where it is declared. */
export function bearerOf(authorization: string | null): string | null {
  return authorization === null ? null : (/^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "");
}
