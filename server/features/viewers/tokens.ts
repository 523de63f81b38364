import { type Ts, toTs } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { checksumOk, hashSecret, newSecret } from "../../kernel/ids.ts";
import { viewerOf, type Watched } from "../envelopes/service.ts";
import * as store from "./store.ts";

/** Link and access tokens of viewers (contract §13). */

const minuteMs = 60_000;
export const accessIdleMs = 60 * minuteMs;
const accessMostMs = 12 * 60 * minuteMs;
/** How long a link outlives the envelope's end. */
const linkAfterEndMs = 90 * 24 * 60 * minuteMs;

/** A secret of this kind as it was sent, or undefined when it cannot be one. */
export function readToken(text: string, prefix: "svcv" | "svcva"): string | undefined {
  return text.startsWith(`${prefix}_`) && checksumOk(text) ? text : undefined;
}

/** Makes a link for a mail; what is returned is the only copy. Earlier links go on working. */
export async function mintLink(tx: Tx, deps: Deps, viewer: string): Promise<string> {
  const token = newSecret("svcv");
  await store.insertLink(tx, { sha256: hashSecret(token), viewer, created_at: deps.clock.ts() });
  return `${deps.config.appUrl}/view#${token}`;
}

/**
 * Whom a link lets in.
 * @throws AppError `token-invalid`, `link-expired` when the viewer was revoked or the envelope has ended long ago
 */
export async function openLink(reader: Reader, deps: Deps, sha256: string): Promise<Watched> {
  const link = await store.findLink(reader, sha256);
  const watched = link && (await viewerOf(reader, link.viewer));
  if (!watched) throw new AppError("token-invalid");
  const endedAt = endOf(watched);
  if (watched.viewer.revoked_at !== null) {
    throw new AppError("link-expired", { detail: "The sender no longer shares this envelope with you." });
  }
  if (endedAt !== null && deps.clock.now() >= Date.parse(endedAt) + linkAfterEndMs) throw new AppError("link-expired");
  return watched;
}

function endOf({ envelope }: Watched): Ts | null {
  return envelope.completed_at ?? envelope.declined_at ?? envelope.voided_at ?? envelope.expired_at;
}

export type Access = { accessToken: string; expiresAt: Ts };

export async function mintAccess(tx: Tx, deps: Deps, viewer: string): Promise<Access> {
  const accessToken = newSecret("svcva");
  const now = deps.clock.now();
  const endsAt = toTs(now + accessMostMs);
  const expiresAt = accessExpiry(now, endsAt);
  await store.deleteEnded(tx, viewer, toTs(now));
  const sha256 = hashSecret(accessToken);
  await store.insertAccess(tx, { sha256, viewer, created_at: toTs(now), expires_at: expiresAt, ends_at: endsAt });
  return { accessToken, expiresAt };
}

/** Access slides by an hour, and ends twelve hours after the exchange. */
export function accessExpiry(now: number, endsAt: Ts): Ts {
  return toTs(Math.min(now + accessIdleMs, Date.parse(endsAt)));
}
