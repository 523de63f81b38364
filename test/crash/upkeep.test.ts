import { expect, test } from "vitest";
import { prepareUpkeep, upkeepScenario } from "./upkeep-scenario.ts";

test("raising, renewing, deleting and stamping anchors are done once each, whatever instant the process is killed at", {
  timeout: 600_000,
}, async () => {
  const upkeep = await prepareUpkeep();
  try {
    // Each child dies at the first of these at which none died before; the test below does so at all.
    const points = ["job:evidence.renew:effect-done", "job:evidence.anchor:committed", "job:retention.run:effect-done"];
    const { struck, problems } = await upkeep.run(points);
    expect(problems).toEqual([]);
    expect(struck.sort()).toEqual(points.sort());
  } finally {
    await upkeep.close();
  }
});

test.runIf(process.env.SIGNET_TEST_FULL === "1")(
  "and before and after every commit, and at every boundary of a job",
  {
    timeout: 2_400_000,
  },
  async () => {
    const { problems, jobs, transactions } = await upkeepScenario(console.log);
    expect(problems).toEqual([]);
    expect(jobs).toEqual({ planned: 18, struck: 18 });
    // Both sides of some thirty commits; how many share one differs from run to run.
    expect(transactions.boundaries).toBeGreaterThanOrEqual(40);
    expect(transactions.examined).toBe(transactions.boundaries);
  },
);
