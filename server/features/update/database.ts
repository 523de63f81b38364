import { createHash } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { copyFile, mkdir, open, rename, rm, rmdir, stat, symlink } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { DataFolderTaken, lockDataFolder } from "../../kernel/data-lock.ts";
import { openDatabase } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { syncFolder } from "../../kernel/durable.ts";
import { AppError } from "../../kernel/errors.ts";
import { type SnapshotName, snapshotFile } from "../../kernel/snapshots.ts";
import { storageFault } from "../../kernel/storage-fault.ts";
import { fsck } from "../evidence/service.ts";
import { checkOperatorChain } from "../operators/service.ts";
import { readMaintenance, waitAlone, writeMaintenance } from "./maintenance.ts";

/** What an update does to the database, as the user to whom it belongs: always a step of one process, called by the update. */

const workFolder = (dataDir: string) => path.dirname(snapshotFile(dataDir, "before"));
const trialFolder = (dataDir: string) => path.join(workFolder(dataDir), "trial");

export type Snapshot = { sha256: string; size: number };

/** Copies the whole database and checks the copy. @throws AppError `conflict` when it is damaged */
export async function takeSnapshot({ db }: Pick<Deps, "db">, dataDir: string): Promise<Snapshot> {
  const file = snapshotFile(dataDir, "before");
  await dropWork(dataDir);
  await mkdir(workFolder(dataDir), { recursive: true, mode: 0o700 });
  await db.copyTo(file);
  const copy = await openDatabase({ file, readers: 1 });
  const problems = await copy.check().finally(() => copy.close());
  if (problems.length > 0) {
    const detail = `The database is damaged (${problems[0]}): an update would not help. See signet doctor.`;
    throw new AppError("conflict", { detail });
  }
  await syncFile(file);
  await syncFolder(workFolder(dataDir));
  return { sha256: await hashOf(file), size: (await stat(file)).size };
}

/**
 * Lays a copy of a snapshot where this release can open it like a data folder; documents are those that are there.
 * @throws AppError `conflict` when it is not the one that was taken
 */
export async function layTrial(dataDir: string, name: SnapshotName, sha256: string): Promise<string> {
  const folder = trialFolder(dataDir);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const copy = path.join(folder, "signet.db");
  await copyFile(snapshotFile(dataDir, name), copy, constants.COPYFILE_FICLONE);
  if ((await hashOf(copy)) !== sha256) throw notTaken(snapshotFile(dataDir, name));
  await symlink(path.join(dataDir, "blobs"), path.join(folder, "blobs"), "dir");
  return folder;
}

/** Brings the copy up to date. @returns how long that took, in milliseconds; 0 when there was nothing to do */
export async function migrateTrial(folder: string): Promise<number> {
  let took = 0;
  const beforeMigration = async () => {
    const begun = performance.now();
    return {
      async release() {
        took = performance.now() - begun;
      },
    };
  };
  const db = await openDatabase({ file: path.join(folder, "signet.db"), readers: 1, beforeMigration });
  await db.close();
  return took;
}

export const dropTrial = (dataDir: string): Promise<void> => rm(trialFolder(dataDir), { recursive: true, force: true });

/** What is read of chains and records at most, in milliseconds: people wait meanwhile. */
const trialMs = 60_000;

/** What is wrong with a database that this release has just brought up to date. */
export async function examine(deps: Deps): Promise<string[]> {
  const problems = await deps.db.check();
  if (problems.length > 0) return problems;
  const operators = await checkOperatorChain(deps.db.read);
  if (!operators.valid) problems.push(`the operators' audit is broken at ${operators.brokenAtSeq}`);
  const limit = AbortSignal.timeout(trialMs);
  // Files are not read: an update changes none of them.
  const report = { ok: true, checked: {}, problems: [], notes: [] };
  const records = { step: "keys" as const, after: "" };
  const files = { done: true, after: "" };
  const from = { v: 3 as const, at: deps.clock.ts(), records, files, bytes: 0, report };
  try {
    const found = await fsck(deps, { from, signal: limit });
    problems.push(...found.problems.map(({ code, where, message }) => `${code} ${where}: ${message}`));
  } catch (error) {
    if (!limit.aborted) throw error;
  }
  return problems;
}

/**
 * Puts the snapshot into the place of the database. Nobody may serve meanwhile, whatever ends this half-way: `closed` says so.
 * @throws AppError `conflict` when the snapshot is not the one that was taken, or work was let in since
 */
export async function putBack(
  dataDir: string,
  { id, name, sha256, waitMs }: { id: string; name: SnapshotName; sha256: string; waitMs: number },
): Promise<void> {
  const lock = await lockPatiently(dataDir, waitMs);
  let release: (() => Promise<void>) | undefined;
  try {
    release = await waitAlone(dataDir, waitMs);
    const about = await readMaintenance(dataDir);
    if (about?.id !== id || !about.closed)
      throw new AppError("conflict", { detail: "Work was let in since the snapshot." });
    const [from, file] = [snapshotFile(dataDir, name), path.join(dataDir, "signet.db")];
    await copyWhole(from, `${file}.tmp`, async () => {
      // What is given up makes room for what takes its place: that stays until the update ended, and nobody serves meanwhile.
      if ((await hashOf(from)) !== sha256) throw notTaken(from);
      for (const suffix of ["-wal", "-shm", ""]) await rm(`${file}${suffix}`, { force: true });
    });
    if ((await hashOf(`${file}.tmp`)) !== sha256) throw notTaken(from);
    // A log that is left would be replayed into the file that takes its place.
    for (const suffix of ["-wal", "-shm"]) await rm(`${file}${suffix}`, { force: true });
    await rename(`${file}.tmp`, file);
    await syncFolder(dataDir);
    await writeMaintenance(dataDir, { ...about, closed: false });
  } finally {
    await release?.();
    await lock.release();
  }
}

/** @param makeRoom is asked where the volume is full, before it is tried once more */
async function copyWhole(from: string, to: string, makeRoom: () => Promise<void>): Promise<void> {
  const copy = async () => {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    await syncFile(to);
  };
  try {
    await copy();
  } catch (error) {
    if (storageFault(error) !== "full") throw error;
    await rm(to, { force: true });
    await makeRoom();
    await copy();
  }
}

/** From now on nobody may serve until the database was put back. @returns false when work was let in since the snapshot */
export async function closeData(dataDir: string, id: string): Promise<boolean> {
  const about = await readMaintenance(dataDir);
  if (about?.id !== id) return false;
  await writeMaintenance(dataDir, { ...about, closed: true });
  return true;
}

const notTaken = (file: string) => new AppError("conflict", { detail: `${file} is not the snapshot that was taken.` });

export async function dropSnapshot(dataDir: string, name: SnapshotName): Promise<void> {
  for (const suffix of ["", "-wal", "-shm"]) await rm(`${snapshotFile(dataDir, name)}${suffix}`, { force: true });
  // The other one may lie there still.
  await rmdir(workFolder(dataDir)).catch(() => undefined);
}

/** Forgets what was made for the update that is under way; what was kept of the one before stays. */
export async function dropWork(dataDir: string): Promise<void> {
  await dropTrial(dataDir);
  await dropSnapshot(dataDir, "before");
}

/** A supervisor may begin one process after another meanwhile; each of them ends by itself. */
async function lockPatiently(dataDir: string, waitMs: number): Promise<{ release(): Promise<void> }> {
  const until = performance.now() + waitMs;
  for (;;) {
    try {
      return await lockDataFolder(dataDir);
    } catch (error) {
      if (!(error instanceof DataFolderTaken) || performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
