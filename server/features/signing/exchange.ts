import { toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { hashSecret } from "../../kernel/ids.ts";
import { enqueue } from "../../kernel/jobs.ts";
import { limitFailures, requireLeft } from "../../kernel/rate-limits.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { inviteRecipient } from "../envelopes/jobs.ts";
import { loadEnvelope } from "../envelopes/service.ts";
import type { SigningExchange } from "./contract.ts";
import { otpStateOf } from "./present.ts";
import { localeOf, standingOf } from "./signer.ts";
import { actionRefusal } from "./state.ts";
import * as store from "./store.ts";
import { openWithToken, readToken } from "./tokens.ts";

/** Only failures count against an address, so that an office behind one address is not locked out. */
const failedPerAddress = { name: "signing-exchange-failed", points: 30, seconds: 60 };
const exchangesPerToken = { name: "signing-exchange-token", points: 30, seconds: 60 };
const freshLinkPauseMs = 60_000;

/**
 * Opens a session with the token of a link or of a minted session.
 * @throws AppError `token-invalid`, `token-expired`, `token-used`, `rate-limited`
 */
export async function exchangeToken(
  deps: Deps,
  token: string,
  request: RequestInfo,
): Promise<{ result: SigningExchange; headers: Record<string, string> }> {
  const failed = { limits: deps.limits, rule: failedPerAddress, ip: request.ip };
  return await limitFailures(
    failed,
    ({ status }) => status === 401,
    () => open(deps, token, request),
  );
}

async function open(deps: Deps, text: string, request: RequestInfo): Promise<SigningExchange> {
  const token = readToken(text, "svcs");
  if (token === undefined) throw new AppError("token-invalid");
  const sha256 = hashSecret(token);
  requireLeft(await deps.limits.take(exchangesPerToken, sha256));
  const { session, accessToken, record, recipient } = await deps.db.tx((tx) =>
    openWithToken(tx, deps, sha256, "exchange", request),
  );
  if (accessToken === null || session.access_expires_at === null) throw new Error("the session was not opened");
  return {
    accessToken,
    expiresAt: session.access_expires_at,
    envelope: session.envelope,
    recipient: session.recipient,
    session: session.id,
    embedOrigin: session.embed_origin,
    locale: localeOf(record.envelope, recipient),
    otp: otpStateOf(recipient, session),
  };
}

/**
 * Mails a fresh link to the holder of an old one while it is that recipient's turn, at most once a minute.
 * Never tells whether it did.
 */
export async function requestFreshLink(deps: Deps, text: string): Promise<void> {
  const token = readToken(text, "svcs");
  if (token === undefined) return;
  const known = await store.findToken(deps.db.read, hashSecret(token));
  if (known?.kind !== "link") return;
  const record = await loadEnvelope(deps.db.read, known.envelope);
  const recipient = record?.recipients.find(({ id }) => id === known.recipient);
  if (!record || !recipient) return;
  const now = deps.clock.now();
  if (actionRefusal(standingOf(record.envelope, recipient, false), toTs(now)) !== undefined) return;
  const last = await store.lastLinkAt(deps.db.read, recipient.id);
  if (last !== undefined && now - Date.parse(last) < freshLinkPauseMs) return;
  const payload = { envelope: known.envelope, recipient: known.recipient, reason: "fresh_link" as const };
  await deps.db.tx((tx) => enqueue(tx, inviteRecipient, payload, { dedupeKey: `signing.fresh-link:${recipient.id}` }));
}
