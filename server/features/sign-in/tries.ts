import { toTs } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { newId } from "../../kernel/ids.ts";
import type { TryPurpose } from "./tables.ts";
import * as store from "./try-store.ts";

/**
 * What was tried and failed for an address, known or not, as rows: a restart gives no new tries (docs/decisions/010). Codes that
 * confirm a new account are counted apart from those that sign in: anybody may ask for the former.
 */

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** Wrong passwords of an address (specification, Limits). */
export const passwordTries = { points: 10, ms: 15 * minuteMs };
/** Patient guessing, five tries at each of many codes, ends here: at most 1 in 20 000 a day. */
export const wrongCodes = { points: 50, ms: dayMs };

/** Counts a try, until `forgetTry` says that it did not fail. @returns its id */
export async function noteTry(tx: Tx, deps: Pick<Deps, "clock">, purpose: TryPurpose, email: string): Promise<string> {
  const id = newId("try");
  await store.insertTry(tx, { id, purpose, email_lower: email, at: deps.clock.ts() });
  return id;
}

export async function forgetTry(tx: Tx, id: string): Promise<void> {
  await store.deleteTry(tx, id);
}

/**
 * Counts a password before it is compared, so that tries at the same time are counted one by one.
 * @throws AppError `rate-limited`
 */
export async function beginPasswordTry(tx: Tx, deps: Pick<Deps, "clock">, email: string): Promise<string> {
  const now = deps.clock.now();
  const times = await store.triesSince(tx, "password", email, toTs(now - passwordTries.ms));
  const oldest = times[passwordTries.points - 1];
  if (oldest !== undefined) {
    const retryAfter = Math.max(1, Math.ceil((Date.parse(oldest) + passwordTries.ms - now) / 1000));
    throw new AppError("rate-limited", { retryAfter });
  }
  return await noteTry(tx, deps, "password", email);
}

/** @throws AppError `rate-limited` after a day's wrong codes of this purpose */
export async function requireFewWrongCodes(
  reader: Reader,
  deps: Pick<Deps, "clock">,
  purpose: Exclude<TryPurpose, "password">,
  email: string,
): Promise<void> {
  const times = await store.triesSince(reader, purpose, email, toTs(deps.clock.now() - wrongCodes.ms));
  if (times.length < wrongCodes.points) return;
  const detail = "Too many wrong codes were entered for this address. Sign in another way, or try again tomorrow.";
  throw new AppError("rate-limited", { detail, retryAfter: 3600 });
}
