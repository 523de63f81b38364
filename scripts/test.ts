import "../server/node-version.ts";
import path from "node:path";
import { inspect, parseArgs } from "node:util";
import { createVitest, startVitest, type TestModule } from "vitest/node";
import { compileCacheFolder } from "../server/kernel/compile-cache.ts";
import { makeKeyStock } from "../test/harness/key-stock.ts";
import { buildApps } from "./build-apps.ts";
import { countFiles, describeLeftOut, isComplete, leftOutOf, type Machine, whyFailed } from "./left-out.ts";
import { hiddenFromOthers, runInPublicPlace } from "./public-place.ts";
import { installMissing, testPrograms } from "./system-packages.ts";
import { maySecondTry, quickFolders } from "./test-groups.ts";

/**
 * `npm test [-- [--complete] [--quick] [--shuffle SEED] FILTER …]`: all but what `npm run test:long` runs; ends with one line that
 * counts the whole. Files that need what this machine lacks are left out, and listed before that line; they are a failure with
 * `--complete` only, which CI asks for. A run in which nothing passed is always one. `--quick` runs the quick folders,
 * `--shuffle` the files in a random order that the seed repeats.
 */

/** If more files than this would need a retry, it is no accident. */
const mostAgain = 5;
const processEnded = "its process ended before it did";

type Outcome = { file: string; passed: number; skipped: number; troubles: string[] };

/** Runs the files whose names match; `vitest.config.ts` says which of them share a process. */
async function run(filters: string[], leftOut: string[]): Promise<{ outcomes: Outcome[]; stray: string[] }> {
  const vitest = await startVitest("test", filters, { watch: false, run: true, cliExclude: leftOut });
  const outcomes = vitest.state.getTestModules().map(outcomeOf);
  // Of no test: a promise that nobody waited for, or a process that ended. The run names the file where it can tell.
  const stray: string[] = [];
  for (const error of vitest.state.getUnhandledErrors()) {
    const text = inspect(error);
    const outcome = outcomes.find(({ file }) => text.includes(file));
    (outcome?.troubles ?? stray).push(`unhandled: ${text}`);
  }
  await vitest.close();
  return { outcomes, stray };
}

function outcomeOf(module: TestModule): Outcome {
  const tests = [...module.children.allTests()];
  const count = (state: string) => tests.filter((test) => test.result().state === state).length;
  const troubles = tests.flatMap((test) =>
    (test.result().errors ?? []).map((error) => `${test.fullName}\n  ${error.stack ?? error.message}`),
  );
  // A file that could not even be collected has no tests to count, and is a failure all the same.
  troubles.push(...module.errors().map((error) => error.stack ?? error.message));
  if (!["passed", "failed", "skipped"].includes(module.state())) troubles.push(processEnded);
  return { file: module.moduleId, passed: count("passed"), skipped: count("skipped"), troubles };
}

/** Absolute paths of the test files whose names match. */
async function filesOf(filters: string[]): Promise<string[]> {
  const vitest = await createVitest("test", { watch: false, run: true });
  const found = await vitest.globTestSpecifications(filters);
  await vitest.close();
  return found.map(({ moduleId }) => moduleId);
}

const elsewhere = runInPublicPlace(import.meta.filename, process.argv.slice(2));
if (elsewhere !== null) process.exit(elsewhere);
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { complete: { type: "boolean" }, quick: { type: "boolean" }, shuffle: { type: "string" } },
});
const complete = options.complete === true;
if (options.shuffle !== undefined) process.env.SIGNET_TEST_SHUFFLE = options.shuffle;
const filters = options.quick ? [...quickFolders, ...positionals] : positionals;
// Each of hundreds of processes would compile the same packages again.
process.env.NODE_COMPILE_CACHE = compileCacheFolder;
makeKeyStock();
try {
  await buildApps();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
}
const machine: Machine = {
  missing: installMissing(testPrograms),
  isRoot: process.getuid?.() === 0,
  hidden: hiddenFromOthers(),
};
const leftOut = isComplete(machine) ? [] : leftOutOf(await filesOf(filters), machine);
const excluded = leftOut.map(({ file }) => file);
let { outcomes, stray } = await run(filters, excluded);
const broken = outcomes.filter(({ troubles }) => troubles.length > 0);
let again: Outcome[] = [];
// What fails among browsers and processes, or whose own process died, is tried once more, from its beginning and with little beside
// it, so that one accident in thousands of tests does not hide the rest. Each is named, with what went wrong, and is a defect to be
// found.
const accidents = broken.filter(({ file, troubles }) => maySecondTry(file) || troubles.includes(processEnded));
if (accidents.length > 0 && accidents.length <= mostAgain) {
  console.log(`\nOnce more: ${accidents.map(({ file }) => path.relative(".", file)).join(", ")}`);
  const second = await run(
    accidents.map(({ file }) => file),
    excluded,
  );
  again = second.outcomes;
  stray = [...stray, ...second.stray];
  outcomes = [...outcomes.filter((one) => !accidents.includes(one)), ...again];
}
const mended = accidents.filter(({ file }) => again.find((one) => one.file === file)?.troubles.length === 0);
for (const { file, troubles } of mended)
  console.log(`\nPassed on the second try only: ${path.relative(".", file)}\n${troubles.join("\n")}`);
const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0);
const [passed, skipped] = [sum((one) => one.passed), sum((one) => one.skipped)];
const failed = sum(({ troubles }) => troubles.length) + stray.length;
if (leftOut.length > 0) console.log(`\n${describeLeftOut(leftOut, machine)}`);
const why = whyFailed({ passed, failed, leftOut }, complete);
// The count says as much of tests that failed.
if (why !== null && failed === 0) console.error(`\nFailed: ${why}.`);
console.log(
  `\n${passed} passed, ${failed} failed${leftOut.length > 0 ? `, ${countFiles(leftOut)} left out` : ""}${skipped > 0 ? `, ${skipped} skipped` : ""}${mended.length > 0 ? `, ${mended.length} files on the second try` : ""}`,
);
process.exit(why === null ? 0 : 1);
