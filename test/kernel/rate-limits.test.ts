import { expect, test } from "vitest";
import { toTs } from "../../server/kernel/clock.ts";
import { openRateLimits, takeForClient } from "../../server/kernel/rate-limits.ts";

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

test("a client is its address, or the /64 of its address with ten times as much for the /48 around it", async () => {
  const { limits } = setUp();
  const ok = async (ip: string) => (await takeForClient(limits, rule, ip)).ok;
  for (const ip of ["2001:db8::1", "2001:db8::2", "2001:db8::ffff:1"]) expect(await ok(ip)).toBe(true);
  expect(await ok("2001:db8::3")).toBe(false);
  for (let network = 1; network <= 9; network++)
    for (let host = 0; host < 3; host++) expect(await ok(`2001:db8:0:${network}::${host}`)).toBe(true);
  expect(await ok("2001:db8:0:a::1")).toBe(false);
  expect(await ok("2001:db8:1::1")).toBe(true);
  for (let call = 0; call < 3; call++) expect(await ok("198.51.100.1")).toBe(true);
  expect(await ok("198.51.100.1")).toBe(false);
  expect(await ok("198.51.100.2")).toBe(true);
});

test("memory is bounded: the windows that began first are forgotten", async () => {
  const now = 1_000_000;
  const limits = openRateLimits({ clock: { now: () => now, ts: () => toTs(now) }, mostWindows: 5 });
  for (const key of ["a", "b", "c", "d", "e", "f"]) await limits.take(rule, key);
  expect((await limits.peek(rule, "a")).remaining).toBe(3);
  expect((await limits.peek(rule, "b")).remaining).toBe(2);
});
