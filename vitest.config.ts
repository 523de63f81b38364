import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Starts the longest first, so that it does not run alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = (file: TestSpecification) => file.moduleId.includes("/test/crash/");
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // They mount volumes and make network namespaces: only root may, and not in every container.
    exclude: process.env.SIGNET_TEST_FULL === "1" ? [] : ["test/privileged/**"],
    // Generous: a busy machine is no failure, and what hangs is told all the same.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // A second, the default, is no proof of anything on a busy machine.
    expect: { poll: { timeout: 15_000 } },
    // A browser on a loaded machine loses a press or a load now and then: what Playwright waited for in vain is tried once
    // more, and the report says so. Whatever else fails is wrong the first time.
    retry: { count: 1, condition: /Timeout \d+ms exceeded/ },
    maxWorkers: 2,
    pool: "forks",
    sequence: { sequencer: LongestFirst },
  },
});
