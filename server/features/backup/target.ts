import { randomBytes } from "node:crypto";
import { access, constants, mkdir, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { Ts } from "../../kernel/clock.ts";
import { holdFileLock } from "../../kernel/db.ts";
import { syncFolder } from "../../kernel/durable.ts";
import { isDenied } from "./denied.ts";
import { BackupDamaged, type Manifest, readManifest } from "./manifest.ts";
import { plainFileSize, refuseLinkedFolder } from "./target-files.ts";

/**
 * The folder that receives backups, often a mounted share:
 * blobs/MASTERKEY/ab/cd/SHA256 once for all backups, backups/ID/ with manifest, database, machine and list of blobs.
 * What was begun and not ended lies in backups/.ID.partial/.
 */
export type Target = ReturnType<typeof openTarget>;

const idPattern = /^[0-9]{8}-[0-9]{9}-[0-9a-f]{6}$/;

/** Time first, so that names sort as the backups were made. */
export function newBackupId(at: Ts): string {
  return `${at.slice(0, 10).replaceAll("-", "")}-${at.slice(11, 23).replaceAll(/[:.]/g, "")}-${randomBytes(3).toString("hex")}`;
}

/** Somebody writes to the folder of backups, or reads it while it is to be written. */
export class TargetBusy extends Error {
  readonly code = "BACKUP_TARGET_BUSY";
  override name = "TargetBusy";
}

/** @throws EACCES; what is not there yet may be made. A disk that is read-only says so itself when it is written to */
async function proveAccess(place: string): Promise<void> {
  await access(place, constants.R_OK | constants.W_OK).catch((error: unknown) => {
    if (isDenied(error)) throw error;
  });
}

export function openTarget(folder: string) {
  const backups = path.join(folder, "backups");
  const partial = (id: string) => path.join(backups, `.${id}.partial`);
  const folderOf = (id: string) => {
    if (!idPattern.test(id)) throw new BackupDamaged(`there is no backup ${JSON.stringify(id)}`);
    return path.join(backups, id);
  };
  const names = async () =>
    await readdir(backups).catch((error: unknown) => {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
      throw error;
    });
  const ids = async () => (await names()).filter((name) => idPattern.test(name)).sort();
  return {
    folder,
    folderOf,
    /** Of the blobs under one master key, by its fingerprint. */
    blobsOf: (masterKey: string) => path.join(folder, "blobs", masterKey),
    /** Ids of complete backups, oldest first. */
    ids,
    /** Newest first; `manifest` is null when it is damaged. @throws what reading the folder throws */
    async list(): Promise<{ id: string; manifest: Manifest | null }[]> {
      const found = [];
      for (const id of (await ids()).reverse()) {
        const manifest = await readManifest(folderOf(id)).catch((error: unknown) => {
          if (error instanceof BackupDamaged) return null;
          throw error;
        });
        found.push({ id, manifest });
      }
      return found;
    },
    /** The one that is named, or the newest. @throws BackupDamaged */
    async read(id?: string): Promise<Manifest> {
      const wanted = id ?? (await ids()).at(-1);
      if (wanted === undefined) throw new BackupDamaged(`there is no backup in ${folder}`);
      return await readManifest(folderOf(wanted));
    },
    /** An empty folder to write a backup into; what an earlier attempt left anywhere is removed. */
    async begin(id: string): Promise<string> {
      await mkdir(backups, { recursive: true, mode: 0o700 });
      for (const name of await names())
        if (/^\..*\.(partial|gone)$/.test(name)) await rm(path.join(backups, name), { recursive: true, force: true });
      await mkdir(partial(id), { mode: 0o700 });
      return partial(id);
    },
    /** Makes it a backup: everything in it must be durable. */
    async complete(id: string): Promise<void> {
      await rename(partial(id), folderOf(id));
      await syncFolder(backups);
    },
    /** From here on it is none, whatever is left of it. */
    async remove(id: string): Promise<void> {
      const gone = path.join(backups, `.${id}.gone`);
      await rename(folderOf(id), gone);
      await syncFolder(backups);
      await rm(gone, { recursive: true, force: true });
    },
    /** Whether a backup was ever completed here: a share that is not mounted is an empty folder. */
    isUsed: async () => (await names()).length > 0,
    /** @throws TargetBusy; who only reads shares it with others who read */
    async lock(mode: "exclusive" | "shared"): Promise<() => Promise<void>> {
      for (const name of ["backups", "blobs"]) refuseLinkedFolder(path.join(folder, name));
      const lock = path.join(folder, "lock.db");
      plainFileSize(lock);
      // SQLite would only say that it cannot open its file.
      for (const place of [folder, lock, backups, path.join(folder, "blobs")]) await proveAccess(place);
      const release = await holdFileLock(lock, mode);
      if (release) return release;
      throw new TargetBusy(`another process works with the backups in ${folder}`);
    },
  };
}
