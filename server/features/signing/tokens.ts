import { toTs } from "../../kernel/clock.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { checksumOk, hashSecret, newId, newSecret } from "../../kernel/ids.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { appendAudit, loadEnvelope } from "../envelopes/service.ts";
import { type RecipientOf, recipientActor, standingOf } from "./signer.ts";
import { opensSession } from "./state.ts";
import * as store from "./store.ts";
import type { SessionRow, TokenRow } from "./tables.ts";

/** Tokens of links and minted sessions, and the sessions that they open. Only hashes of tokens are kept. */

const minuteMs = 60_000;
const accessIdleMs = 60 * minuteMs;
const accessMostMs = 12 * 60 * minuteMs;
export const linkLifetimeMs = 30 * 24 * 60 * minuteMs;
/** Live sessions that links of one recipient may have. */
const liveSessions = 2;

/** A secret of this kind as it was sent, or undefined when it cannot be one. */
export function readToken(text: string, prefix: "svcs" | "svca"): string | undefined {
  return text.startsWith(`${prefix}_`) && checksumOk(text) ? text : undefined;
}

/** How long access lasts from now: it slides by an hour, and ends twelve hours after the session was opened. */
export function accessExpiry(now: number, endsAt: string): string {
  return toTs(Math.min(now + accessIdleMs, Date.parse(endsAt)));
}

export type Opened = RecipientOf & { session: SessionRow; accessToken: string | null };

/**
 * Opens the session that a token stands for: the minted one, or a new one for a link.
 * @param by `exchange` makes an access token; `bearer` lets the token itself authenticate the session
 * @throws AppError `token-invalid`, `token-expired`, `token-used`
 */
export async function openWithToken(
  tx: Tx,
  deps: Deps,
  sha256: string,
  by: "exchange" | "bearer",
  request: Pick<RequestInfo, "ip" | "userAgent">,
): Promise<Opened> {
  const token = await store.findToken(tx, sha256);
  if (!token) throw new AppError("token-invalid");
  checkUsable(token, deps.clock.ts());
  const record = await loadEnvelope(tx, token.envelope);
  const recipient = record?.recipients.find(({ id }) => id === token.recipient);
  if (!record || !recipient) throw new AppError("token-invalid");
  if (!opensSession(standingOf(record.envelope, recipient, false), deps.clock.ts())) {
    throw new AppError("token-expired", { detail: "There is nothing to sign with this link any more." });
  }
  const accessToken = by === "exchange" ? newSecret("svca") : null;
  const session = await openSession(tx, deps, token, { record, recipient }, accessToken);
  await store.useToken(tx, sha256, deps.clock.ts(), by === "bearer" ? session.id : null);
  await appendAudit(tx, deps, token.envelope, [
    {
      type: "recipient.session_opened",
      actor: recipientActor(recipient),
      ip: request.ip,
      userAgent: request.userAgent,
      data: { session: session.id, source: session.source },
    },
  ]);
  return { record, recipient, session, accessToken };
}

function checkUsable(token: TokenRow, now: string): void {
  if (token.kind === "session" && token.used_at !== null) throw new AppError("token-used");
  if (token.revoked_at !== null) {
    throw new AppError("token-expired", { detail: "A newer link was sent, so this one no longer works." });
  }
  if (token.expires_at <= now) throw new AppError("token-expired");
}

async function openSession(
  tx: Tx,
  deps: Deps,
  token: TokenRow,
  { record: { envelope }, recipient }: RecipientOf,
  accessToken: string | null,
): Promise<SessionRow> {
  const now = deps.clock.now();
  const endsAt = toTs(now + accessMostMs);
  const access = {
    opened_at: toTs(now),
    access_sha256: accessToken === null ? null : hashSecret(accessToken),
    access_expires_at: accessExpiry(now, endsAt),
    access_ends_at: endsAt,
  };
  if (token.session !== null) {
    const minted = await store.findSession(tx, token.session);
    if (!minted || minted.ended_at !== null) throw new AppError("token-expired");
    if (!(await store.openSession(tx, minted.id, access))) throw new AppError("token-used");
    return { ...minted, ...access };
  }
  const session: SessionRow = {
    id: newId("ses"),
    organization: envelope.organization,
    test_mode: envelope.test_mode,
    envelope: envelope.id,
    recipient: recipient.id,
    source: "link",
    verification: recipient.verification,
    embed_origin: null,
    redirect_url: null,
    created_at: toTs(now),
    ...access,
    verified_at: null,
    ended_at: null,
  };
  await store.insertSession(tx, session);
  await store.endOlderLinkSessions(tx, recipient.id, liveSessions, toTs(now));
  return session;
}

/** Makes a token of a link for a mail; what is returned is the only copy. */
export async function mintLink(
  tx: Tx,
  deps: Deps,
  { record: { envelope }, recipient }: RecipientOf,
  reason: Exclude<TokenRow["reason"], "minted">,
): Promise<string> {
  const token = newSecret("svcs");
  const now = deps.clock.now();
  await store.insertToken(tx, {
    sha256: hashSecret(token),
    kind: "link",
    envelope: envelope.id,
    recipient: recipient.id,
    session: null,
    reason,
    created_at: toTs(now),
    expires_at: toTs(now + linkLifetimeMs),
    used_at: null,
    revoked_at: null,
    bearer_session: null,
  });
  return token;
}
