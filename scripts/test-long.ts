import "../server/node-version.ts";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { crashScenario } from "../test/crash/scenario.ts";
import { upkeepScenario } from "../test/crash/upkeep-scenario.ts";
import { buildApps } from "./build-apps.ts";
import { runInPublicPlace } from "./public-place.ts";
import { ensureSystemPackages, longTestPrograms } from "./system-packages.ts";

/**
 * `npm run test:long [-- --kills N] [--sequences N] [--seed N]`: 5 000 random sequences of ordinary operations, every level of seal by every key on every kind of file before the judges, pages at the limits of what is read, every page in every appearance, updates and backups killed at every step, the Windows installer by wine, a full disk, the
 * main job in a network without a way out, then what follows a seal killed at every transaction, then the crash test at full count; says each step, so that a run can be followed.
 */
const elsewhere = runInPublicPlace(import.meta.filename, process.argv.slice(2));
if (elsewhere !== null) process.exit(elsewhere);
ensureSystemPackages();
ensureSystemPackages(longTestPrograms);
await buildApps();
const vitest = path.resolve(import.meta.dirname, "../node_modules/vitest/vitest.mjs");
const argument = (name: string, fallback: number) => {
  const index = process.argv.indexOf(`--${name}`);
  return index < 0 ? fallback : Number(process.argv[index + 1]);
};
const seed = argument("seed", Date.now() % 1_000_000);
const sequences = argument("sequences", 5000);
console.log(`seed ${seed}, ${sequences} random sequences of operations`);
const table = spawnSync(
  process.execPath,
  [
    vitest,
    "run",
    "test/workers/seal/judge-table.test.ts",
    "test/crash/crash.test.ts",
    "test/e2e/access.test.ts",
    "test/e2e/pseudo.test.ts",
    "test/e2e/templates.test.ts",
    "test/features/update",
    "test/features/backup",
    "test/packaging/windows.test.ts",
    "test/privileged",
    "test/features/evidence/operations.test.ts",
    "test/workers/stamp-endings.test.ts",
  ],
  {
    cwd: path.resolve(import.meta.dirname, ".."),
    env: {
      ...process.env,
      SIGNET_TEST_FULL: "1",
      SIGNET_TEST_SEED: String(seed),
      SIGNET_TEST_ROUNDS: String(sequences),
    },
    stdio: "inherit",
  },
);
const judged = table.status === 0;
const upkeep = await upkeepScenario(console.log);
for (const problem of upkeep.problems) console.log(problem);
const { jobs: jobKills, transactions } = upkeep;
console.log(
  `${jobKills.struck} of ${jobKills.planned} kills struck behind the seal, and ${transactions.examined} of ${transactions.boundaries} boundaries of transactions were gone on from`,
);
const randomKills = argument("kills", 500);
console.log(`seed ${seed}, ${randomKills} random kills`);
const report = await crashScenario({ randomKills, seed, say: console.log });
for (const problem of report.problems) console.log(problem);
console.log(
  `${report.envelopes.length} envelopes sealed, ${report.planned.filter(({ struck }) => struck).length} planned and ${report.randomKills} random kills`,
);
const upkept = upkeep.problems.length === 0 && jobKills.struck === jobKills.planned;
const failed = [judged, upkept, report.problems.length === 0].filter((well) => !well).length;
console.log(`${3 - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
