import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { writeAll } from "./sealed-file.ts";
import { openPlainFile, refuseLinkedFolder } from "./target-files.ts";

/** Copies blobs, many of them, so that none counts before it is whole (used in the process of the steps only: its calls wait). */

export type Blob = { sha256: string; size: number };

const pieceLength = 1024 * 1024;

/** Where a store has a blob: ab/cd below its folder. */
export const pathOf = (folder: string, sha256: string) =>
  path.join(folder, sha256.slice(0, 2), sha256.slice(2, 4), sha256);

/** From so many files on the whole file system is flushed once, before that each file and folder. */
const manyFiles = 500;

/**
 * After so many bytes they are written out: a commit of the database that is flushed on the same file system has to wait for
 * whatever lies before it, and shall not wait for gigabytes.
 */
const flushEveryBytes = 8 * 1024 * 1024;

/**
 * Each file gets its name when it is whole; what a death leaves lies in tmp/ and is removed by the next. Everything survives a
 * loss of power once `flush` has ended.
 */
export function openCopier(to: string, expected: number) {
  for (const folder of [path.dirname(to), to]) refuseLinkedFolder(folder);
  const drafts = path.join(to, "tmp");
  rmSync(drafts, { recursive: true, force: true });
  mkdirSync(drafts, { recursive: true, mode: 0o700 });
  // A name of its own: the process of a service that was killed may write its last file while the next one begins here.
  const draft = path.join(drafts, randomUUID());
  const each = expected < manyFiles;
  const touched = new Set<string>([to]);
  const buffer = Buffer.allocUnsafe(pieceLength);
  let unflushed = 0;
  const folder = (name: string) => {
    if (touched.has(name)) return;
    mkdirSync(name, { recursive: true, mode: 0o700 });
    touched.add(path.dirname(name)).add(name);
  };
  return {
    /** @param problem looks at the copy before it counts @returns what it said */
    copy(from: string, { sha256, size }: Blob, problem?: (file: string) => string | null | undefined): string | null {
      const target = pathOf(to, sha256);
      const input = openPlainFile(from);
      try {
        const output = openSync(draft, "w", 0o600);
        try {
          for (let left = size; left > 0; ) {
            const length = readSync(input, buffer, 0, Math.min(left, buffer.length), null);
            if (length === 0) break;
            left -= length;
            writeAll(output, buffer.subarray(0, length));
          }
          if (each) fsyncSync(output);
        } finally {
          closeSync(output);
        }
      } finally {
        closeSync(input);
      }
      const found = problem?.(draft) ?? null;
      if (found !== null) return found;
      folder(path.dirname(target));
      renameSync(draft, target);
      unflushed += size;
      if (!each && unflushed >= flushEveryBytes && flushFileSystem(to)) unflushed = 0;
      return null;
    },
    flush(): void {
      if (!each) flushAll(to);
      else if (process.platform !== "win32") for (const name of touched) flushOne(name, "r");
    },
  };
}

/**
 * Makes everything below the folder survive a loss of power. One flush of the whole file system costs a second where one for
 * each of 20 000 files costs half a minute; where there is no such call, each is flushed.
 */
function flushAll(folder: string): void {
  if (flushFileSystem(folder)) return;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) flushOne(path.join(entry.parentPath, entry.name), "r+");
}

/** @returns false where there is no such call */
const flushFileSystem = (folder: string): boolean =>
  process.platform === "linux" && spawnSync("sync", ["-f", folder], { stdio: "ignore" }).status === 0;

function flushOne(name: string, mode: "r" | "r+"): void {
  const handle = openSync(name, mode);
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
