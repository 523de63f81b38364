import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { rotateMaster } from "../../../server/commands/rotate-master.ts";
import { applyUpdate } from "../../../server/features/update/apply.ts";
import { getUpdate, holdMaintenance } from "../../../server/features/update/contract.ts";
import { releaseFolder, switchTo } from "../../../server/features/update/installation.ts";
import { type Journal, writeJournal } from "../../../server/features/update/journal.ts";
import { lockUpdates, readStanding } from "../../../server/features/update/lock.ts";
import { keepOut, removeMaintenance, waitAlone } from "../../../server/features/update/maintenance.ts";
import { isFileHeld } from "../../../server/kernel/db.ts";
import { createLog } from "../../../server/kernel/log.ts";
import { callLocal, followLocal } from "../../../server/local-client.ts";
import { openDeps } from "../../../server/open-deps.ts";
import { startAppliance } from "../../harness/appliance.ts";
import { installed, oldVersion, siteOf } from "../../harness/releases.ts";

const id = "upd_0123456789abcdef";
const main = path.resolve(import.meta.dirname, "../../../server/main.ts");

async function signet(folder: string, ...args: string[]): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env.PATH ?? "", SIGNET_DATA_DIR: folder },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said = await text(child.stderr);
  return { code: child.exitCode ?? (await new Promise((resolve) => child.once("exit", resolve))), said };
}

test("a command that opens the data is refused while an update is under way, and an update while a command has it open", async () => {
  const app = await startAppliance();
  onTestFinished(() => app.stop());
  const address = { socket: app.config.adminSocket, operator: "ada" };
  const gone = new AbortController();
  const hold = () =>
    followLocal(address, holdMaintenance, { body: { id, to: "9.9.9", drainSeconds: 0 } }, { signal: gone.signal });
  const open = () => openDeps({ config: app.config, log: createLog("silent") });

  const command = await open();
  const refused = hold();
  expect((await refused.next()).value).toEqual({ step: "draining" });
  // The command has not closed the data: the hold ends without ever being quiet.
  expect(await refused.next().catch(() => ({ done: true }))).toMatchObject({ done: true });
  await expect.poll(async () => (await callLocal(address, getUpdate, {})).maintenance).toBeNull();
  expect(existsSync(path.join(app.folder, "maintenance.json"))).toBe(false);
  await command.close();

  const steps = hold();
  while ((await steps.next()).value?.step !== "quiet");
  await expect(open()).rejects.toThrow(/update to version 9\.9\.9 is under way.*signet update resume/);
  await expect(rotateMaster({ config: app.config }, undefined, () => undefined)).rejects.toThrow("is under way");
  expect(existsSync(`${app.config.masterKeyFile}.next`)).toBe(false);
  const { code, said } = await signet(app.folder, "api-key", "create", "--name", "late", "--mode", "live");
  expect([code, said]).toEqual([1, expect.stringMatching(/until it ended no command may open the data.*resume/s)]);
  gone.abort();
  await expect.poll(async () => (await callLocal(address, getUpdate, {})).maintenance).toBeNull();
  await (await open()).close();
});

test("with the service stopped it is the same, and steps of an update that outlived it are waited for", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-beside-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const app = await startAppliance({ folder });
  const { config } = app;
  await app.stop();
  const actor = { type: "operator" as const, id: null, name: "ada", email: null };
  const about = { v: 1 as const, id, from: oldVersion, to: "9.9.9", actor, closed: false };
  await keepOut(folder, about);
  const open = (updating: boolean) => openDeps({ config, log: createLog("silent"), updating });
  await expect(open(false)).rejects.toThrow("An update to version 9.9.9 is under way");
  const step = await open(true);
  await expect(waitAlone(folder, 0)).rejects.toThrow("has the data open");
  await step.close();
  const release = await waitAlone(folder, 0);
  await expect(open(true)).rejects.toThrow("An update is under way");
  await release();
  await removeMaintenance(folder);
  await (await open(false)).close();
});

test("an update is cut off when nobody holds its lock, whichever process has its number", async () => {
  const root = await mkdtemp(path.join(tmpdir(), "signet-journal-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const at = "2030-01-01T10:00:00.000Z" as const;
  const release = { version: oldVersion, program: installed.program };
  const begun: Journal = {
    ...{ v: 1, id, kind: "update", phase: "trying", startedAt: at, at, operator: "ada" },
    ...{ file: null, manifestSha256: null, from: release, to: { ...release, version: "9.9.9" }, dataDir: root },
    ...{ backup: null, snapshot: null, restore: null, loss: null, outcome: null, cause: null },
  };
  const data = path.join(root, "data");
  await mkdir(data);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(data, 4711, 4712);
  const unlock = await lockUpdates(root, data);
  await writeJournal(root, begun);
  const lock = path.join(root, "update/lock.db");
  // For whoever serves, and for nobody else.
  const { mode, uid, gid } = await stat(lock);
  expect(mode & 0o777).toBe(0o640);
  if (isRoot) expect([uid, gid]).toEqual([0, 4712]);
  expect(await readStanding(root)).toMatchObject({ interrupted: false, journal: { phase: "trying" } });
  expect(await lockUpdates(root, data)).toBeNull();
  await unlock?.();
  expect(await readStanding(root)).toMatchObject({ interrupted: true });
  await chmod(lock, 0o444);
  expect(await isFileHeld(lock)).toBe(false);
  await writeJournal(root, { ...begun, phase: "done", outcome: "applied" });
  expect(await readStanding(root)).toMatchObject({ interrupted: false });
});

test("where nothing runs and nobody would start it, no update is begun", async () => {
  const root = await mkdtemp(path.join(tmpdir(), "signet-stopped-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await mkdir(releaseFolder(root, oldVersion), { recursive: true });
  await switchTo(root, oldVersion);
  const site = await siteOf({ root, dataDir: path.join(root, "data"), env: {} });
  const bundle = { file: path.join(root, "none.tar.gz"), pinned: { threshold: 1, keys: [] }, installed };
  await expect(applyUpdate(site, bundle)).rejects.toThrow(
    "Signet is not running, and its supervisor would not start another release: start it first",
  );
  expect((await readStanding(root)).journal).toBeNull();
});
