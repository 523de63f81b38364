import { toTs } from "../../kernel/clock.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { newId } from "../../kernel/ids.ts";
import * as store from "./invitation-store.ts";

/**
 * An organization's people must not be able to flood strangers with mail. Everything is counted in the database, by address
 * and inviting person, so that neither a restart nor another organization starts the count anew. Addresses with and
 * without an account are counted alike.
 */

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const limits = {
  organization: { most: 3, ms: dayMs, detail: "An organization mails an address at most 3 invitations a day." },
  address: { most: 10, ms: dayMs, detail: "This address was mailed as many invitations as it gets in a day." },
  inviter: { most: 50, ms: 60 * minuteMs, detail: "A person mails at most 50 invitations an hour." },
  pause: { most: 1, ms: minuteMs, detail: "This address was mailed an invitation less than a minute ago." },
};

/** Counts one more mail in the caller's transaction. @throws AppError `rate-limited` */
export async function takeInvitationMail(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  mail: { organization: string; email: string; inviter: string },
): Promise<void> {
  const now = deps.clock.now();
  const { organization, inviter } = mail;
  const email_lower = mail.email.toLowerCase();
  await store.forgetMails(tx, toTs(now - dayMs));
  const toAddress = await store.mailsTo(tx, email_lower);
  const ofOrganization = toAddress.filter((row) => row.organization === organization).map(({ at }) => at);
  refuse(limits.pause, ofOrganization, now);
  refuse(limits.organization, ofOrganization, now);
  refuse(
    limits.address,
    toAddress.map(({ at }) => at),
    now,
  );
  refuse(limits.inviter, await store.mailsBy(tx, inviter), now);
  await store.insertMail(tx, { id: newId("inv"), organization, email_lower, inviter, at: toTs(now) });
}

/** @param times of earlier mails, newest first */
function refuse(
  { most, ms, detail }: { most: number; ms: number; detail: string },
  times: string[],
  now: number,
): void {
  const recent = times.map((at) => now - Date.parse(at)).filter((age) => age >= 0 && age < ms);
  const decisive = recent[most - 1];
  if (decisive !== undefined)
    throw new AppError("rate-limited", { detail, retryAfter: Math.ceil((ms - decisive) / 1000) });
}
