import { open, rename } from "node:fs/promises";
import path from "node:path";

/** Makes what was created, renamed or linked in a folder survive a loss of power. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows neither needs nor allows a flush of a folder.
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Replaces a file as a whole: after a loss of power at any moment there is the old text or the new. For the owner's eyes unless
 * the mode says otherwise.
 */
export async function writeDurably(file: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const temporary = `${file}.tmp`;
  const handle = await open(temporary, "w", mode);
  try {
    await handle.chmod(mode);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
  await syncFolder(path.dirname(file));
}
