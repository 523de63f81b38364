import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

/** Judges, benchmarks and whole machines are made of the other folders' parts. */
const builtOfOthers = /^test\/(judges|bench|privileged|appliance)\//;

test("what several folders of tests use is in test/harness", () => {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" })
    .map((name) => path.posix.join("test", name))
    .filter((file) => file.endsWith(".ts") && !file.startsWith("test/fixtures/"));
  const seen: string[] = [];
  const misplaced: string[] = [];
  for (const file of files.filter((name) => !builtOfOthers.test(name))) {
    const folder = path.dirname(file);
    for (const [, specifier = ""] of readFileSync(file, "utf8").matchAll(
      /^(?:import|export|\}) .*from "(\.[^"]+)";$/gm,
    )) {
      const target = path.posix.join(folder, specifier);
      // Some tests hold source code in strings.
      if (!target.startsWith("test/") || !existsSync(target)) continue;
      seen.push(file);
      // A folder's helpers serve the folders inside it, too.
      const near = `${folder}/`.startsWith(`${path.dirname(target)}/`);
      if (!near && !target.startsWith("test/harness/")) misplaced.push(`${file} imports ${target}`);
    }
  }
  expect(new Set(seen).size).toBeGreaterThan(200);
  expect(misplaced).toEqual([]);
});
