import { fork, spawnSync } from "node:child_process";
import { on } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../../server/config.ts";
import { createActivity } from "../../../server/features/backup/activity.ts";
import { performBackup, performVerify } from "../../../server/features/backup/acts.ts";
import { makeRecipient } from "../../../server/features/backup/recipient.ts";
import {
  beginBackup,
  listBackups,
  readBackupState,
  scheduleBackup,
  startDrill,
} from "../../../server/features/backup/service.ts";
import { openTarget } from "../../../server/features/backup/target.ts";
import { TargetSilent } from "../../../server/features/backup/target-errors.ts";
import { holdFileLock } from "../../../server/kernel/db.ts";
import type { Deps } from "../../../server/kernel/deps.ts";
import { createLog } from "../../../server/kernel/log.ts";
import { systemActor } from "../../../server/kernel/wire.ts";
import { openDeps } from "../../../server/open-deps.ts";
import { forbid } from "../../harness/another-user.ts";
import { endSteps, helpersOf } from "./helpers.ts";

/** A share that is gone ends no call. It holds up no more than what asks for it, which is told so. */

const work = { told: () => undefined };
const idle = { current: () => null, expect: () => undefined };
/** How many calls a process can have under way before the next one waits, and more. */
const many = 6;
let home: string;
let share: string;
let deps: Deps;
let close: () => Promise<void>;
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "signet-silent-"));
  share = path.join(home, "share");
  await mkdir(share);
  const config = loadConfig({
    SIGNET_DATA_DIR: path.join(home, "data"),
    SIGNET_BACKUP_DIR: share,
    SIGNET_BACKUP_RECIPIENT: makeRecipient().recipient,
  });
  ({ deps, close } = await openDeps({ config, log: createLog("silent"), createKey: true }));
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

async function only(program: string): Promise<number> {
  const [pid, ...more] = await helpersOf(program);
  if (pid === undefined || more.length > 0) throw new Error(`there is another number of ${program} than one`);
  return pid;
}

/** SQLite looks whether a journal has to be rolled back: a pipe in its place is opened and never answers. */
async function lockNeverAnswers(): Promise<void> {
  const lock = path.join(share, "lock.db");
  await rm(lock, { force: true });
  const table = [
    "-e",
    `const { DatabaseSync } = require("node:sqlite"); new DatabaseSync(process.argv[1]).exec("CREATE TABLE t (a)")`,
  ];
  expect(spawnSync(process.execPath, [...table, lock]).status).toBe(0);
  expect(spawnSync("mkfifo", [`${lock}-journal`]).status).toBe(0);
  onTestFinished(async () => {
    await rm(`${lock}-journal`, { force: true });
    await rm(lock, { force: true });
  });
}

// Of `npm run test:long`: it waits for more than a minute.
test.runIf(process.env.SIGNET_TEST_FULL === "1")(
  "a lock that never answers leaves this process its files, fails the backup with the cause, and ends no row of somebody else",
  async () => {
    await backUp();
    await lockNeverAnswers();
    const target = openTarget(share);
    const locks = Promise.allSettled(Array.from({ length: many }, () => target.lock("shared")));
    const stale = await deps.db.tx((tx) => beginBackup(tx, deps, { actor: systemActor, trigger: "operator" }));
    const planned = scheduleBackup(deps, idle);
    const verified = expect(performVerify(deps, { id: undefined, actor: systemActor }, work)).rejects.toThrow(
      TargetSilent,
    );
    await expect.poll(async () => (await helpersOf("lock-process")).length, { timeout: 25_000 }).toBe(many + 2);
    // A hanging call more than there are threads, and no file could be read here.
    expect(await readFile(import.meta.filename, "utf8")).toContain("A hanging call");

    for (const lock of await locks)
      expect(lock).toMatchObject({ status: "rejected", reason: expect.any(TargetSilent) });
    await verified;
    await planned;
    expect((await readBackupState(deps, idle)).last).toMatchObject({ id: stale, status: "running" });
    expect(await backUp()).toMatchObject({
      ok: false,
      cause: expect.stringContaining(`${share} has not answered for 30 s`),
    });
    await expect.poll(() => helpersOf("lock-process"), { timeout: 60_000 }).toEqual([]);
  },
  300_000,
);

