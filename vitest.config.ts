import { hash } from "node:crypto";
import { existsSync, globSync } from "node:fs";
import path from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { sharing } from "./scripts/test-groups.ts";

/** Each takes a minute or more: started first, so that none runs alone at the end. */
const longest = ["test/crash/", "test/e2e/access", "test/features/update/", "test/features/backup/", "test/e2e/"];

/** Of `npm test -- --shuffle SEED`. */
const seed = process.env.SIGNET_TEST_SHUFFLE;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    if (seed !== undefined) {
      const place = ({ moduleId }: TestSpecification) => hash("sha1", seed + moduleId);
      return files.sort((a, b) => order(a) - order(b) || place(a).localeCompare(place(b)));
    }
    const rank = ({ moduleId }: TestSpecification) => {
      const place = longest.findIndex((part) => moduleId.includes(part));
      return place < 0 ? longest.length : place;
    };
    const sorted = await super.sort(files);
    // A shared process ends when a file that wants its own comes between.
    return sorted.sort((a, b) => order(a) - order(b) || rank(a) - rank(b));
  }
}

const groups = ["own process", ...Object.keys(sharing.groups).map((group) => `shared, ${group}`)];
const order = ({ project }: TestSpecification) => groups.indexOf(project.name);

const shared: Record<string, string[]> = {};
const taken = new Set(sharing.except);
for (const [group, folders] of Object.entries(sharing.groups)) {
  const found = folders.flatMap((folder) => {
    const files = globSync(`${folder}/**/*.test.ts`, { cwd: import.meta.dirname });
    if (files.length === 0) throw new Error(`scripts/test-groups.ts: there is no test in ${folder}`);
    return files;
  });
  shared[group] = found.filter((file) => !taken.has(file));
  for (const file of found) taken.add(file);
}
for (const file of sharing.except) {
  if (!existsSync(path.join(import.meta.dirname, file))) throw new Error(`scripts/test-groups.ts: there is no ${file}`);
}

// They mount volumes and make network namespaces (only root may, and not in every container), or take a quarter of an hour.
const long =
  process.env.SIGNET_TEST_FULL === "1" ? [] : ["test/privileged/**", "test/features/update/restoring.test.ts"];

export default defineConfig({
  test: {
    // Generous: a busy machine is no failure, and what hangs is told all the same.
    // A single wait of a browser ends after 100 s and says what for, so a test has more.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // A second, the default, is no proof of anything on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    setupFiles: ["test/harness/setup.ts"],
    // One more than two cores: the third works while another waits for a browser or a killed process.
    maxWorkers: 3,
    pool: "forks",
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "own process",
          include: ["test/**/*.test.ts"],
          exclude: [...Object.values(shared).flat(), ...long],
          isolate: true,
        },
      },
      ...Object.entries(shared).map(([group, files]) => ({
        extends: true as const,
        test: { name: `shared, ${group}`, include: files, isolate: false },
      })),
    ],
  },
});
