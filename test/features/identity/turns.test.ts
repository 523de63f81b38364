import { expect, test } from "vitest";
import { createTurns, type TurnLimits } from "../../../server/features/identity/turns.ts";
import { AppError } from "../../../server/kernel/errors.ts";

/** Work that goes on until `finish` is called, for each client in the order in which it was begun. */
function office(limits: TurnLimits) {
  const inTurn = createTurns(limits);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const refused: string[] = [];
  const come = (ip: string | null) =>
    inTurn(ip, () => {
      begun.push(String(ip));
      return new Promise<void>((resolve) => ends.push(resolve));
    }).catch((error: unknown) => {
      refused.push(`${ip} ${error instanceof AppError ? `${error.code} ${error.options.retryAfter}` : error}`);
    });
  const all: Promise<void>[] = [];
  return {
    begun,
    refused,
    async send(ip: string | null, count = 1) {
      for (let call = 0; call < count; call++) all.push(come(ip));
      await new Promise((resolve) => setImmediate(resolve));
    },
    async finish() {
      while (ends.length > 0) {
        ends.shift()?.();
        await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all(all);
    },
  };
}

const limits = { atOnce: 2, waiting: 12, ofNetwork: 4, around: 6 };

test("what waits of one client is bounded, by 429", async () => {
  const { send, finish, begun, refused } = office(limits);
  await send("198.51.100.1", 9);
  expect(begun).toHaveLength(2);
  expect(refused).toEqual([
    "198.51.100.1 rate-limited 2",
    "198.51.100.1 rate-limited 2",
    "198.51.100.1 rate-limited 2",
  ]);
  await finish();
  expect(begun).toHaveLength(6);
});

test("a client of IPv6 is its /64, and the /48 around it has a bound too", async () => {
  const { send, finish, begun, refused } = office(limits);
  for (let host = 0; host < 7; host++) await send(`2001:db8::${host}`);
  expect(refused).toEqual(["2001:db8::6 rate-limited 2"]);
  for (let net = 1; net < 4; net++) await send(`2001:db8:0:${net}::1`);
  expect(refused.slice(1)).toEqual(["2001:db8:0:3::1 rate-limited 2"]);
  await finish();
  expect(begun).toHaveLength(8);
});

test("whoever sends one is not behind the many of another", async () => {
  const { send, finish, begun } = office(limits);
  await send("203.0.113.1", 6);
  await send("203.0.113.2", 3);
  await send("198.51.100.77");
  await finish();
  expect(begun.slice(2, 5)).toEqual(["203.0.113.1", "203.0.113.2", "198.51.100.77"]);
});

test("when nobody can wait any more, whoever has most waiting loses a place to who has none", async () => {
  const { send, finish, begun, refused } = office(limits);
  for (let net = 1; net <= 3; net++) await send(`203.0.113.${net}`, net === 1 ? 6 : 4);
  await send("198.51.100.77");
  // Of three with as many, the one that came last.
  expect(refused).toEqual(["203.0.113.3 rate-limited 2"]);
  await finish();
  expect(begun).toContain("198.51.100.77");
  expect(begun).toHaveLength(14);
});

test("whoever has a /48 takes no place of others by sending from many networks of it", async () => {
  const { send, finish, begun, refused } = office(limits);
  for (let net = 0; net < 8; net++) await send(`2001:db8:1:${net}::1`);
  for (let net = 0; net < 6; net++) await send(`2001:db8:2:${net}::1`);
  expect(refused).toEqual([]);
  const people = ["192.0.2.5", "198.51.100.7", "2001:db8:3::1", "203.0.113.9"];
  for (const ip of people) await send(ip);
  expect(refused).toEqual([5, 7, 4, 6].map((net, at) => `2001:db8:${2 - (at % 2)}:${net}::1 rate-limited 2`));
  // With one more this /48 would be the most crowded one.
  await send("2001:db8:1:9::1");
  expect(refused.slice(4)).toEqual(["2001:db8:1:9::1 rate-limited 2"]);
  await finish();
  expect(begun).toEqual(expect.arrayContaining(people));
  expect(begun).toHaveLength(14);
});

test("in a /48 with most waiting, the network with most of it loses a place", async () => {
  const { send, finish, begun, refused } = office(limits);
  await send("192.0.2.1", 2);
  for (const net of [1, 2, 2, 3]) await send(`2001:db8:1:${net}::1`);
  await send("192.0.2.2", 4);
  await send("192.0.2.3", 4);
  await send("2001:db8:1:4::1");
  expect(refused).toEqual(["2001:db8:1:2::1 rate-limited 2"]);
  await finish();
  expect(begun).toHaveLength(14);
});

test("only when each of all has its one place is somebody told that the service is busy", async () => {
  const { send, finish, begun, refused } = office(limits);
  for (let net = 1; net <= 15; net++) await send(`203.0.113.${net}`);
  expect(refused).toEqual(["203.0.113.15 service-unavailable 5"]);
  await finish();
  expect(begun).toHaveLength(14);
});

test("work that fails gives its turn on", async () => {
  const inTurn = createTurns({ ...limits, atOnce: 1 });
  const failing = inTurn("198.51.100.1", () => Promise.reject(new Error("broken")));
  const next = inTurn("198.51.100.1", async () => "done");
  await expect(failing).rejects.toThrow("broken");
  expect(await next).toBe("done");
});
