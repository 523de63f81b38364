import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

/** A secret typed at a terminal, which util-linux's script plays. */

let folder: string;
let program: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-secret-"));
  program = path.join(folder, "ask.mjs");
  const module = path.resolve(import.meta.dirname, "../../server/commands/secret.ts");
  await writeFile(
    program,
    `import { readSecret } from ${JSON.stringify(module)};
    const streams = { stdin: process.stdin, stderr: (text) => process.stderr.write(text) };
    try {
      console.log("GOT " + Buffer.from(await readSecret(streams, "PIN")).toString("hex") + ".");
    } catch (error) {
      console.log("ENDED " + error.name + ".");
    }`,
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Everything that stands on the terminal after these keys, with what the shell says of its settings then. */
async function type(keys: string): Promise<string> {
  const line = `${process.execPath} --no-warnings ${program}; stty -a`;
  const child = spawn("script", ["-qec", line, "/dev/null"], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let shown = "";
  let typed = false;
  child.stdout.on("data", (data: Buffer) => {
    shown += data.toString("utf8");
    if (typed || !shown.includes("PIN (not shown): ")) return;
    typed = true;
    child.stdin.write(keys);
  });
  await ended;
  expect(shown).toMatch(/ echo /);
  expect(shown).toMatch(/ icanon /);
  return shown;
}

const hex = (text: string) => Buffer.from(text).toString("hex");

test("it is never shown, can be corrected, and the terminal is as before", { timeout: 60_000 }, async () => {
  const shown = await type("1234ü\u007f\u007f56\r");
  expect(shown).toContain(`GOT ${hex("12356")}.`);
  expect(shown).not.toMatch(/123/);
  expect(await type("wrong\u0015right\u0004")).toContain(`GOT ${hex("right")}.`);
});

test("Ctrl-C ends it, and so does Ctrl-D before a letter; the terminal is as before", { timeout: 60_000 }, async () => {
  const left = await type("1234\u0003");
  expect(left).toContain("ENDED SecretCancelled.");
  expect(left).not.toContain("1234");
  expect(await type("\u0004")).toContain("ENDED SecretCancelled.");
});
