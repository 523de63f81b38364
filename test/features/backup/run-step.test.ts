import { spawnSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { loadConfig } from "../../../server/config.ts";
import { performBackup, performVerify } from "../../../server/features/backup/acts.ts";
import { endHelper, startHelper } from "../../../server/features/backup/helper-process.ts";
import { makeRecipient } from "../../../server/features/backup/recipient.ts";
import { runInProcess } from "../../../server/features/backup/run-step.ts";
import { beginBackup, listBackups } from "../../../server/features/backup/service.ts";
import { openTarget } from "../../../server/features/backup/target.ts";
import { StepLost } from "../../../server/features/backup/target-errors.ts";
import type { Deps } from "../../../server/kernel/deps.ts";
import { createLog } from "../../../server/kernel/log.ts";
import { systemActor } from "../../../server/kernel/wire.ts";
import { openDeps } from "../../../server/open-deps.ts";
import { children, endSteps, helpersOf } from "./helpers.ts";

/** The process of the steps of a backup, seen from the one that starts it: it cannot be started, is killed, or is told to end. */

const program = new URL("../../../server/features/backup/step-process.ts", import.meta.url);
const work = { told: () => undefined };
let home: string;
let deps: Deps;
let close: () => Promise<void>;
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "signet-step-"));
  await mkdir(path.join(home, "share"));
  const config = loadConfig({
    SIGNET_DATA_DIR: path.join(home, "data"),
    SIGNET_BACKUP_DIR: path.join(home, "share"),
    SIGNET_BACKUP_RECIPIENT: makeRecipient().recipient,
  });
  ({ deps, close } = await openDeps({ config, log: createLog("silent"), createKey: true }));
  await deps.blobs.put(Buffer.from("one"));
});
afterAll(async () => {
  await close();
  await rm(home, { recursive: true, force: true });
});

async function backUp() {
  const id = await deps.db.tx((tx) => beginBackup(tx, deps, { actor: systemActor, trigger: "operator" }));
  const ended = await performBackup(deps, id, work);
  await deps.db.tx(ended.commit);
  return ended;
}

/** The one that rests. */
async function resting(): Promise<number> {
  await endSteps();
  await runInProcess(seal());
  const [pid, ...others] = await helpersOf("step-process");
  if (pid === undefined || others.length > 0) throw new Error("there is another number of them than one");
  return pid;
}

/** What is started in the place of Node, until it is taken back. */
async function startingInstead(file: string): Promise<() => void> {
  await endSteps();
  const node = process.execPath;
  const back = () => {
    process.execPath = node;
  };
  onTestFinished(back);
  process.execPath = file;
  return back;
}

const seal = () =>
  ({
    step: "seal",
    from: Buffer.from("text"),
    to: path.join(home, `sealed-${Math.random()}`),
    key: Buffer.alloc(32),
  }) as const;

test("no signal opens a debugger to a process that works beside: it has the rights of the command that began it", async () => {
  await resting();
  const release = await openTarget(path.join(home, "share")).lock("shared");
  onTestFinished(release);
  for (const name of ["step-process", "lock-process"]) {
    const [pid] = await helpersOf(name);
    const words = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0");
    expect(words.slice(0, 2), name).toEqual([process.execPath, "--disable-sigusr1"]);
  }
});

test("one that is killed while it rests is no loss, also in the moment in which nobody has noticed", async () => {
  process.kill(await resting(), "SIGKILL");
  expect(await runInProcess(seal())).toMatchObject({ files: 1 });
  await resting();
  await endSteps();
  expect(await runInProcess(seal())).toMatchObject({ files: 1 });
});

test.each([
  ["cannot be started", null, /ENOENT/],
  ["is killed", "#!/bin/sh\nkill -KILL $$\n", /SIGKILL/],
])(
  "where the process of a step %s, the backup failed for that, and none is called damaged",
  async (_, script, said) => {
    const { id } = await backUp();
    const instead = path.join(home, "instead-of-node");
    await rm(instead, { force: true });
    if (script !== null) {
      await writeFile(instead, script);
      await chmod(instead, 0o700);
    }
    const back = await startingInstead(instead);
    const verify = performVerify(deps, { id, actor: systemActor }, work);
    await expect(verify).rejects.toThrow(StepLost);
    await expect(verify).rejects.toThrow(said);
    expect(await backUp()).toMatchObject({ ok: false, cause: expect.stringMatching(said) });
    back();
    expect((await listBackups(deps)).map(({ status }) => status)).not.toContain("damaged");
  },
);

test("where no file can be opened any more, that is what is said", () => {
  const modules = ["helper-process", "run-step"].map((name) =>
    JSON.stringify(new URL(`../../../server/features/backup/${name}.ts`, import.meta.url).href),
  );
  const code = `
    import { openSync } from "node:fs";
    import { runInProcess } from ${modules[1]};
    try { for (;;) openSync("/dev/null", "r"); } catch {}
    await runInProcess({ step: "seal", from: Buffer.alloc(1), to: "never", key: Buffer.alloc(32) })
      .catch((error) => console.log(error.name, error.message));
    process.exit(3);`;
  const args = ["-c", 'ulimit -n 64 && exec "$0" --input-type=module -e "$1"', process.execPath, code];
  const ended = spawnSync("sh", args, { encoding: "utf8" });
  expect(ended, ended.stderr).toMatchObject({ status: 3, stdout: expect.stringMatching(/^StepLost .*EMFILE/) });
});

test("the process knows neither the settings nor who waits for a word of the service, and holds none of its files", async () => {
  const secrets = { SIGNET_SMTP_URL: "smtp://user:secret@mail.example", NOTIFY_SOCKET: "/run/nobody" };
  for (const [name, value] of Object.entries(secrets)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const pid = await resting();
  const known = (await readFile(`/proc/${pid}/environ`, "utf8")).split("\0").map((pair) => pair.split("=")[0]);
  expect(known).toContain("PATH");
  for (const name of Object.keys(secrets)) expect(known).not.toContain(name);
  const open = await readdir(`/proc/${pid}/fd`);
  const held = await Promise.all(open.map((one) => readlink(`/proc/${pid}/fd/${one}`).catch(() => "")));
  expect(held.filter((file) => file.startsWith(home))).toEqual([]);
});

test("a step that is cancelled has ended with its process, also one that hears nothing", async () => {
  const pid = await resting();
  process.kill(pid, "SIGSTOP");
  const cancel = new AbortController();
  const order = seal();
  const step = runInProcess(order, { signal: cancel.signal });
  cancel.abort(new Error("not now"));
  await expect(step).rejects.toThrow("not now");
  expect(await children()).not.toContain(pid);
  await expect(readFile(order.to)).rejects.toThrow("ENOENT");
});

test("of a process that was ended and is still there somebody is told, and its end is waited for", async () => {
  const helper = startHelper(program, { args: [String(process.pid)] });
  const told: string[] = [];
  const ended = endHelper(helper, (message) => void told.push(message), 1);
  // As if it took so long: its time is over before anybody could hear of its end.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  await ended;
  expect(told).toEqual([expect.stringContaining("does not answer")]);
  expect(helper.child.signalCode).toBe("SIGKILL");
});
