import { realpathSync } from "node:fs";
import { chmod, lstat, mkdir, readlink, rename, rm, symlink } from "node:fs/promises";
import path from "node:path";
import { syncFolder } from "../../kernel/durable.ts";
import { AppError } from "../../kernel/errors.ts";

/**
 * Where releases lie: `<root>/releases/<version>/`, and `<root>/current`, a symbolic link to the one that is served. The root is
 * found from the program itself, so that nothing has to be set.
 */
export type Installation = {
  root: string /** The folder of the release that this program belongs to. */;
  release: string;
};

/** How a release is run. */
export type Program = { node: string /** Relative to the folder of its release. */; main: string };
export type Release = { version: string; program: Program };

const releasesName = "releases";

/** @param program the file that Node was given @returns null when it lies in no `releases` folder: a checkout, for example */
export function installationOf(program: string | undefined): Installation | null {
  if (program === undefined) return null;
  let folder: string;
  try {
    folder = path.dirname(realpathSync(program));
  } catch {
    return null;
  }
  for (;;) {
    const above = path.dirname(folder);
    if (above === folder) return null;
    if (path.basename(above) === releasesName) return { root: path.dirname(above), release: folder };
    folder = above;
  }
}

export const noInstallation = "This is no installation below a folder of releases: update it the way it was installed.";

/** @throws AppError `conflict` when this program cannot be updated */
export function requireInstallation(installation: Installation | null): Installation {
  if (installation === null) throw new AppError("conflict", { detail: noInstallation });
  if (process.platform === "win32")
    throw new AppError("conflict", { detail: "Updates on Windows are applied by the installer." });
  return installation;
}

export const releaseFolder = (root: string, version: string): string => path.join(root, releasesName, version);
export const stagingFolder = (root: string, version: string): string =>
  path.join(root, releasesName, `.staging-${version}`);
/** Of the update itself: its journal, its history, its lock. Belongs to whoever may change the program. */
export const updateFolder = (root: string): string => path.join(root, "update");

const currentLink = (root: string) => path.join(root, "current");

/** The version that `current` names. @throws AppError `conflict` when it names none */
export async function currentVersion(root: string): Promise<string> {
  const target = await readlink(currentLink(root)).catch(() => null);
  const folder = target === null ? null : path.resolve(root, target);
  if (folder !== null && path.dirname(folder) === path.join(root, releasesName)) return path.basename(folder);
  throw new AppError("conflict", { detail: `${currentLink(root)} does not lead to a release below ${root}.` });
}

/** Lets `current` lead to another release, in one step that survives a loss of power. */
export async function switchTo(root: string, version: string): Promise<void> {
  await lstat(releaseFolder(root, version));
  const draft = path.join(root, ".current.tmp");
  await rm(draft, { force: true });
  await symlink(path.join(releasesName, version), draft, "dir");
  await rename(draft, currentLink(root));
  await syncFolder(root);
}

export async function makeUpdateFolder(root: string): Promise<void> {
  await mkdir(updateFolder(root), { recursive: true });
  // Whatever the umask: whoever serves reads there how its update stands.
  await chmod(updateFolder(root), 0o755);
}
