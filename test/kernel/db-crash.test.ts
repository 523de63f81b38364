import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lockDataFolder } from "../../server/kernel/data-lock.ts";
import { openTestDatabase, temporaryFolder } from "./open.ts";
import { listNotes } from "./tables.ts";

type Ended = { output: string; signal: string | undefined };

function run(script: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(import.meta.dirname, script), ...args], (error, output) => {
      resolve({ output, signal: error?.signal });
    });
  });
}

for (const [where, at] of [
  ["tx:before-commit", 1],
  ["tx:before-commit", 7],
  ["tx:after-commit", 7],
] as const) {
  test(`killed at ${where} number ${at}: what was acknowledged is there, nothing is there by halves`, async () => {
    const file = join(await temporaryFolder(), "crash.db");
    const { output, signal } = await run("crash-child.ts", [file, String(at), where]);
    expect(signal).toBe("SIGKILL");
    const db = await openTestDatabase({ file });
    const found = new Set((await listNotes.execute(db.read)).rows.map(({ text }) => text));
    for (const name of output.split("\n").filter(Boolean)) {
      expect(found).toContain(`${name} a`);
    }
    for (const text of found)
      expect(found).toContain(text.endsWith("a") ? text.replace(/a$/, "b") : text.replace(/b$/, "a"));
    // Killed after the commit and before the acknowledgement: durable all the same.
    if (where === "tx:after-commit") expect(found.size / 2).toBeGreaterThan(output.split("\n").filter(Boolean).length);
    expect(await db.check()).toEqual([]);
  });
}

test("only one process holds a data folder, and a killed one lets go", async () => {
  const folder = await temporaryFolder();
  const first = await lockDataFolder(folder);
  await expect(lockDataFolder(folder)).rejects.toThrow("already using the data folder");
  expect((await run("lock-child.ts", [folder])).output).toContain("already using");
  await first.release();
  const killed = await run("lock-child.ts", [folder, "die"]);
  expect(killed).toEqual({ output: "held\n", signal: "SIGKILL" });
  await (await lockDataFolder(folder)).release();
});
