import "../../server/node-version.ts";
import { table } from "../../server/commands/command.ts";
import { benchApi } from "./api.ts";
import { benchMerkle } from "./merkle.ts";
import { type BenchResult, benchSeal } from "./seal.ts";
import { benchStamp } from "./stamp.ts";

/** `npm run bench [-- seal|stamp|merkle|api]`: ratios first, each of two things measured in turns in this run. */
const all: Record<string, () => Promise<BenchResult[]>> = {
  seal: benchSeal,
  stamp: benchStamp,
  merkle: benchMerkle,
  api: benchApi,
};
const chosen = process.argv.slice(2).filter((name) => name in all);
const results: BenchResult[] = [];
for (const name of chosen.length > 0 ? chosen : Object.keys(all)) results.push(...((await all[name]?.()) ?? []));
console.log(
  table([
    ["RATIO", "TARGET", "WHAT", "FIGURES"],
    ...results.map(({ ratio, target, name, detail }) => [ratio.toFixed(2), target, name, detail]),
  ]),
);
process.exit(0);
