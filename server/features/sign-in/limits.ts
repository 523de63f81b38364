import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import type { RateRule } from "../../kernel/rate-limits.ts";
import { NoTurn } from "../identity/service.ts";

/** Limits by address or person (specification, Limits), on top of those by client address in the contract. */
export const signUps: RateRule = { name: "sign-up-address", points: 5, seconds: 60 * 60 };
export const resets: RateRule = { name: "password-forgot-address", points: 3, seconds: 60 * 60 };
export const magicLinks: RateRule = { name: "magic-links-address", points: 5, seconds: 15 * 60 };
export const passwordChanges: RateRule = { name: "password-change-person", points: 10, seconds: 15 * 60 };

/**
 * Counts, whether or not the address has an account.
 * @throws AppError `rate-limited`
 */
export async function take({ limits }: Pick<Deps, "limits">, rule: RateRule, key: string): Promise<void> {
  const { ok, resetSeconds } = await limits.take(rule, key);
  if (!ok) throw new AppError("rate-limited", { retryAfter: resetSeconds });
}

/**
 * Counts what is tried; what came to no turn did not happen.
 * @throws AppError `rate-limited`, and whatever the work throws
 */
export async function counted<T>(
  deps: Pick<Deps, "limits">,
  rule: RateRule,
  key: string,
  work: () => Promise<T>,
): Promise<T> {
  await take(deps, rule, key);
  try {
    return await work();
  } catch (error) {
    if (error instanceof NoTurn) await deps.limits.giveBack(rule, key);
    throw error;
  }
}
