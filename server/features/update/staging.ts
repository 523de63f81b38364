import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, open, readdir, rename, rm, symlink } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { syncFolder } from "../../kernel/durable.ts";
import { AppError } from "../../kernel/errors.ts";
import { readBundle } from "./bundle.ts";
import { releaseFolder, stagingFolder } from "./installation.ts";
import type { PinnedKeys } from "./manifest.ts";

const localesName = "locales";

/**
 * Unpacks a release beside the others. It bears its name only once all of it is on the disk.
 * @param manifestSha256 of the manifest that was looked at before: the file may not have become another meanwhile
 */
export async function stageRelease(
  root: string,
  from: { file: string; pinned: PinnedKeys; manifestSha256: string },
  version: string,
  progress: (share: number) => void,
): Promise<void> {
  const staging = stagingFolder(root, version);
  await rm(staging, { recursive: true, force: true });
  await makeFolder(staging);
  const made = new Set<string>();
  const folderOf = async (within: string) => {
    const folder = path.dirname(path.join(staging, within));
    const missing: string[] = [];
    for (let each = folder; each !== staging && !made.has(each); each = path.dirname(each)) missing.push(each);
    for (const each of missing.reverse()) {
      await makeFolder(each);
      made.add(each);
    }
  };
  await readBundle(from.file, from.pinned, {
    progress,
    async manifest({ manifestSha256 }) {
      if (manifestSha256 !== from.manifestSha256)
        throw new AppError("conflict", { detail: `${from.file} was exchanged while it was read.` });
    },
    async file({ path: within, executable }, body) {
      await folderOf(within);
      const mode = executable ? 0o755 : 0o644;
      // `wx` follows no link and replaces nothing.
      const handle = await open(path.join(staging, within), "wx", mode);
      try {
        await handle.chmod(mode);
        for await (const piece of body) await handle.writeFile(piece);
      } finally {
        await handle.close();
      }
    },
    async link({ path: within, target }) {
      await folderOf(within);
      await symlink(target, path.join(staging, within));
    },
  });
  await keepLanguages(root, staging);
  // One flush of the file system instead of one for each of many thousand files.
  await promisify(execFile)("sync", process.platform === "linux" ? ["-f", staging] : []);
  const folder = releaseFolder(root, version);
  await rm(folder, { recursive: true, force: true });
  await rename(staging, folder);
  await syncFolder(path.dirname(folder));
}

/** Languages that were added on this machine go along: the release has no folder of their name. */
async function keepLanguages(root: string, staging: string): Promise<void> {
  const from = path.join(root, "current", localesName);
  const entries = await readdir(from, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    const to = path.join(staging, localesName, name);
    if (existsSync(to)) continue;
    await cp(path.join(from, name), to, { recursive: true, verbatimSymlinks: true });
  }
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o755 });
  // Whatever the umask of whoever calls is: the service reads it as another user.
  await chmod(folder, 0o755);
}

/** Removes what was unpacked, whole or in part. */
export async function dropStaged(root: string, version: string): Promise<void> {
  await rm(stagingFolder(root, version), { recursive: true, force: true });
  await rm(releaseFolder(root, version), { recursive: true, force: true });
}
