import { expect, test } from "vitest";
import { crashScenario } from "./scenario.ts";

test("nothing is lost or doubled when the process is killed at each boundary and at 30 random instants", {
  timeout: 600_000,
}, async () => {
  const seed = Number(process.env.SIGNET_TEST_SEED ?? Date.now() % 1_000_000);
  console.log(`crash test, seed ${seed}`);
  const report = await crashScenario({ randomKills: 30, seed });
  expect(report.problems).toEqual([]);
  const struck = report.planned.filter((plan) => plan.struck);
  console.log(
    `${struck.length} of ${report.planned.length} planned kills struck, ${report.randomKills} at random, ${report.envelopes.length} envelopes sealed`,
  );
  // Each job's three boundaries are reached by every envelope; a transaction count may differ by one or two from run to run.
  const jobPlans = report.planned.filter(({ at }) => at.startsWith("job:"));
  expect(jobPlans.filter((plan) => !plan.struck)).toEqual([]);
  expect(jobPlans.length).toBeGreaterThanOrEqual(15);
  expect(struck.length).toBeGreaterThan(report.planned.length * 0.8);
});
