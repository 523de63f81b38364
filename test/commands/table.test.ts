import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allCommands } from "../../server/cli.ts";
import { exitCodesOf } from "../../server/commands/command.ts";
import { commandOn } from "../harness/cli.ts";

/** What holds for every command. */

const commands = await allCommands();

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-table-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(commands.map((command) => [command.name, command] as const))("signet %s", (name, command) => {
  test("says how it is called, with every option, verb and exit code", async () => {
    expect(command.summary).toMatch(/^[a-z].*[^.]$/);
    expect(command.usage[0]).toMatch(new RegExp(`^signet ${name}( |$)`));
    const { code, out } = await commandOn(folder)(name, "--help");
    expect(code).toBe(0);
    const usage = command.usage.join("\n");
    for (const option of Object.keys(command.options).filter((one) => !command.internal?.includes(one)))
      expect([name, usage]).toEqual([name, expect.stringContaining(`--${option}`)]);
    for (const verb of command.verbs ?? []) expect([name, usage]).toEqual([name, expect.stringContaining(verb)]);
    for (const [verb, more] of Object.entries(command.subverbs ?? {}))
      for (const one of more)
        expect([name, usage]).toEqual([name, expect.stringContaining(`signet ${name} ${verb} ${one}`)]);
    for (const [exit, meaning] of Object.entries(exitCodesOf(command)))
      expect(out).toMatch(new RegExp(`^ +${exit} +${meaning.replaceAll(/[.*+?^$()|[\]{}]/g, "\\$&")}$`, "m"));
    expect(out).toContain("--json");
    expect(await commandOn(folder)("help", name)).toMatchObject({ code: 0, out, err: "" });
  });

  test("refuses an option that it does not know with exit code 2, as JSON when asked", async () => {
    const signet = commandOn(folder);
    const plain = await signet(name, "--no-such-option");
    expect(plain).toMatchObject({ code: 2, out: "" });
    expect(plain.err).toContain(`signet ${name}: `);
    const asked = await signet(name, "--no-such-option", "--json");
    expect(asked).toMatchObject({ code: 2, err: "" });
    expect(asked.json()).toMatchObject({ error: expect.any(String) });
  });

  test("refuses a verb that it does not know", async () => {
    if (command.verbs === undefined) return;
    // The second and third are names that every object has.
    for (const verb of ["no-such-verb", "constructor", "__proto__"])
      expect([verb, await commandOn(folder)(name, verb)]).toMatchObject([verb, { code: 2, out: "" }]);
  });
});

test("the manual page has every command and prints without a warning", async () => {
  const { out } = await commandOn(folder)("man");
  for (const { name, summary } of commands) {
    expect(out).toContain(`.SS ${name.replaceAll("-", "\\-")}\n`);
    expect(out.replaceAll("\\-", "-")).toContain(summary.slice(1));
  }
  const { stdout, stderr, status } = spawnSync("groff", ["-man", "-Tutf8", "-ww"], { input: out });
  expect([stderr.toString(), status]).toEqual(["", 0]);
  expect(stdout.toString()).toContain("recover-owner");
});

test("bash completes commands, verbs and options; every shell's script names them all", async () => {
  const { out } = await commandOn(folder)("completion", "bash");
  const file = path.join(folder, "completion.bash");
  await writeFile(file, out);
  const complete = (...words: string[]) =>
    execFileSync("bash", [
      "-c",
      `source ${file}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _signet; echo "\${COMPREPLY[*]}"`,
      "bash",
      "signet",
      ...words,
    ])
      .toString()
      .trim();
  expect(complete("recover")).toBe("recover-owner");
  expect(complete("jobs", "re")).toBe("retry");
  expect(complete("jobs", "retry", "--a")).toBe("--all");
  expect(complete("tls", "acme", "ro")).toBe("rollover");
  expect(complete("tls", "show", "ro")).toBe("");
  expect(complete("jobs", "acme", "ro")).toBe("");
  for (const shell of ["zsh", "fish"]) {
    const script = (await commandOn(folder)("completion", shell)).out;
    for (const { name } of commands) expect([shell, script]).toEqual([shell, expect.stringContaining(name)]);
    expect([shell, script]).toEqual([shell, expect.stringContaining("rollover")]);
  }
});
