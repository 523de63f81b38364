import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../server/config.ts";
import { getStatus } from "../../server/features/appliance/status-contract.ts";
import { getBackupState, startBackup, verifyBackup } from "../../server/features/backup/contract.ts";
import { makeRecipient } from "../../server/features/backup/recipient.ts";
import { getChecks } from "../../server/features/health/contract.ts";
import { createLog } from "../../server/kernel/log.ts";
import { openDeps } from "../../server/open-deps.ts";
import { administrator } from "../harness/admin.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { signet } from "../harness/cli.ts";
import { ok, publishTemplate, send } from "../harness/scenario.ts";

/** The disk of the backups fills, cannot be written, or goes away: the backups before stay whole, and people who sign notice nothing. */

const mebibyte = 1024 ** 2;

function must(command: string, ...args: string[]): void {
  const done = spawnSync(command, args, { encoding: "utf8" });
  if (done.status !== 0) throw new Error(`${command} ${args.join(" ")}: ${done.stderr}`);
}

async function shareOf(megabytes: number): Promise<string> {
  const share = await mkdtemp(path.join(tmpdir(), "signet-share-"));
  must("mount", "-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", share);
  onTestFinished(async () => {
    spawnSync("umount", ["-l", share]);
    await rm(share, { recursive: true, force: true });
  });
  return share;
}

function fill(folder: string, leave: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const file = openSync(path.join(folder, "filler"), "w");
  try {
    for (let left = bavail * bsize - leave; left > 0; left -= mebibyte)
      writeSync(file, Buffer.alloc(Math.min(mebibyte, left)));
  } finally {
    closeSync(file);
  }
}

async function withShare(share: string) {
  const { recipient } = makeRecipient();
  const app = await startAppliance({ env: { SIGNET_BACKUP_DIR: share, SIGNET_BACKUP_RECIPIENT: recipient } });
  onTestFinished(() => app.stop());
  const admin = administrator(app);
  await app.jobs.idle();
  const backUp = async () => {
    const { id } = await admin.call(startBackup, {});
    await app.jobs.idle();
    const { last } = await admin.call(getBackupState, {});
    expect(last?.id).toBe(id);
    return { id, last };
  };
  const first = await backUp();
  expect(first.last).toMatchObject({ status: "verified" });
  return { app, admin, backUp, first: first.id };
}

/** The same wherever the trouble comes from: said with its cause, nothing else touched, and people go on signing. */
async function expectSaid(app: TestAppliance, cause: RegExp): Promise<void> {
  const admin = administrator(app);
  const { data } = await admin.call(getChecks, { query: {} });
  expect(data.find(({ id }) => id === "backup")).toMatchObject({
    state: "warning",
    detail: expect.stringMatching(cause),
  });
  const status = await admin.call(getStatus, {});
  expect(status).toMatchObject({ mode: "normal", backup: { last: { status: "failed" }, running: null } });
  expect(status.backup.lastVerified).not.toBeNull();
  expect((await app.call("/readyz", { key: null })).status).toBe(200);
  await send(app, await publishTemplate(app));
  await ok(app, 200, "/v1/envelopes");
}

const namesIn = async (share: string) => (await readdir(path.join(share, "backups"))).sort();

test("a full disk of the share fails the backup with its cause; the ones before are whole, and it goes on when there is room", async () => {
  const share = await shareOf(64);
  const { app, admin, backUp, first } = await withShare(share);
  const before = await namesIn(share);
  // In the middle of the documents, and already in the database.
  for (const leave of [3 * mebibyte, 128 * 1024]) {
    for (let count = 0; count < 8; count += 1) await app.deps.blobs.put(Buffer.alloc(mebibyte, `${leave} ${count}`));
    fill(share, leave);
    const { last } = await backUp();
    expect(last).toMatchObject({ status: "failed", cause: expect.stringContaining("ENOSPC") });
    expect(await namesIn(share)).toEqual(before);
    await expectSaid(app, /ENOSPC/);
    rmSync(path.join(share, "filler"));
  }
  await admin.call(verifyBackup, { params: { id: first } });
  await app.jobs.idle();
  expect((await admin.call(getBackupState, {})).lastVerified).toMatchObject({ id: first });
  const { id, last } = await backUp();
  expect(last).toMatchObject({ status: "verified", cause: null });
  expect(await namesIn(share)).toEqual([...before, id].sort());
  const { data } = await admin.call(getChecks, { query: {} });
  expect(data.find((one) => one.id === "backup")).toMatchObject({ state: "ok" });
});

