import type { Ts } from "../../kernel/clock.ts";

/**
 * Seals of one envelope that did not hold, one after another. A fault in the document makes every one of them invalid, whereas an
 * authority that answers badly is put right within hours: nothing is given up before that. The operator sees such a job from its
 * third attempt on.
 */
export type InvalidSeals = {
  inARow: number;
  /** When the first of them was made. */
  since: Ts;
};

const leastInARow = 5;
/** A night. */
const leastMs = 12 * 3_600_000;

/**
 * One more.
 * @param lastError what the attempt before left in its job; null for the first attempt
 */
export function oneMoreInvalid(lastError: string | null, at: Ts): InvalidSeals {
  const [, inARow, since] = kept.exec(lastError ?? "") ?? [];
  return inARow === undefined || since === undefined ? { inARow: 1, since: at } : { inARow: Number(inARow) + 1, since };
}

/** Whether no further attempt can help. */
export function isGivenUp({ inARow, since }: InvalidSeals, at: Ts): boolean {
  return inARow >= leastInARow && Date.parse(at) - Date.parse(since) >= leastMs;
}

/** The job keeps the text of its last failure, and any other failure takes its place, but no put-off: so they are counted in it. */
export class InvalidAgain extends Error {
  constructor({ inARow, since }: InvalidSeals, cause: Error) {
    super(`${inARow} in a row since ${since}: ${cause.message}`, { cause });
    this.name = "InvalidAgain";
  }
}

const kept = /^InvalidAgain: (\d{1,9}) in a row since (\d{4}-\d\d-\d\dT[\d:.]+Z): /;
