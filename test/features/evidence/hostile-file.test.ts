import { afterAll, expect, test } from "vitest";
import { verifyFile } from "../../../server/features/evidence/verify-file.ts";
import { systemClock } from "../../../server/kernel/clock.ts";
import { openPool, type Pool } from "../../../server/kernel/pool.ts";

/** A file that ends the thread which reads it, or keeps it busy for ever, is refused like any other that does not hold. */

const ending = openPool({ threads: 1, file: new URL("../../kernel/pool-worker.ts", import.meta.url) });
afterAll(() => ending.close());

/** Its stand-in worker reads `act` where the product's reads a document. */
const acting = (act: string, timeoutMs: number): Pool => ({
  ...ending,
  run: (task, input) => ending.run(task, Object.assign({ act }, input), { timeoutMs }),
});
const nobody = {
  lookUp: async (sha256: string) =>
    ({ status: "unknown", sha256, envelope: null, leaf: null, proof: null, anchor: null }) as const,
  keys: [],
  authorities: { seals: [], timestamps: [] },
};
const pins = { kids: [], certificates: [] };

test.each([
  ["ends its thread", "exit", 20_000],
  ["fails in its thread", "throw", 20_000],
  ["never ends", "spin", 200],
])("a file that %s is invalid, with its hash, and a reason", async (_, act, timeoutMs) => {
  const deps = { pool: acting(act, timeoutMs), clock: systemClock };
  const report = await verifyFile(deps, Buffer.from("hello"), nobody, pins);
  expect(report).toMatchObject({
    verdict: "invalid",
    exitCode: 1,
    sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
    size: 5,
  });
  expect(report.causes).toContain("too-complex");
  expect(report.problems).toContain("The PDF is too complex to be checked.");
});
