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
    // They mount volumes and make network namespaces (only root may, and not in every container), or take a quarter of an hour.
    exclude:
      process.env.SIGNET_TEST_FULL === "1" ? [] : ["test/privileged/**", "test/features/update/restoring.test.ts"],
    // Generous: a busy machine is no failure, and what hangs is told all the same.
    // A single wait of a browser ends after 100 s and says what for, so a test has more.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // A second, the default, is no proof of anything on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 2,
    pool: "forks",
    sequence: { sequencer: LongestFirst },
  },
});
