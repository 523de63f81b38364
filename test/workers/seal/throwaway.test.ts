import { expect, test } from "vitest";
import { throwawayKeys } from "../../../workers/seal/throwaway.ts";

test("each trial has keys of its own, so that a thread holds none between uploads", () => {
  const all = [throwawayKeys(), throwawayKeys()].flatMap(({ seal, timestamp }) => [seal, timestamp]);
  const pems = all.map(({ privateKey }) => privateKey.export({ type: "pkcs8", format: "pem" }));
  expect(new Set(pems).size).toBe(4);
});
