import "../server/node-version.ts";
import { startVitest } from "vitest/node";
import { buildApps } from "./build-apps.ts";
import { ensureSystemPackages } from "./system-packages.ts";

/** `npm test [-- FILTER …]`: everything that fits into 30 minutes; ends with one line that counts the whole. */
try {
  ensureSystemPackages();
  await buildApps();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
}
const vitest = await startVitest("test", process.argv.slice(2), { watch: false, run: true });
const tests = vitest.state.getTestModules().flatMap((module) => [...module.children.allTests()]);
const count = (state: string) => tests.filter((test) => test.result().state === state).length;
// A file that could not even be collected has no tests to count, and is a failure all the same.
const brokenFiles = vitest.state.getTestModules().filter((module) => module.errors().length > 0).length;
const failed = count("failed") + brokenFiles + (vitest.state.getUnhandledErrors().length > 0 ? 1 : 0);
const skipped = count("skipped");
const flaky = tests.filter((test) => test.diagnostic()?.flaky === true);
await vitest.close();
for (const test of flaky) {
  console.log(`\nPassed on the second try only: ${test.module.relativeModuleId} > ${test.fullName}`);
  for (const error of test.result().errors ?? []) console.log(`  ${error.stack ?? error.message}`);
}
console.log(
  `\n${count("passed")} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}${flaky.length > 0 ? `, ${flaky.length} on the second try` : ""}`,
);
process.exit(failed > 0 || count("passed") === 0 ? 1 : 0);
