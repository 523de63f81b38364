import { type Ts, toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";

/** A clock is set right by so much without anybody having been wrong. */
const toleranceMs = 5 * 60_000;

/**
 * Beyond this moment nothing was made: what is dated later was made while the clock was wrong, or it is wrong now. Which of the two
 * nobody can tell, so such a backup neither counts as the newest nor goes away.
 */
export const latestDate = ({ now }: Pick<Deps["clock"], "now">): Ts => toTs(now() + toleranceMs);

/** The moment that the name of a backup begins with. */
const dateOf = (id: string): Ts => {
  const [, year, month, day, hour, minute, second, ms] =
    /^(\d{4})(\d{2})(\d{2})-(\d{2})(\d{2})(\d{2})(\d{3})-/.exec(id) ?? [];
  return `${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`;
};

/** Whether it is dated in the future. */
export const isAhead = (id: string, clock: Pick<Deps["clock"], "now">): boolean => dateOf(id) > latestDate(clock);
