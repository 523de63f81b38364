import type { Reader } from "../../kernel/db.ts";
import { hashSecret } from "../../kernel/ids.ts";
import { loadEnvelope } from "../envelopes/service.ts";
import type { OutlivedCheck } from "../mail/service.ts";
import * as codes from "./code-store.ts";
import { isLive, standingOf } from "./signer.ts";
import { actionRefusal, codeRefusal } from "./state.ts";
import * as store from "./store.ts";

/** Mails to signers that waited for a mail server while things went on without them. */

const causeOfCode = /^code:(otp_\w+)$/;

/** The cause of the mail with this code. */
export const codeCause = (code: string): string => `code:${code}`;

const over = "Nothing is left to sign with it: this person has finished, or the envelope has ended.";
const replaced = "A later mail has taken its place.";
const usedOrReplaced = "It was used already, or a later mail has taken its place.";

/** Why a link or a code for a signer is of no use any more: to be asked before it is delivered. */
export const signingMailOutlived: OutlivedCheck = async ({ db, clock }, { cause, envelope, content }) => {
  const { kind } = content;
  if (envelope === null || (kind !== "signing_request" && kind !== "reminder" && kind !== "code")) return null;
  const record = await loadEnvelope(db.read, envelope);
  if (record === undefined) return null;
  const now = clock.ts();
  const what = kind === "code" ? await codeNow(db.read, cause, now) : await linkNow(db.read, content.link);
  const recipient = record.recipients.find(({ id }) => id === what?.recipient);
  if (what === undefined || recipient === undefined) return kind === "code" ? usedOrReplaced : replaced;
  const standing = standingOf(record.envelope, recipient, false);
  // Who has signed may ask for a code to read; a link that asks for a signature is of no use to them.
  const refusal = kind === "code" ? codeRefusal(standing, now) : actionRefusal(standing, now);
  return refusal === undefined ? null : over;
};

/** Undefined for a code that no session takes any more. */
async function codeNow(reader: Reader, cause: string, now: string): Promise<{ recipient: string } | undefined> {
  const id = causeOfCode.exec(cause)?.[1];
  const code = id === undefined ? undefined : await codes.findOpenCode(reader, id);
  const session = code && (await store.findSession(reader, code.session));
  return session && isLive(session, now) ? code : undefined;
}

/** Undefined for a link that was taken back, by one that was sent again or by passing the signing on. */
async function linkNow(reader: Reader, link: string): Promise<{ recipient: string } | undefined> {
  const token = await store.findToken(reader, hashSecret(new URL(link).hash.slice(1)));
  return token?.revoked_at === null ? token : undefined;
}