test("who asks for the backups of such a share is told so, and asks again once it is back", async () => {
  const target = openTarget(share);
  const before = await target.ids();
  // Whatever it is asked next it does not hear, as if it waited in a call.
  const pid = await only("step-process");
  process.kill(pid, "SIGSTOP");
  await expect(listBackups(deps)).rejects.toThrow(`${share} has not answered`);
  expect(await target.ids()).toEqual(before);
  await expect.poll(async () => await helpersOf("step-process"), { timeout: 60_000 }).not.toContain(pid);
}, 300_000);

test("the lock is taken back with its process, and whoever works under it ends", async () => {
  const lost = new AbortController();
  const release = await openTarget(share).lock("exclusive", lost);
  const pid = await only("lock-process");
  process.kill(pid, "SIGKILL");
  await expect.poll(() => lost.signal.aborted, { timeout: 60_000 }).toBe(true);
  expect(String(lost.signal.reason)).toContain("the lock of");
  await release();

  const held = new AbortController();
  await (await openTarget(share).lock("exclusive", held))();
  expect(held.signal.aborted).toBe(false);
});

test("the lock stays with its process, whatever is collected there meanwhile", async () => {
  const folder = path.join(home, "collected");
  await mkdir(folder);
  const collect = "setInterval(() => { gc(); process.send({ collected: true }); }, 10)";
  const holder = fork(path.join(import.meta.dirname, "../../../server/features/backup/lock-process.ts"), {
    execArgv: ["--expose-gc", "--import", `data:text/javascript,${encodeURIComponent(collect)}`],
  });
  onTestFinished(() => void holder.kill("SIGKILL"));
  const said = on(holder, "message");
  holder.send({ folder, mode: "exclusive" });
  let collections = 0;
  let held = false;
  for await (const [message] of said) {
    held ||= "held" in message;
    if (held && "collected" in message) collections += 1;
    if (collections === 20) break;
  }
  expect(await holdFileLock(path.join(folder, "lock.db"))).toBeNull();
}, 60_000);

test("a manifest that cannot be read is not called damaged; one that is missing is", async () => {
  const { id } = await backUp();
  const manifest = path.join(share, "backups", id, "manifest.json");
  const shown = async () => (await listBackups(deps)).find((one) => one.id === id);
  expect(await shown()).toMatchObject({ status: "verified", cause: null });
  await rm(manifest);
  expect(await shown()).toMatchObject({ status: "damaged", cause: "Its manifest is missing or damaged." });

  await forbidding(path.dirname(manifest), async () => {
    const found = await shown();
    expect(found).toMatchObject({ status: "verified", createdAt: null });
    expect(found?.cause).toMatch(/^Its manifest cannot be read: .*chown -R \d+:\d+ /);
  });
});

/** This process may not read the folder for as long as this takes, and neither may the process of the steps. */
async function forbidding(folder: string, perform: () => Promise<void>): Promise<void> {
  await chmod(home, 0o755);
  for (const open of [share, path.join(share, "backups")]) await chmod(open, 0o755);
  await endSteps();
  const allow = forbid(folder);
  try {
    await perform();
  } finally {
    allow();
    await endSteps();
  }
}

test("no drill is begun where the folder cannot be asked for a backup", async () => {
  const { backupDir: _, ...config } = deps.config;
  const gone = { ...deps, config: { ...config, backupDir: path.join(home, "gone") } };
  await expect(startDrill(gone, createActivity(), systemActor, undefined)).rejects.toMatchObject({ code: "not-found" });
});
