import type { SignerCaller } from "../../kernel/caller.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { hashSecret } from "../../kernel/ids.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { isLive } from "./signer.ts";
import { needsCode } from "./state.ts";
import * as store from "./store.ts";
import type { SessionRow } from "./tables.ts";
import { accessExpiry, openWithToken, readToken } from "./tokens.ts";

/** The end of access is moved at most this often, so that a page that loads costs one write and not six. */
const slideStepMs = 10_000;

/** Who opens a session, for the audit trail. */
type Visitor = Pick<RequestInfo, "ip" | "userAgent">;

/**
 * Who calls a signing operation: the holder of an access token (`svca_`), or of a session token (`svcs_`), which the first
 * call exchanges and which then stands for that one session (contract §5).
 * @throws AppError `token-invalid`, `token-expired`, `token-used`
 */
export async function authenticateSigner(
  deps: Deps,
  authorization: string | null,
  visitor: Visitor,
): Promise<SignerCaller> {
  const bearer = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1] ?? "";
  return callerOf(await slide(deps, await sessionOf(deps, bearer, visitor)));
}

async function sessionOf(deps: Deps, bearer: string, visitor: Visitor): Promise<SessionRow> {
  const access = readToken(bearer, "svca");
  if (access !== undefined) {
    const session = await store.findSessionByAccess(deps.db.read, hashSecret(access));
    if (!session) throw new AppError("token-invalid");
    return live(session, deps.clock.ts());
  }
  const token = readToken(bearer, "svcs");
  if (token === undefined) {
    const detail = "A signer token is required: send `Authorization: Bearer <access token>`.";
    throw new AppError("token-invalid", bearer === "" ? { detail } : {});
  }
  return await sessionOfBearer(deps, hashSecret(token), visitor);
}

/** Within one transaction, so that two first calls at once open one session. */
async function sessionOfBearer(deps: Deps, sha256: string, visitor: Visitor): Promise<SessionRow> {
  const known = await store.findToken(deps.db.read, sha256);
  if (!known) throw new AppError("token-invalid");
  if (known.bearer_session !== null) {
    const session = await store.findSession(deps.db.read, known.bearer_session);
    const usable = session && known.revoked_at === null;
    if (usable && (known.kind === "session" || isLive(session, deps.clock.ts()))) return live(session, deps.clock.ts());
  }
  return await deps.db.tx(async (tx) => {
    const token = await store.findToken(tx, sha256);
    const opened = token?.bearer_session ? await store.findSession(tx, token.bearer_session) : undefined;
    if (opened && token?.revoked_at === null && isLive(opened, deps.clock.ts())) return opened;
    return (await openWithToken(tx, deps, sha256, "bearer", visitor)).session;
  });
}

function live(session: SessionRow, now: string): SessionRow {
  if (session.ended_at !== null) {
    throw new AppError("token-expired", { detail: "This session has ended: the link was opened again elsewhere." });
  }
  if (!isLive(session, now)) throw new AppError("token-expired");
  return session;
}

async function slide(deps: Deps, session: SessionRow): Promise<SessionRow> {
  if (session.access_ends_at === null || session.access_expires_at === null) return session;
  const expiresAt = accessExpiry(deps.clock.now(), session.access_ends_at);
  if (Date.parse(expiresAt) - Date.parse(session.access_expires_at) < slideStepMs) return session;
  await deps.db.tx((tx) => store.slideSession(tx, session.id, expiresAt));
  return { ...session, access_expires_at: expiresAt };
}

function callerOf(session: SessionRow): SignerCaller {
  const { verification, verified_at: verifiedAt } = session;
  return {
    kind: "signer",
    session: session.id,
    envelope: session.envelope,
    recipient: session.recipient,
    organization: session.organization,
    testMode: session.test_mode === 1,
    verified: !needsCode({ verification, verified: verifiedAt !== null }),
  };
}
