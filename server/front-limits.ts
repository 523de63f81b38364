import { readFileSync } from "node:fs";
import type { Server as NetServer } from "node:net";

/** How many connections strangers may hold, so that descriptors are left for files, jobs and the administrators. */

/** More than that many people at once are served by no single machine; each connection costs memory, too. */
const most = 10_000;
/** Between two words about connections that were turned away, in milliseconds. */
const wordEveryMs = 60_000;

/**
 * Half of the descriptors that this process may open: whoever is connected may have a file open as well.
 * @param limits what the system says of this process
 */
export function connectionLimit(limits = ownLimits()): number {
  const descriptors = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return descriptors === undefined ? most : Math.max(1, Math.min(most, Math.floor(Number(descriptors) / 2)));
}

/** Empty where the system has no such file; there is no limit to run into on Windows. */
function ownLimits(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    return "";
  }
}

/** What was turned away since the last word. */
export type Crowd = { connections: number; turnedAway: number };

/**
 * Hangs up on whoever comes when the server has `connections` already.
 * @param onCrowd hears of the first, and then once a minute how many there were since
 */
export function boundConnections(server: NetServer, connections: number, onCrowd: (crowd: Crowd) => void): void {
  let turnedAway = 0;
  let timer: NodeJS.Timeout | undefined;
  const say = () => {
    timer = undefined;
    if (turnedAway === 0) return;
    onCrowd({ connections, turnedAway });
    turnedAway = 0;
    timer = setTimeout(say, wordEveryMs).unref();
  };
  server.maxConnections = connections;
  server.on("drop", () => {
    turnedAway += 1;
    if (timer === undefined) say();
  });
  server.once("close", () => clearTimeout(timer));
}
