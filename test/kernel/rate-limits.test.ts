import { expect, test } from "vitest";
import { toTs } from "../../server/kernel/clock.ts";
import { openRateLimits } from "../../server/kernel/rate-limits.ts";

function setUp() {
  let now = 1_000_000;
  const limits = openRateLimits({ clock: { now: () => now, ts: () => toTs(now) } });
  return {
    limits,
    advance(ms: number) {
      now += ms;
    },
  };
}

const rule = { name: "sign-in", points: 3, seconds: 60 };

test("so many calls in a window, then none until it ends", async () => {
  const { limits, advance } = setUp();
  expect(await limits.take(rule, "a")).toEqual({ ok: true, limit: 3, remaining: 2, resetSeconds: 60 });
  advance(20_500);
  await limits.take(rule, "a");
  expect(await limits.take(rule, "a")).toEqual({ ok: true, limit: 3, remaining: 0, resetSeconds: 40 });
  expect(await limits.take(rule, "a")).toEqual({ ok: false, limit: 3, remaining: 0, resetSeconds: 40 });
  advance(39_499);
  expect((await limits.take(rule, "a")).ok).toBe(false);
  advance(1);
  expect(await limits.take(rule, "a")).toEqual({ ok: true, limit: 3, remaining: 2, resetSeconds: 60 });
});

test("rules and keys are counted apart; a point can be given back; looking takes none", async () => {
  const { limits } = setUp();
  await limits.take(rule, "a");
  expect((await limits.take(rule, "b")).remaining).toBe(2);
  expect((await limits.take({ ...rule, name: "other" }, "a")).remaining).toBe(2);
  await limits.giveBack(rule, "a");
  await limits.giveBack(rule, "a");
  await limits.giveBack(rule, "unknown");
  expect((await limits.peek(rule, "a")).remaining).toBe(3);
  expect((await limits.take(rule, "a")).remaining).toBe(2);
});

test("calls at the same time cannot take more than there is", async () => {
  const { limits } = setUp();
  const outcomes = await Promise.all(Array.from({ length: 10 }, () => limits.take(rule, "a")));
  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(3);
});

test("a clock set back locks nobody out", async () => {
  const { limits, advance } = setUp();
  for (let i = 0; i < 4; i++) await limits.take(rule, "a");
  advance(-3_600_000);
  expect(await limits.take(rule, "a")).toEqual({ ok: true, limit: 3, remaining: 2, resetSeconds: 60 });
});
