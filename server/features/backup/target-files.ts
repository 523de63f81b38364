import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import path from "node:path";

/**
 * The folder of backups may belong to somebody else, as a share does: a link in it could lead any writing or deleting to files of
 * this machine, and a pipe would be waited for without end. So only folders and files count, and everything else is an error.
 */

/** Opens for reading what is a file and no link. @throws Error otherwise; ENOENT when it is missing */
export function openPlainFile(file: string): number {
  // Windows knows neither of the two; there O_NONBLOCK and O_NOFOLLOW are not defined.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  let handle: number;
  try {
    handle = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ELOOP") throw notPlain(file, "file");
    throw error;
  }
  if (fstatSync(handle).isFile()) return handle;
  closeSync(handle);
  throw notPlain(file, "file");
}

/** @throws Error when it is there and is no folder, or a link to one */
export function refuseLinkedFolder(folder: string): void {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found && !found.isDirectory()) throw notPlain(folder, "folder");
}

/** Bytes of a file; null when it is missing. @throws Error when something else has its name */
export function plainFileSize(file: string): number | null {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found) return null;
  if (!found.isFile()) throw notPlain(file, "file");
  return found.size;
}

/** Looks once at each of the two folders above a blob. @throws as `refuseLinkedFolder` */
export function folderGuard(): (file: string) => void {
  const seen = new Set<string>();
  return (file) => {
    const second = path.dirname(file);
    if (seen.has(second)) return;
    const first = path.dirname(second);
    for (const folder of [path.dirname(first), first, second]) if (!seen.has(folder)) refuseLinkedFolder(folder);
    seen.add(path.dirname(first)).add(first).add(second);
  };
}

const notPlain = (name: string, kind: "file" | "folder") =>
  new Error(`${name} is a link or something else that is no ${kind}: nothing is read or written there`);