test("a share that cannot be written fails the backup with its cause, and goes on when it can", async () => {
  const share = await shareOf(64);
  const { app, backUp } = await withShare(share);
  const before = await namesIn(share);
  must("mount", "-o", "remount,ro", share);
  expect((await backUp()).last).toMatchObject({
    status: "failed",
    cause: expect.stringMatching(/EROFS|readonly|READONLY|CANTOPEN/),
  });
  await expectSaid(app, /EROFS|readonly|READONLY|CANTOPEN/);
  expect(await namesIn(share)).toEqual(before);
  must("mount", "-o", "remount,rw", share);
  expect((await backUp()).last).toMatchObject({ status: "verified" });
});

test("a share that goes away leaves nothing below its mount point, and is taken up again when it is back", async () => {
  const share = await shareOf(64);
  // The same volume at a second place, so that it outlives its being away.
  const kept = await mkdtemp(path.join(tmpdir(), "signet-kept-"));
  must("mount", "--bind", share, kept);
  onTestFinished(async () => {
    spawnSync("umount", ["-l", kept]);
    await rm(kept, { recursive: true, force: true });
  });
  const { app, backUp } = await withShare(share);
  const before = await namesIn(share);
  must("umount", "-l", share);
  expect((await backUp()).last).toMatchObject({ status: "failed", cause: expect.stringContaining("mount its share") });
  await expectSaid(app, /mount its share/);
  expect(await readdir(share)).toEqual([]);
  must("mount", "--bind", kept, share);
  const { id, last } = await backUp();
  expect(last).toMatchObject({ status: "verified" });
  expect(await namesIn(share)).toEqual([...before, id].sort());
  expect(JSON.parse(await readFile(path.join(share, "backups", id, "manifest.json"), "utf8"))).toMatchObject({ id });
});

/** A user of which the machine knows nothing but the number. */
const service = { uid: 4711, gid: 4711 };

/** `signet` as that user. */
function asService(args: readonly string[], env: Record<string, string>) {
  const root = path.resolve(import.meta.dirname, "../..");
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(root, "server/main.ts"), ...args], {
    ...service,
    encoding: "utf8",
    env: { PATH: process.env.PATH, ...env },
  });
  return { code: status, said: `${stdout}${stderr}` };
}

async function homeOf(): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), "signet-owner-"));
  await chmod(home, 0o755);
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}

async function belongingTo(folder: string, uid: number): Promise<string[]> {
  const others = [];
  for (const name of ["", ...(await readdir(folder, { recursive: true }))])
    if ((await lstat(path.join(folder, name))).uid === uid) others.push(name);
  return others;
}

test("what root restores belongs to the user of the data folder, the master key elsewhere too, and that user goes on with it", async () => {
  const home = await homeOf();
  const [data, share, to, key] = ["data", "share", "to", "key"].map((name) => path.join(home, name));
  if (!data || !share || !to || !key) throw new Error("unreachable");
  const { recipient, secret } = makeRecipient();
  await Promise.all([writeFile(key, secret), mkdir(share), mkdir(to)]);
  const env = { SIGNET_DATA_DIR: data, SIGNET_BACKUP_DIR: share, SIGNET_BACKUP_RECIPIENT: recipient };
  const { deps, close } = await openDeps({ config: loadConfig(env), log: createLog("silent"), createKey: true });
  await deps.blobs.put(Buffer.from("a document"));
  await close();
  expect(await signet(["backup"], env)).toMatchObject({ code: 0 });

  await chown(to, service.uid, service.gid);
  const there = { ...env, SIGNET_DATA_DIR: to, SIGNET_MASTER_KEY_FILE: path.join(home, "keys", "of", "master.key") };
  const done = await signet(["restore", "--from", share, "--to", to, "--key", key], there);
  expect(done, done.err).toMatchObject({ code: 0, out: expect.stringContaining("with the earlier ones") });
  expect(done.out).toContain("Before the next signet update apply");
  expect(done.out).toContain(share);
  expect(await belongingTo(to, 0)).toEqual([]);
  expect(await belongingTo(path.join(home, "keys"), 0)).toEqual([]);
  const whole = asService(["fsck", "--json"], there);
  expect(whole, whole.said).toMatchObject({ code: 0 });

  // The folder of the backups is root's still: who is kept out, and what lets them in.
  const repair = `chown -R ${service.uid}:${service.gid} ${share}`;
  for (const args of [["backup"], ["backup", "verify"], ["drill"], ["backup", "list"]]) {
    const refused = asService(args, there);
    expect(refused.code, refused.said).toBe(1);
    expect(refused.said).toContain(`the user ${service.uid} must own the folder of the backups: ${repair}`);
  }
  expect(spawnSync("sh", ["-c", repair]).status).toBe(0);
  const made = asService(["backup"], there);
  expect(made, made.said).toMatchObject({ code: 0 });
  // As it becomes when root makes one by hand.
  await chown(path.join(share, "blobs"), 0, 0);
  await chmod(path.join(share, "blobs"), 0o700);
  expect(asService(["backup"], there).said).toContain(repair);

  const own = path.join(home, "of-root");
  const rooted = await signet(["restore", "--from", share, "--to", own, "--key", key]);
  expect(rooted, rooted.err).toMatchObject({ code: 0, out: expect.stringContaining(`chown -R USER: ${own}`) });
});

