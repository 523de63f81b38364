import { chmod, chown, stat } from "node:fs/promises";
import path from "node:path";
import { holdFileLock, isFileHeld } from "../../kernel/db.ts";
import { makeUpdateFolder, updateFolder } from "./installation.ts";
import { type Journal, readJournal } from "./journal.ts";

/** Who goes on with an update: one process at a time, and the system lets go of its lock when that process ends. */

const lockFile = (root: string) => path.join(updateFolder(root), "lock.db");
/** Whoever asks how an update stands is in the way for a moment; that is no other update. */
const lockTries = 20;

/**
 * Held while an update runs, whoever runs it.
 * @param dataDir whose group asks whether it is held
 * @returns null while another does
 */
export async function lockUpdates(root: string, dataDir: string): Promise<(() => Promise<void>) | null> {
  await makeUpdateFolder(root);
  for (let tries = 1; ; tries += 1) {
    const release = await holdFileLock(lockFile(root));
    await showTo(dataDir, lockFile(root));
    if (release !== null || tries === lockTries) return release;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Whoever serves asks whether it is held, and may not while one of an older release holds it. Nobody else may: who can read the file
 * can hold it, and no update would go on.
 */
async function showTo(dataDir: string, file: string): Promise<void> {
  const data = await stat(dataDir).catch(() => null);
  if (process.getuid?.() === 0 && data !== null) await chown(file, 0, data.gid);
  await chmod(file, 0o640);
}

/**
 * The journal, and whether its update was begun and nobody goes on with it: the system lets go of the lock with the process
 * that held it, whichever process has its number since.
 */
export async function readStanding(root: string): Promise<{ journal: Journal | null; interrupted: boolean }> {
  const seen = await readJournal(root);
  if (seen === null || seen.phase === "done") return { journal: seen, interrupted: false };
  if (await isLockHeld(root)) return { journal: seen, interrupted: false };
  // It may have ended between the two looks.
  const journal = await readJournal(root);
  return { journal, interrupted: journal !== null && journal.phase !== "done" && journal.id === seen.id };
}

/** Releases before this one let nobody else look at their lock: while that is so, one of them runs, or nobody can say that it ended. */
async function isLockHeld(root: string): Promise<boolean> {
  return await isFileHeld(lockFile(root)).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "SQLITE_CANTOPEN") return true;
    throw error;
  });
}
