const seconds = 1000;
const minutes = 60 * seconds;
const hours = 60 * minutes;

/** How long no attempt is given up; also how long events wait for a paused endpoint. */
export const horizonMs = 72 * hours;

/** Waits after the first, second … attempt (specification, Retries and replay 2). */
const delaysMs = [
  5 * seconds,
  5 * minutes,
  30 * minutes,
  2 * hours,
  5 * hours,
  10 * hours,
  14 * hours,
  20 * hours,
  24 * hours,
];

/**
 * When to try again after an attempt that failed; null when it was the last. The waits add up to more than three days, so the last
 * one is cut to `until`. Long waits differ by up to a tenth, so that what failed together does not come back together.
 * @param attempt 1 for the first
 * @param now and `until` are milliseconds since the epoch
 * @param random from 0 to 1
 */
export function nextAttempt(attempt: number, now: number, until: number, random = Math.random()): number | null {
  const delay = delaysMs[attempt - 1];
  if (delay === undefined || now >= until) return null;
  const spread = delay > 5 * minutes ? 0.9 + 0.2 * random : 1;
  return Math.min(now + Math.round(delay * spread), until);
}
