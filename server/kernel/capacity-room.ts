import { randomFillSync } from "node:crypto";
import { constants } from "node:fs";
import { access, open, rm, stat, statfs } from "node:fs/promises";
import path from "node:path";

/** How much room the volume of the data folder has, and what is kept of it for the moment when there is none. */

export const mebibyte = 1024 ** 2;

/** Of the volume, as `df` counts it. */
export type Room = {
  /** What an ordinary user may still write. */
  freeBytes: number;
  volumeBytes: number;
  /** The reserve counts as used whether it is held or released, so that its release does not look like recovery. */
  usedPercent: number;
  /** Size of the reserve file now. */
  reserveBytes: number;
};

const reserveOf = (dataDir: string): string => path.join(dataDir, "run", "reserve");

/** @param reserve size that the reserve file should have, in bytes */
export async function measureRoom(dataDir: string, reserve: number): Promise<Room> {
  const [{ blocks, bfree, bavail, bsize }, reserveBytes] = await Promise.all([
    statfs(dataDir),
    stat(reserveOf(dataDir)).then(
      ({ size }) => size,
      () => 0,
    ),
  ]);
  const usable = (blocks - bfree + bavail) * bsize;
  const freeBytes = bavail * bsize;
  const lasting = Math.max(0, freeBytes - Math.max(0, reserve - reserveBytes));
  return {
    freeBytes,
    volumeBytes: usable,
    usedPercent: usable === 0 ? 100 : Math.round((1 - lasting / usable) * 1000) / 10,
    reserveBytes,
  };
}

/** Writes the reserve file, with bytes that no file system can make smaller. A half-written one is made anew. */
export async function makeReserve(dataDir: string, bytes: number): Promise<void> {
  const file = reserveOf(dataDir);
  const handle = await open(file, "w", 0o600);
  try {
    const piece = Buffer.allocUnsafe(mebibyte);
    for (let left = bytes; left > 0; left -= piece.length) {
      randomFillSync(piece);
      await handle.writeFile(piece.subarray(0, Math.min(left, piece.length)));
    }
    await handle.sync();
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

/** Gives the reserve back to the volume. @returns whether there was one */
export async function releaseReserve(dataDir: string): Promise<boolean> {
  const held = await stat(reserveOf(dataDir)).catch(() => null);
  // A volume that is full beyond its last block may lack room to record a removal: cut short, it gives its blocks back first.
  if (held) await open(reserveOf(dataDir), "r+").then((handle) => handle.truncate(0).finally(() => handle.close()));
  await rm(reserveOf(dataDir), { force: true });
  return held !== null;
}

/** Tries to write where the appliance writes. @returns why that cannot be done; null when it can */
export async function probeWriting(dataDir: string): Promise<NodeJS.ErrnoException | null> {
  try {
    const handle = await open(path.join(dataDir, "run", "probe"), "w", 0o600);
    try {
      await handle.writeFile("x");
    } finally {
      await handle.close();
    }
    for (const name of ["", "blobs/tmp", "signet.db"]) await access(path.join(dataDir, name), constants.W_OK);
    return null;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}
