import { lchown, mkdir, readdir, readFile, rename, rm, stat, statfs } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { holdFileLock, openDatabase } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { syncFolder, writeDurably } from "../../kernel/durable.ts";
import { restoreMark } from "../../kernel/restore-mark.ts";
import { equalInConstantTime, loadMasterKey } from "../../kernel/secrets.ts";
import { type Actor, Ts } from "../../kernel/wire.ts";
import { holdAnchors } from "../evidence/service.ts";
import { type OperatorAct, recordOperatorAct } from "../operators/service.ts";
import { isDenied, unwritableBy } from "./denied.ts";
import { type Machine, placeFiles } from "./machine.ts";
import { BackupDamaged, databaseFile, type Manifest } from "./manifest.ts";
import type { Opened } from "./opened.ts";
import { runInProcess } from "./run-step.ts";
import { fileKey } from "./sealed-file.ts";
import type { Outcome } from "./steps.ts";
import { readHeads } from "./store.ts";
import type { Target } from "./target.ts";
import { listOf, proveList } from "./verify.ts";
import type { Work } from "./write.ts";

/** The folder is not empty, has no room, or its master key lies elsewhere and is another one. */
export class RestoreRefused extends Error {
  readonly code = "RESTORE_REFUSED";
  override name = "RestoreRefused";
}

export type Restore = Work & {
  target: Target;
  manifest: Manifest;
  opened: Opened & { machine: Machine };
  /** The data folder to be. */
  to: string;
  masterKeyFile: string;
  clock: Deps["clock"];
  /** Brings everything else where files of the backup are damaged. */
  leaveDamaged?: boolean;
  /** Who does it, for the operators' audit of the restored data; null leaves the data as it was backed up. */
  actor: Actor | null;
};

/**
 * Puts a backup into an empty folder, which bears a mark until the end: whatever ends the process before, a server refuses it, and
 * the same call goes on with the files that are there. Every file is decrypted and hashed before it gets its name, and the chains of
 * the database are compared with the manifest.
 * @returns the files that are damaged in the backup and were left out, when that was asked for
 * @throws RestoreRefused, BackupDamaged; errors of the machine
 */
export async function restoreBackup(restore: Restore): Promise<Outcome["problems"]> {
  const { manifest, to } = restore;
  await refuseUnfit(restore);
  await advising(to, async () => {
    const mark = { v: 1, id: manifest.id, at: restore.clock.ts() };
    await writeDurably(path.join(to, restoreMark), `${JSON.stringify(mark)}\n`);
    // Behind the mark: a death between the two would leave a folder that is neither empty nor begun.
    for (const name of ["blobs", "run"]) await mkdir(path.join(to, name), { recursive: true, mode: 0o700 });
  });
  // The slower of two would exchange the database below the server that was started behind the faster.
  const release = await holdFileLock(path.join(to, "run", "restore-lock.db"));
  if (release === null) throw new RestoreRefused(`another process restores into ${to}: wait for its end, or end it`);
  try {
    return await bringAll(restore);
  } finally {
    await release();
  }
}

async function bringAll(restore: Restore): Promise<Outcome["problems"]> {
  const { target, manifest, opened, to, masterKeyFile, signal, stuck } = restore;
  restore.reached?.("begun");
  await proveList(target, manifest, { signal, stuck });
  const folder = target.folderOf(manifest.id);
  const { problems } = await runInProcess(
    {
      step: "bring",
      from: target.blobsOf(manifest.masterKey),
      to: path.join(to, "blobs"),
      list: listOf(target, manifest),
      keys: opened.secrets.wrapKeys(),
    },
    { signal, stuck, told: (progress) => restore.told("restore", progress) },
  );
  const [first] = problems;
  if (first && !restore.leaveDamaged) {
    const others = problems.length > 1 ? ` (and ${problems.length - 1} more files)` : "";
    const way = "take another backup, or bring everything else with --leave-damaged";
    throw new BackupDamaged(`the blob ${first.file} in the backup cannot be used: ${first.problem}${others}; ${way}`);
  }
  restore.reached?.("blobs");
  const draft = path.join(to, "signet.db.restoring");
  for (const end of ["", "-wal", "-shm"]) await rm(`${draft}${end}`, { force: true });
  const key = fileKey(opened.backupKey, manifest.id, databaseFile);
  const found = await runInProcess(
    { step: "open", from: path.join(folder, databaseFile), to: draft, key },
    { signal, stuck, told: (progress) => restore.told("database", progress) },
  );
  if (found.sha256 !== manifest.files[databaseFile].sha256)
    throw new BackupDamaged(`the database of ${manifest.id} is another file than its manifest names`);
  await proveDatabase(restore, draft);
  restore.reached?.("database");
  await placeFiles(opened.machine, to);
  await rename(draft, path.join(to, "signet.db"));
  await syncFolder(to);
  restore.reached?.("placed");
  if ((await keyAt(masterKeyFile)) === null) {
    const folder = path.dirname(masterKeyFile);
    await advising(folder, async () => {
      const made = await mkdir(folder, { recursive: true, mode: 0o700 });
      if (made !== undefined) await giveFolders(made, folder, to);
      await writeDurably(masterKeyFile, `${opened.machine.masterKey}\n`);
    });
  }
  await giveToOwner(to, masterKeyFile);
  await rm(path.join(to, restoreMark));
  await syncFolder(to);
  return problems;
}

