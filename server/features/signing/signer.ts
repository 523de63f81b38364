import type { SignerCaller } from "../../kernel/caller.ts";
import type { Ts } from "../../kernel/clock.ts";
import type { Reader } from "../../kernel/db.ts";
import { AppError } from "../../kernel/errors.ts";
import type { Actor } from "../../kernel/wire.ts";
import { type EnvelopeRecord, type EnvelopeRow, loadEnvelope, type RecipientRow } from "../envelopes/service.ts";
import { actionRefusal, needsCode, type Standing } from "./state.ts";
import * as store from "./store.ts";
import type { SessionRow } from "./tables.ts";

/** A recipient together with their envelope. */
export type RecipientOf = { record: EnvelopeRecord; recipient: RecipientRow };
/** Who calls a signing operation, with all that the use cases look at. */
export type Signer = RecipientOf & { session: SessionRow; standing: Standing };

export function standingOf(envelope: EnvelopeRow, recipient: RecipientRow, verified: boolean): Standing {
  return {
    envelope: envelope.status,
    expiresAt: envelope.expires_at,
    recipient: recipient.status,
    verification: recipient.verification,
    verified,
  };
}

export function recipientActor(recipient: Pick<RecipientRow, "id" | "name" | "email">): Actor {
  return { type: "recipient", id: recipient.id, name: recipient.name, email: recipient.email };
}

/**
 * Who calls, as it is now. A session ends when the signing is passed on, so whoever holds a live one is still the person
 * that the recipient's row names.
 * @throws AppError `token-invalid` when the session was taken away or ran out since it was authenticated
 */
export async function loadSigner(reader: Reader, caller: SignerCaller, now: Ts): Promise<Signer> {
  const session = await store.findSession(reader, caller.session);
  if (!session || !isLive(session, now)) throw new AppError("token-invalid");
  const record = await loadEnvelope(reader, caller.envelope);
  const recipient = record?.recipients.find(({ id }) => id === caller.recipient);
  if (!record || !recipient) throw new AppError("token-invalid");
  return { session, record, recipient, standing: standingOf(record.envelope, recipient, session.verified_at !== null) };
}

export function isLive(session: SessionRow, now: Ts): boolean {
  return session.ended_at === null && session.access_expires_at !== null && session.access_expires_at > now;
}

/** @throws AppError `otp-required` */
export function requireVerified({ standing }: Pick<Signer, "standing">): void {
  if (needsCode(standing)) throw new AppError("otp-required");
}

/** @throws AppError `recipient-finished`, `envelope-not-in-progress`, `not-recipients-turn` */
export function requireTurn({ standing }: Pick<Signer, "standing">, now: string): void {
  const refusal = actionRefusal(standing, now);
  if (refusal !== undefined) throw new AppError(refusal);
}

/** The document as it stands: the sealed one, else the newest revision; undefined before the first is rendered. */
export function currentDocument({ envelope, revisions }: EnvelopeRecord): string | undefined {
  if (envelope.seal === "sealed" && envelope.sealed_sha256 !== null) return envelope.sealed_sha256;
  return newestRevision(revisions)?.sha256;
}

export function newestRevision<R extends { number: number }>(revisions: readonly R[]): R | undefined {
  return revisions.reduce<R | undefined>(
    (newest, one) => (newest === undefined || one.number > newest.number ? one : newest),
    undefined,
  );
}

/** The language of pages and mails for this person. */
export function localeOf(envelope: EnvelopeRow, recipient: RecipientRow): string {
  return recipient.locale ?? envelope.locale;
}

/** Where the page goes when it is done, told what happened (contract §5). */
export function redirectOf({ session, recipient }: Signer, event: "signed" | "declined"): string | null {
  const base = session.redirect_url ?? recipient.redirect_url;
  const url = base === null ? null : URL.parse(base);
  if (url === null) return null;
  url.searchParams.set("event", event);
  url.searchParams.set("envelope", recipient.envelope);
  url.searchParams.set("recipient", recipient.id);
  return url.href;
}
