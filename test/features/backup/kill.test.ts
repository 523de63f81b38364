import { fork, spawnSync } from "node:child_process";
import { on, once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../../server/config.ts";
import { makeRecipient } from "../../../server/features/backup/recipient.ts";
import { fsck } from "../../../server/features/evidence/fsck/fsck.ts";
import { holdFileLock } from "../../../server/kernel/db.ts";
import { createLog } from "../../../server/kernel/log.ts";
import { openDeps } from "../../../server/open-deps.ts";
import { signet as run } from "../../harness/cli.ts";

/** SIGKILL behind and in the middle of each step of a backup and of a restore: before it there is no new backup, after it a whole one. */

const { recipient, secret } = makeRecipient();
let home: string;
let share: string;
let keyFile: string;
let env: Record<string, string>;
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "signet-backup-kill-"));
  share = path.join(home, "share");
  keyFile = path.join(home, "key");
  await mkdir(share);
  await writeFile(keyFile, secret);
  env = {
    SIGNET_DATA_DIR: path.join(home, "data"),
    SIGNET_LOG_LEVEL: "silent",
    SIGNET_BACKUP_DIR: share,
    SIGNET_BACKUP_RECIPIENT: recipient,
    SIGNET_BACKUP_KEEP: "last=3",
  };
  const { deps, close } = await openDeps({ config: loadConfig(env), log: createLog("silent"), createKey: true });
  for (const text of ["one", "two", "three"]) await deps.blobs.put(Buffer.from(text));
  await close();
});
afterAll(() => rm(home, { recursive: true, force: true }));

const signet = (args: string[], own = env) => run(args, own);

const child = path.join(import.meta.dirname, "backup-child.ts");
function dies(args: string[], own = env): void {
  const { PATH = "" } = process.env;
  const ended = spawnSync(process.execPath, [child, ...args], { env: { PATH, ...own }, stdio: "pipe" });
  expect(ended.signal, ended.stderr.toString()).toBe("SIGKILL");
}
const complete = async () =>
  (await readdir(path.join(share, "backups")).catch(() => [])).filter((name) => /^\d/.test(name));

/** All of them with SIGNET_TEST_FULL=1. */
const full = process.env.SIGNET_TEST_FULL === "1";
/** How many are there more; null when all but the newest were removed and their files were not yet. */
const backupPoints: [string, number | null][] = [
  ["while database", 0],
  ["database", 0],
  ["while blobs", 0],
  ["blobs", 0],
  ["manifest", 0],
  ["while verify", 1],
  ["removed", null],
  ["complete", 1],
];

test.each(full ? backupPoints : backupPoints.slice(-1))(
  "a death at '%s' leaves complete backups only, and the next one is whole",
  async (point, more) => {
    const before = (await complete()).length;
    dies(["backup", point], more === null ? { ...env, SIGNET_BACKUP_KEEP: "last=1" } : env);
    expect(await complete()).toHaveLength(more === null ? 1 : before + more);
    expect(await signet(["backup"])).toMatchObject({ code: 0 });
    for (const id of await complete()) expect(await signet(["backup", "verify", id])).toMatchObject({ code: 0 });
    expect((await readdir(path.join(share, "backups"))).filter((name) => name.startsWith("."))).toEqual([]);
  },
);

test.each(full ? ["begun", "while restore", "blobs", "while database", "database", "placed"] : ["placed"])(
  "a restore that died at '%s' is refused by a server, and ended by the same call",
  async (point) => {
    const to = path.join(home, `to-${point.replaceAll(" ", "-")}`);
    const own = { SIGNET_DATA_DIR: to, SIGNET_LOG_LEVEL: "silent" };
    dies(["restore", point, secret, share], own);
    const config = loadConfig(own);
    // Also where the master key lies elsewhere, and would open the half of the data.
    for (const key of [{}, { SIGNET_MASTER_KEY_FILE: path.join(home, "data", "master.key") }]) {
      const served = openDeps({ config: loadConfig({ ...own, ...key }), log: createLog("silent"), createKey: true });
      await expect(served).rejects.toThrow(/restore into .* was interrupted/);
    }
    const ended = await signet(["restore", "--from", share, "--key", keyFile, "--json"], own);
    expect(ended, ended.out).toMatchObject({ code: 0 });
    const { deps, close } = await openDeps({ config, log: createLog("silent") });
    expect(await fsck(deps)).toMatchObject({ ok: true, checked: { blobs: 3 } });
    await close();
    expect(await readdir(to)).not.toContain("restore.json");
  },
);

test("while one restore is at work in a folder another is refused, and changes nothing there", async () => {
  const to = path.join(home, "to-two");
  const own = { SIGNET_DATA_DIR: to, SIGNET_LOG_LEVEL: "silent" };
  dies(["restore", "placed", secret, share], own);
  const database = path.join(to, "signet.db");
  const { ino } = await stat(database);
  const release = await holdFileLock(path.join(to, "run", "restore-lock.db"));
  const second = await signet(["restore", "--from", share, "--key", keyFile], own);
  expect(second).toMatchObject({ code: 1, err: expect.stringContaining("another process restores into") });
  expect((await stat(database)).ino).toBe(ino);
  await release?.();
  expect(await signet(["restore", "--from", share, "--key", keyFile], own)).toMatchObject({ code: 0 });
});

test("a restore that died while it wrote its mark is begun by the same call", async () => {
  const to = path.join(home, "to-mark");
  await mkdir(to);
  await writeFile(path.join(to, "restore.json.tmp"), '{"v":1,');
  const ended = await signet(["restore", "--from", share, "--key", keyFile], { SIGNET_DATA_DIR: to });
  expect(ended, ended.err).toMatchObject({ code: 0 });
  expect((await readdir(to)).filter((name) => name.startsWith("restore.json"))).toEqual([]);
});

/** Its locks are gone with it: another backup may be at work in the same folder already. */
test("a step whose parent was killed ends behind the file that it is at", async () => {
  const to = path.join(home, "orphan");
  const list = path.join(home, "orphan-list");
  const program = new URL("../../../server/features/backup/step-process.ts", import.meta.url);
  const start = (parent: number) =>
    fork(program, [String(parent)], { execArgv: [], serialization: "advanced", stdio: "inherit" });
  const copied = async () => (await readdir(to, { recursive: true })).filter((name) => /[0-9a-f]{64}$/.test(name));
  const order = { step: "copy", from: path.join(home, "data", "blobs"), to, list };

  const orphan = start(process.ppid);
  orphan.send(order);
  expect(await once(orphan, "exit")).toEqual([1, null]);
  expect(await copied()).toHaveLength(1);

  const child = start(process.pid);
  child.send(order);
  for await (const [message] of on(child, "message")) if ("outcome" in message) break;
  expect(await copied()).toHaveLength(3);
  child.disconnect();
  expect(await once(child, "exit")).toEqual([1, null]);
});
