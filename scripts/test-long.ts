import "../server/node-version.ts";
import { crashScenario } from "../test/crash/scenario.ts";
import { ensureSystemPackages } from "./system-packages.ts";

/** `npm run test:long [-- --kills N] [--seed N]`: the crash test at full count; says each step, so that a run can be followed. */
ensureSystemPackages();
const argument = (name: string, fallback: number) => {
  const index = process.argv.indexOf(`--${name}`);
  return index < 0 ? fallback : Number(process.argv[index + 1]);
};
const seed = argument("seed", Date.now() % 1_000_000);
const randomKills = argument("kills", 500);
console.log(`seed ${seed}, ${randomKills} random kills`);
const report = await crashScenario({ randomKills, seed, say: console.log });
for (const problem of report.problems) console.log(problem);
console.log(
  `${report.envelopes.length} envelopes sealed, ${report.planned.filter(({ struck }) => struck).length} planned and ${report.randomKills} random kills`,
);
console.log(`${report.problems.length === 0 ? 1 : 0} passed, ${report.problems.length === 0 ? 0 : 1} failed`);
process.exit(report.problems.length === 0 ? 0 : 1);
