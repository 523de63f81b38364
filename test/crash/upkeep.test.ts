import { expect, test } from "vitest";
import { prepareUpkeep } from "./upkeep-scenario.ts";

test("raising, renewing, deleting and stamping anchors are done once each, whatever instant the process is killed at", {
  timeout: 600_000,
}, async () => {
  const upkeep = await prepareUpkeep();
  try {
    // Each child dies at the first of these at which none died before. `npm run test:long` does so at all, transactions too.
    const points = [
      "job:evidence.raise:committed",
      "job:evidence.renew:effect-done",
      "job:evidence.extend:effect-done",
      "job:evidence.anchor:committed",
      "job:evidence.stamp-anchor:effect-done",
      "job:retention.run:effect-done",
    ];
    const { struck, problems } = await upkeep.run({ points }, points.length);
    expect(problems).toEqual([]);
    expect(struck.sort()).toEqual(points.sort());
  } finally {
    await upkeep.close();
  }
});
