import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { allCommands } from "../../server/cli.ts";
import { commandEntries, commandNames } from "../../server/commands/list.ts";
import { lockUpdates } from "../../server/features/update/lock.ts";

/** What people wait for at a prompt, and a service at each start, loads none of what the commands are made of. */

const checkout = path.resolve(import.meta.dirname, "../..");
let folder: string;
let root: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-quick-"));
  root = path.join(folder, "installed");
  const release = path.join(root, "releases/1.0.0");
  await mkdir(release, { recursive: true });
  await symlink("releases/1.0.0", path.join(root, "current"));
  // The program is found by where its file lies; what it imports may lie elsewhere.
  await writeFile(
    path.join(release, "main.ts"),
    `await import(${JSON.stringify(path.join(checkout, "server/main.ts"))});\n`,
  );
  // Says which files of the server were loaded.
  await writeFile(
    path.join(folder, "loaded.mjs"),
    `import { writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
const seen = [];
registerHooks({ load: (url, context, next) => (seen.push(url), next(url, context)) });
process.on("exit", () => writeFileSync(process.env.SIGNET_TEST_LOADED, JSON.stringify(seen)));
`,
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** @returns what it printed, and which of its files and packages it loaded */
async function signet(args: readonly string[], main = path.join(checkout, "server/main.ts")) {
  const list = path.join(folder, "loaded.json");
  const hook = path.join(folder, "loaded.mjs");
  const env = { PATH: "", SIGNET_DATA_DIR: path.join(folder, "data"), SIGNET_TEST_LOADED: list };
  const child = spawn(process.execPath, ["--import", hook, main, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  const loaded: string[] = JSON.parse(await readFile(list, "utf8"));
  const own = loaded.filter((url) => url.startsWith(`file://${checkout}/server/`));
  const packages = loaded.map((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]).filter(Boolean);
  return {
    code: child.exitCode,
    out,
    err,
    commands: own.flatMap((url) => /\/server\/commands\/(.+)\.ts$/.exec(url)?.[1] ?? []).sort(),
    hasDatabase: own.some((url) => url.includes("/kernel/db.ts")),
    packages: [...new Set(packages)].sort(),
  };
}

/** What the settings and the admin socket are read with. */
const light = { hasDatabase: false, packages: ["ipaddr.js", "zod"] };

test("the list and the commands agree", async () => {
  const commands = await allCommands();
  expect(commands.map(({ name }) => name)).toEqual(commandNames);
  for (const entry of commandEntries) {
    const command = commands.find(({ name }) => name === entry.name);
    expect(command).toMatchObject(entry);
    for (const option of entry.internal ?? []) expect(Object.keys(entry.options)).toContain(option);
  }
});

test("the overview and a mistyped command load no command", async () => {
  const help = await signet(["help"]);
  expect(help).toMatchObject({ code: 0, err: "", commands: ["command", "list"], ...light });
  for (const { name, summary } of commandEntries)
    expect(help.out).toMatch(new RegExp(`^ {2}${name} +${summary.replaceAll(/[.*+?^$()|[\]{}]/g, "\\$&")}$`, "m"));
  const mistyped = await signet(["statsu"]);
  expect(mistyped).toMatchObject({ code: 2, out: "", commands: ["command", "list"], ...light });
  expect(mistyped.err).toContain("did you mean signet status?");
  const asked = await signet(["help", "statsu"]);
  expect(asked).toMatchObject({ code: 2, out: "", err: mistyped.err, commands: ["command", "list"], ...light });
});

test("completion loads no command but itself, and offers no option that people are not told of", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { out, ...rest } = await signet(["completion", shell]);
    expect(rest).toMatchObject({ code: 0, err: "", commands: ["command", "completion", "list"], ...light });
    expect(out).toContain("accept-loss");
    expect(out).not.toContain("before-start");
    expect(out).not.toContain("snapshot");
  }
});

test("help is JSON when asked, of all and of one", async () => {
  expect(JSON.parse((await signet(["help", "--json"])).out).commands).toContainEqual(
    expect.objectContaining({ name: "status", summary: expect.any(String) }),
  );
  const one = await signet(["clock", "--help", "--json"]);
  expect((await signet(["help", "clock", "--json"])).out).toBe(one.out);
  expect([one.code, JSON.parse(one.out)]).toEqual([
    0,
    expect.objectContaining({
      name: "clock",
      usage: expect.any(Array),
      exitCodes: expect.objectContaining({ 0: "done" }),
    }),
  ]);
});

test("before a start with nothing to resume, nothing is said, and only the journal is looked at", async () => {
  const main = path.join(root, "current/main.ts");
  const beforeStart = (...more: string[]) => signet(["update", "resume", "--before-start", ...more], main);
  const silent = { code: 0, out: "", err: "", commands: ["command", "list", "update"], ...light };
  expect(await beforeStart()).toEqual(silent);
  expect(await beforeStart("--json")).toEqual(silent);

  const release = { version: "1.0.0", program: { node: process.execPath, main: "main.ts" } };
  const at = "2026-01-02T03:04:05.000Z";
  const ended = {
    v: 1,
    id: "upd_0123456789abcdef",
    kind: "update",
    phase: "done",
    startedAt: at,
    at,
    operator: "ada",
    file: null,
    manifestSha256: null,
    from: release,
    to: { ...release, version: "1.1.0" },
    dataDir: path.join(folder, "data"),
    snapshot: null,
    outcome: "applied",
    cause: null,
  };
  await mkdir(path.join(root, "update"), { recursive: true });
  const write = (change: object) =>
    writeFile(path.join(root, "update/journal.json"), JSON.stringify({ ...ended, ...change }));
  await write({});
  expect(await beforeStart()).toEqual(silent);

  // The update that is under way starts the service itself: it goes on alone.
  await write({ phase: "restarting", outcome: null });
  const unlock = await lockUpdates(root, path.join(folder, "data"));
  expect(await beforeStart()).toMatchObject({ code: 0, out: "", err: "" });
  await unlock?.();

  await writeFile(path.join(root, "update/journal.json"), "half a line");
  expect(await beforeStart("--json")).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^\{"error":.*\}\n$/),
    err: "",
  });
});
