import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { holdFileLock } from "./db.ts";

export class DataFolderTaken extends Error {
  constructor(folder: string) {
    super(`another Signet process is already using the data folder ${folder}; stop it first`);
    this.name = "DataFolderTaken";
  }
}

/**
 * Makes this the only process that serves the data folder until the lock is released or the process ends.
 * @throws DataFolderTaken
 */
export async function lockDataFolder(folder: string): Promise<{ release(): Promise<void> }> {
  await mkdir(join(folder, "run"), { recursive: true, mode: 0o700 });
  const release = await holdFileLock(join(folder, "run", "lock.db"));
  if (release === null) throw new DataFolderTaken(folder);
  return { release };
}

/**
 * Shared by everything that opens the data but does not serve it; whoever exchanges the database waits until nobody holds it, and
 * keeps others out: a connection that outlives its file would remove the log of the next one when it ends.
 * @returns null when it is held in a way that does not go together
 */
export async function holdBeside(folder: string, mode: "exclusive" | "shared"): Promise<(() => Promise<void>) | null> {
  await mkdir(join(folder, "run"), { recursive: true, mode: 0o700 });
  return await holdFileLock(join(folder, "run", "beside.db"), mode);
}