test("a folder that the service's user may not make is refused with what makes it; files that it may not read are not called damaged", async () => {
  const home = await homeOf();
  const place = (name: string) => path.join(home, name);
  const [share, key, data] = [place("share"), place("key"), place("data")];
  const { recipient, secret } = makeRecipient();
  await Promise.all([writeFile(key, secret), mkdir(share), mkdir(data)]);
  for (const own of [share, data]) await chown(own, service.uid, service.gid);
  const env = { SIGNET_DATA_DIR: data, SIGNET_BACKUP_DIR: share, SIGNET_BACKUP_RECIPIENT: recipient };
  const config = loadConfig(env);
  const { deps, close } = await openDeps({ config, log: createLog("silent"), createKey: true });
  await deps.blobs.put(Buffer.from("a document"));
  await close();
  expect(spawnSync("chown", ["-R", `${service.uid}:${service.gid}`, data]).status).toBe(0);
  const made = asService(["backup"], env);
  expect(made, made.said).toMatchObject({ code: 0 });

  // One that is not there, and one that root made.
  await mkdir(place("of-root"));
  for (const to of [place("absent"), place("of-root")]) {
    const repair = `install -d -o ${service.uid} -g ${service.gid} -m 700 ${to}`;
    const args = ["restore", "--from", share, "--to", to, "--key", key];
    const refused = asService(args, { SIGNET_DATA_DIR: place("none") });
    expect(refused.code, refused.said).toBe(1);
    expect(refused.said).toContain(`the user ${service.uid} may not make ${to}, or write to it: as root, ${repair}`);
    expect(spawnSync("sh", ["-c", repair]).status).toBe(0);
    const done = asService(args, { SIGNET_DATA_DIR: place("none") });
    expect(done, done.said).toMatchObject({ code: 0 });
  }

  const [id = ""] = await readdir(path.join(share, "backups"));
  const blob = (await readdir(path.join(share, "blobs"), { recursive: true })).find((name) =>
    /[0-9a-f]{64}$/.test(name),
  );
  const inside = path.join(share, "backups", id);
  const parts = ["manifest.json", "machine.json.sgx", "signet.db.sgx", "blobs.list"].map((name) =>
    path.join(inside, name),
  );
  for (const file of [path.join(share, "blobs", String(blob)), ...parts]) {
    await chown(file, 0, 0);
    await chmod(file, 0o600);
    const looked = asService(["backup", "verify", id], env);
    expect(looked.code, looked.said).toBe(1);
    const repair = `chown -R ${service.uid}:${service.gid} ${share}`;
    expect(looked.said).toContain(`the backup is not readable by the user ${service.uid}: ${repair}`);
    expect(looked.said).not.toContain("damaged");
    expect(spawnSync("sh", ["-c", repair]).status).toBe(0);
  }
  const again = asService(["backup", "list", "--json"], env);
  expect(JSON.parse(again.said)).toMatchObject([{ id, status: "verified", cause: null }]);
  expect(asService(["backup", "verify", id], env)).toMatchObject({ code: 0 });
});
