import { type Ts, toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { MailContent } from "./contract.ts";

/** Mails that waited for a mail server until nobody could use them any more. */

/** A mail that is about to be delivered. */
type WaitingMail = { cause: string; envelope: string | null; content: MailContent };

/**
 * Why this mail is of no use to whom it is for, as a sentence for the list of mails, or null when it is of use still. Other
 * features know this of the mails that they write.
 */
export type OutlivedCheck = (deps: Deps, mail: WaitingMail) => Promise<string | null>;

/** @returns null for what does not lapse by time alone */
export function lapsedBecause(content: MailContent, createdAt: Ts, now: Ts): string | null {
  if (!("minutes" in content) || toTs(Date.parse(createdAt) + content.minutes * 60_000) > now) return null;
  const what = "code" in content ? "code" : "link";
  return `Its ${what} was good for ${content.minutes} minutes, which passed before a mail server took it.`;
}
