import { realpathSync, statSync } from "node:fs";
import path from "node:path";
import { KeyUnavailable } from "../unavailable.ts";

/**
 * Which PKCS#11 libraries may be loaded: they are code, and the settings that name them lie in the data folder. Commands that
 * root calls run as the service's user too, on root's terminal and some with a right of root's; whoever took over the service
 * must not have them load what he put there.
 */

type User = { uid: number; groups: readonly number[] };

/** @returns the file or the folder above it that this user could have written or exchanged; null when others alone could */
export function writableBy(file: string, { uid, groups }: User): string | null {
  for (let part = file; ; part = path.dirname(part)) {
    const { uid: owner, gid, mode } = statSync(part);
    // In a folder with the sticky bit everybody may exchange only what is his own.
    const open = (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && groups.includes(gid));
    const sticky = part !== file && (mode & 0o1000) !== 0;
    if (owner === uid || (open && !sticky)) return part;
    if (part === path.dirname(part)) return null;
  }
}

/**
 * @returns the library without links on the way, which could be exchanged
 * @throws KeyUnavailable when the user of this process could have put it there
 */
export function trustedModule(module: string): string {
  const uid = process.getuid?.();
  // Whoever owns the program needs no library to run what he likes, and a bare name is searched for in the system's folders.
  if (uid === undefined || uid === 0 || statSync(import.meta.filename).uid === uid || !module.includes("/"))
    return module;
  const real = realpathSync(module);
  const groups = [process.getgid?.() ?? -1, ...(process.getgroups?.() ?? [])];
  const part = writableBy(real, { uid, groups });
  if (part === null) return real;
  const reason = `the PKCS#11 library ${module} is not loaded, because the user who runs Signet could have put it there (${part} has to belong to root)`;
  throw new KeyUnavailable("module-missing", reason);
}
