import { expect, test } from "vitest";
import { crashScenario } from "./scenario.ts";

async function isWholeAfter(randomKills: number, everyNthTransaction: number): Promise<void> {
  const seed = Number(process.env.SIGNET_TEST_SEED ?? Date.now() % 1_000_000);
  console.log(`crash test, seed ${seed}`);
  const report = await crashScenario({ randomKills, seed, everyNthTransaction });
  expect(report.problems).toEqual([]);
  const struck = report.planned.filter((plan) => plan.struck);
  console.log(
    `${struck.length} of ${report.planned.length} planned kills struck, ${report.randomKills} at random, ${report.envelopes.length} envelopes sealed`,
  );
  // Each job's three boundaries are reached by every envelope; a transaction count may differ by one or two from run to run.
  const jobPlans = report.planned.filter(({ at }) => at.startsWith("job:"));
  expect(jobPlans.filter((plan) => !plan.struck)).toEqual([]);
  expect(jobPlans.length).toBeGreaterThanOrEqual(15);
  expect(report.planned.length).toBeGreaterThan(jobPlans.length);
  expect(struck.length).toBeGreaterThan(report.planned.length * 0.8);
}

test(
  "nothing is lost or doubled when the process is killed at each boundary of a job, at every 36th commit and at 2 random instants",
  {
    timeout: 600_000,
  },
  () => isWholeAfter(2, 36),
);

// Of `npm run test:long`: five minutes.
test.runIf(process.env.SIGNET_TEST_FULL === "1")(
  "nothing is lost or doubled when the process is killed at each boundary and at 30 random instants",
  { timeout: 1_200_000 },
  () => isWholeAfter(30, 1),
);
