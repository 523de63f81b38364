import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { holdFileLock } from "./db.ts";

/**
 * Keeps every file of the store where it is until it is released or the process ends: the collection of garbage and whoever
 * copies the store, in whatever process, exclude each other. Writing goes on meanwhile.
 * @returns null while another holds it
 */
export async function lockStore(dataDir: string): Promise<(() => Promise<void>) | null> {
  await mkdir(join(dataDir, "run"), { recursive: true, mode: 0o700 });
  return await holdFileLock(join(dataDir, "run", "store-lock.db"));
}
