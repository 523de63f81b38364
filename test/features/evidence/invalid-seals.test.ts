import { expect, test } from "vitest";
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

test("seals are given up that were invalid five times in a row, over an hour at least", () => {
  expect(isGivenUp(afterAll(0, 1, 2, 3, 4, 5, 6, 7), minutes(7))).toBe(false);
  expect(isGivenUp(afterAll(0, 20, 40, 60), minutes(60))).toBe(false);
  expect(afterAll(0, 1, 2, 3, 60)).toEqual({ inARow: 5, since: minutes(0) });
  expect(isGivenUp(afterAll(0, 1, 2, 3, 60), minutes(60))).toBe(true);
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
