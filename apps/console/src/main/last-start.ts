import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { StartFault, startFaultBeside } from "../../../../server/kernel/wire.ts";

/** More than any cause takes, in bytes. */
const largest = 64 * 1024;

/** Why the last start of the appliance at a socket of this machine failed; null where nothing says so. */
export async function readLastStart(socket: string): Promise<StartFault | null> {
  try {
    // Whatever lies there: a pipe without a writer keeps nobody waiting.
    const handle = await open(startFaultBeside(socket), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const about = await handle.stat();
      if (!about.isFile() || about.size > largest) return null;
      return StartFault.parse(JSON.parse(await handle.readFile("utf8")));
    } finally {
      await handle.close();
    }
  } catch {
    return null;
  }
}
