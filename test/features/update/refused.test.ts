import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { cancelBackup, getBackupState, startBackup } from "../../../server/features/backup/contract.ts";
import { makeRecipient } from "../../../server/features/backup/recipient.ts";
import { applyUpdate, rollBack } from "../../../server/features/update/apply.ts";
import { getUpdate } from "../../../server/features/update/contract.ts";
import { releaseFolder, switchTo } from "../../../server/features/update/installation.ts";
import { readJournal } from "../../../server/features/update/journal.ts";
import { lockStore } from "../../../server/kernel/store-lock.ts";
import { administrator } from "../../harness/admin.ts";
import { startAppliance } from "../../harness/appliance.ts";
import { installed, oldVersion, siteOf } from "../../harness/releases.ts";

test("while a backup runs no update is begun, and none is taken back", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-busy-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [root, backups] = [path.join(folder, "opt"), path.join(folder, "backups")];
  await mkdir(releaseFolder(root, oldVersion), { recursive: true });
  await mkdir(backups);
  await switchTo(root, oldVersion);
  const { recipient } = makeRecipient();
  const app = await startAppliance({ env: { SIGNET_BACKUP_DIR: backups, SIGNET_BACKUP_RECIPIENT: recipient } });
  onTestFinished(() => app.stop());
  const admin = administrator(app);
  await app.jobs.idle();
  // A backup waits for the collection of files, so that it runs as long as this holds.
  const release = await lockStore(app.folder);
  await admin.call(startBackup, {});
  await expect.poll(async () => (await admin.call(getBackupState, {})).running?.kind).toBe("backup");
  const site = await siteOf({ root, dataDir: app.folder, env: {} });
  const bundle = { file: path.join(folder, "none.tar.gz"), pinned: { threshold: 1, keys: [] }, installed };
  await expect(applyUpdate(site, bundle)).rejects.toThrow("A backup runs: wait for its end, or cancel it.");
  await expect(rollBack(site, installed)).rejects.toThrow("A backup runs");
  expect(await readJournal(root)).toBeNull();
  expect((await admin.call(getUpdate, {})).maintenance).toBeNull();
  await admin.call(cancelBackup, {});
  await release?.();
  await app.jobs.idle();
  // Nothing is in the way any more but the file, which is not there.
  await expect(applyUpdate(site, bundle)).rejects.toThrow("ENOENT");
});
