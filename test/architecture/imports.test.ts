import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { z } from "zod";
import rules, { edges } from "./rules.mjs";

const Report = z.object({
  summary: z.object({
    totalCruised: z.int(),
    violations: z.array(z.object({ from: z.string(), to: z.string(), rule: z.object({ name: z.string() }) })),
  }),
  modules: z.array(z.object({ source: z.string() })),
});

/** How many files each rule looks at: those that may not import, and those that may not be imported. */
const seenFile = path.join(import.meta.dirname, "seen-files.json");
const Seen = z.record(z.string(), z.object({ from: z.int().positive(), to: z.int().positive() }));
/** Fewer than this part of them are no ordinary deletion. */
const stillThere = 0.8;

test("imports follow the architecture", async () => {
  const { stdout } = await promisify(execFile)(
    "node_modules/.bin/depcruise",
    [
      "--config",
      "test/architecture/rules.mjs",
      "--output-type",
      "json",
      "server",
      "workers",
      "apps",
      "locales",
      "scripts",
    ],
    { maxBuffer: 256 * 1024 * 1024 },
  ).catch((error: { stdout: string }) => error);
  const { summary, modules } = Report.parse(JSON.parse(stdout));
  // A cruiser that cannot read TypeScript sees no modules and finds nothing wrong with them.
  const sources = ["server", "workers", "apps", "locales", "scripts"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name)),
  );
  expect(summary.totalCruised).toBeGreaterThan(sources.length * 0.9);
  const files = modules.map(({ source }) => source);
  const seen = Object.fromEntries(
    rules.forbidden.map(({ name, from, to }) => [
      name,
      {
        from: files.filter((file) => matches(file, from.path, true) && !matches(file, from.pathNot, false)).length,
        to: files.filter((file) => matches(file, to.path, true)).length,
      },
    ]),
  );
  if (process.env.SIGNET_FREEZE === "1") writeFileSync(seenFile, `${JSON.stringify(seen, null, 2)}\n`);
  const known = Seen.parse(JSON.parse(readFileSync(seenFile, "utf8")));
  expect(Object.keys(seen).sort(), "SIGNET_FREEZE=1 writes the rules down").toEqual(Object.keys(known).sort());
  // A rule whose folders were moved away sees fewer files than before, or none, and is never broken.
  for (const [name, { from, to }] of Object.entries(known)) {
    expect(seen[name]?.from, name).toBeGreaterThanOrEqual(Math.max(1, Math.floor(from * stillThere)));
    expect(seen[name]?.to, `what ${name}`).toBeGreaterThanOrEqual(Math.max(1, Math.floor(to * stillThere)));
  }
  expect(readdirSync("server/features").sort()).toEqual(Object.keys(edges).sort());
  expect(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
});

const matches = (file: string, patterns: string | string[] | undefined, otherwise: boolean): boolean =>
  patterns === undefined
    ? otherwise
    : [patterns].flat().some((pattern) => new RegExp(pattern.replaceAll("$1", "[^/]+")).test(file));

/** Besides the doors of features, which say what others may use. */
test("there are no barrels", () => {
  const barrels = ["server", "workers", "apps", "locales"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter(
        (name) =>
          /\.tsx?$/.test(name) &&
          path.basename(name) !== "service.ts" &&
          isBarrel(readFileSync(path.join(folder, name), "utf8")),
      )
      .map((name) => path.join(folder, name)),
  );
  expect(barrels).toEqual([]);
});

/** Nothing but re-exports. */
function isBarrel(source: string): boolean {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, "").trim();
  return (
    code !== "" &&
    code.replaceAll(/export\s+(type\s+)?(\*|\{[^}]*\})(\s+as\s+\w+)?\s+from\s+"[^"]+";/g, "").trim() === ""
  );
}
