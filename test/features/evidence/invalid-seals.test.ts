import { expect, test } from "vitest";
import { sealEnvelope } from "../../../server/features/envelopes/jobs.ts";
import {
  InvalidAgain,
  type InvalidSeals,
  isGivenUp,
  oneMoreInvalid,
} from "../../../server/features/evidence/invalid-seals.ts";
import { SealFailure } from "../../../server/features/evidence/sealing.ts";

const begun = Date.parse("2027-03-01T12:00:00.000Z");
const minutes = (count: number) => new Date(begun + count * 60_000).toISOString();
const invalid = new SealFailure("seal", "seal-invalid", "the new seal does not hold");
/** As the queue keeps it. */
const lastError = (error: Error): string => `${error.name}: ${error.message}`.slice(0, 500);

/** Invalid seals only, one at each of these minutes. */
function afterAll(...at: number[]): InvalidSeals {
  let last = lastError(new SealFailure("seal", "timestamp-refused", "no answer"));
  let seals = oneMoreInvalid(last, minutes(0));
  for (const minute of at) {
    seals = oneMoreInvalid(last, minutes(minute));
    last = lastError(new InvalidAgain(seals, invalid));
  }
  return seals;
}

test("one invalid seal after many other failures is one, and not given up", () => {
  expect(afterAll(600)).toEqual({ inARow: 1, since: minutes(600) });
  expect(isGivenUp(afterAll(600), minutes(600))).toBe(false);
});

test("seals are given up that were invalid five times in a row, over half a day at least", () => {
  expect(isGivenUp(afterAll(0, 1, 2, 3, 4, 5, 6, 7), minutes(7))).toBe(false);
  expect(isGivenUp(afterAll(0, 1, 2, 3, 600), minutes(600))).toBe(false);
  expect(isGivenUp(afterAll(0, 20, 40, 720), minutes(720))).toBe(false);
  expect(afterAll(0, 1, 2, 3, 720)).toEqual({ inARow: 5, since: minutes(0) });
  expect(isGivenUp(afterAll(0, 1, 2, 3, 720), minutes(720))).toBe(true);
});

test("by the pace of the queue that is the day after, and before its attempts have run out", () => {
  const at: number[] = [];
  for (let [attempt, minute] = [1, 0]; attempt <= sealEnvelope.maxAttempts; attempt += 1) {
    at.push(minute);
    minute += sealEnvelope.backoffMs(attempt) / 60_000;
    if (isGivenUp(afterAll(...at), minutes(at.at(-1) ?? 0))) break;
  }
  expect((at.at(-1) ?? 0) / 60).toBeGreaterThanOrEqual(12);
  expect((at.at(-1) ?? 0) / 60).toBeLessThan(13.5);
  expect(at.length).toBeLessThan(sealEnvelope.maxAttempts);
});

test("any other failure in between begins the count anew", () => {
  const seals = afterAll(0, 1, 2, 3, 60);
  for (const between of [
    new SealFailure("seal", "timestamp-refused", "no answer"),
    new Error("a worker crashed"),
    invalid,
  ])
    expect(oneMoreInvalid(lastError(between), minutes(90)).inARow).toBe(1);
  expect(oneMoreInvalid(lastError(new InvalidAgain(seals, invalid)), minutes(90)).inARow).toBe(6);
});
