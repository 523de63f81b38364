import { stat, statfs } from "node:fs/promises";
import path from "node:path";
import { AppError } from "../../kernel/errors.ts";
import { bytesOf, type Manifest } from "./manifest.ts";
import { compareVersions } from "./versions.ts";

/** Whether an update may be applied here, asked before anything is changed. */

export const thisPlatform = `${process.platform}-${process.arch}`;

/** @throws AppError `conflict` when it is for another system, no newer, or too far ahead */
export function checkFits(manifest: Manifest, installed: string): void {
  const { version, minimumVersion, platform } = manifest;
  const refuse = (detail: string): never => {
    throw new AppError("conflict", { detail });
  };
  if (platform !== thisPlatform) refuse(`This update is for ${platform}, this machine is ${thisPlatform}.`);
  const order = compareVersions(version, installed);
  if (order === 0) refuse(`Version ${version} is installed already.`);
  if (order < 0) refuse(`This update holds version ${version}, which is older than ${installed}, the one installed.`);
  if (compareVersions(installed, minimumVersion) < 0)
    refuse(`Version ${version} can follow ${minimumVersion} and newer, this is ${installed}: update to that first.`);
}

/**
 * @param reserveBytes what has to stay free on each file system
 * @throws AppError `conflict` when the release, or the copies of the database, would not fit
 */
export async function checkRoom(
  root: string,
  dataDir: string,
  manifest: Manifest | null,
  reserveBytes: number,
): Promise<void> {
  const database = await stat(path.join(dataDir, "signet.db"));
  const log = await stat(path.join(dataDir, "signet.db-wal")).catch(() => null);
  // Files take whole blocks. The snapshot, its trial copy while it is changed, and the one that is put back.
  const release = manifest === null ? 0 : bytesOf(manifest) + manifest.files.length * 4096;
  const copies = 4 * (database.size + (log?.size ?? 0));
  const shared = (await stat(root)).dev === (await stat(dataDir)).dev;
  for (const [folder, needed] of shared
    ? ([[root, release + copies]] as const)
    : ([
        [root, release],
        [dataDir, copies],
      ] as const)) {
    const disk = await statfs(folder);
    const free = disk.bavail * disk.bsize;
    if (free >= needed + reserveBytes) continue;
    throw new AppError("conflict", {
      detail: `There is too little room at ${folder}: ${size(free)} are free, ${size(needed)} are needed, and ${size(reserveBytes)} have to stay free (--reserve). Make room, then say this again.`,
    });
  }
}

const size = (bytes: number) => `${bytes} bytes (${(bytes / 1e6).toFixed(1)} MB)`;

const dayMs = 86_400_000;

/** @throws AppError `conflict` when the machine's clock stands before the making of the update */
export function checkClock(manifest: Manifest | null, nowMs: number): void {
  if (manifest === null || Date.parse(manifest.createdAt) <= nowMs + dayMs) return;
  throw new AppError("conflict", {
    detail: `The clock of this machine stands before the making of this update (${manifest.createdAt}): set it right first.`,
  });
}
