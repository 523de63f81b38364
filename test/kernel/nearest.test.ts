import { expect, test } from "vitest";
import { nearest } from "../../server/kernel/nearest.ts";

const names = ["status", "setup", "smtp", "serve", "SIGNET_PORT", "SIGNET_HOST", "tls"];

test.each([
  ["statsu", "status"],
  ["stats", "status"],
  ["SIGNET_PROT", "SIGNET_PORT"],
  ["SIGNET_HOTS", "SIGNET_HOST"],
  ["sttp", "smtp"],
  ["ls", "tls"],
  ["envelope", null],
  ["x", null],
  ["", null],
])("%s is near to %s", (typed, meant) => {
  expect(nearest(typed, names)).toBe(meant);
});