/** Says who may not write to a folder, and what gives it to that user: whoever is root may run as another (the packages' `signet`). */
async function advising(folder: string, act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    throw isDenied(error) ? new RestoreRefused(unwritableBy(error, folder), { cause: error }) : error;
  }
}

/** Root restores for the user to whom the empty folder was given; whoever else restores owns everything already. */
async function ownerFor(to: string): Promise<{ uid: number; gid: number } | null> {
  const { uid, gid } = await stat(to);
  return process.getuid?.() !== 0 || uid === 0 ? null : { uid, gid };
}

/** Gives what lies in the restored folder, and the master key, to the owner of the folder; whatever root made there since, too. */
export async function giveToOwner(to: string, masterKeyFile: string): Promise<void> {
  const owner = await ownerFor(to);
  if (owner === null) return;
  const entries = await readdir(to, { recursive: true, withFileTypes: true });
  for (const entry of entries) await lchown(path.join(entry.parentPath, entry.name), owner.uid, owner.gid);
  await lchown(masterKeyFile, owner.uid, owner.gid);
}

/** The folders from one down to another inside it, which were just made. */
async function giveFolders(from: string, down: string, to: string): Promise<void> {
  const owner = await ownerFor(to);
  if (owner === null) return;
  for (let folder = down; folder.length >= from.length; folder = path.dirname(folder))
    await lchown(folder, owner.uid, owner.gid);
}

const Mark = z.object({ v: z.literal(1), id: z.string(), at: Ts });

async function refuseUnfit({ to, manifest, opened, masterKeyFile }: Restore): Promise<void> {
  await advising(to, () => mkdir(to, { recursive: true, mode: 0o700 }));
  // A death in the middle of the mark leaves its draft.
  const names = (await readdir(to)).filter((name) => name !== "lost+found" && name !== `${restoreMark}.tmp`);
  const begun = await readFile(path.join(to, restoreMark), "utf8").then(
    (text) => Mark.safeParse(JSON.parse(text)).data?.id ?? null,
    () => null,
  );
  if (names.length > 0 && begun === null)
    throw new RestoreRefused(`${to} is not empty: a backup is restored into an empty folder`);
  if (begun !== null && begun !== manifest.id)
    throw new RestoreRefused(
      `in ${to} the restore of ${begun} was interrupted: end it with --id ${begun}, or empty the folder`,
    );
  const known = await keyAt(masterKeyFile);
  if (known !== null && !equalInConstantTime(known, Buffer.from(opened.machine.masterKey, "base64")))
    throw new RestoreRefused(`${masterKeyFile} holds another master key than the backup: move it away first`);
  if (begun !== null) return;
  const needed = manifest.blobs.bytes + 2 * manifest.files[databaseFile].bytes;
  const disk = await statfs(to);
  const free = disk.bavail * disk.bsize;
  if (free < needed)
    throw new RestoreRefused(`${to} has no room: ${megabytes(needed)} are needed, ${megabytes(free)} are free`);
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;

async function keyAt(file: string): Promise<Buffer | null> {
  try {
    return await loadMasterKey(file);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** The database is whole and its chains end where those of the backed-up one ended. */
async function proveDatabase({ manifest, clock, actor }: Restore, file: string): Promise<void> {
  const db = await openDatabase({ file, clock, readers: 1 });
  try {
    const problems = await db.check();
    if (problems.length > 0) throw new BackupDamaged(`the database of ${manifest.id} is damaged: ${problems[0]}`);
    if (!isDeepStrictEqual(await readHeads(db.read), manifest.heads))
      throw new BackupDamaged(`the chains of ${manifest.id} do not end where its manifest says`);
    if (actor === null) return;
    const data = { createdAt: manifest.createdAt };
    const act: OperatorAct = { actor, action: "backup.restored", target: manifest.id, data };
    await db.tx(async (tx) => {
      await recordOperatorAct(tx, { clock }, act);
      await holdAnchors(tx, { clock }, { reason: "restored", backup: manifest.id });
    });
  } finally {
    await db.close();
  }
}
