import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { z } from "zod";

const Report = z.object({
  summary: z.object({
    totalCruised: z.int(),
    violations: z.array(z.object({ from: z.string(), to: z.string(), rule: z.object({ name: z.string() }) })),
  }),
});

test("imports follow the architecture", { timeout: 120_000 }, async () => {
  const { stdout } = await promisify(execFile)(
    "node_modules/.bin/depcruise",
    ["--config", "test/architecture/rules.mjs", "--output-type", "json", "server", "workers", "apps", "scripts"],
    { maxBuffer: 256 * 1024 * 1024 },
  ).catch((error: { stdout: string }) => error);
  const { summary } = Report.parse(JSON.parse(stdout));
  // A cruiser that cannot read TypeScript sees no modules and finds nothing wrong with them.
  const sources = ["server", "workers", "apps", "scripts"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name)),
  );
  expect(summary.totalCruised).toBeGreaterThan(sources.length * 0.9);
  expect(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
});

test("there are no barrels", () => {
  const barrels = ["server", "workers", "apps"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name) && isBarrel(readFileSync(path.join(folder, name), "utf8")))
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
