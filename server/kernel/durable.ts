import { open } from "node:fs/promises";

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
