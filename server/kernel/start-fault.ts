import { constants } from "node:fs";
import { access, readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import type { Config } from "../config.ts";
import { systemClock } from "./clock.ts";
import { writeDurably } from "./durable.ts";
import { storageFault } from "./storage-fault.ts";
import { StartFault, startFaultBeside } from "./wire.ts";

type Places = Pick<Config, "dataDir" | "masterKeyFile">;

/** The appliance cannot work with what lies in its data folder. The message says what to do. */
class CannotStart extends Error {
  /** Marks a failure of the installation rather than of the program. */
  readonly code = "CANNOT_START";
  override name = "CannotStart";
}

const recordOf = (dataDir: string): string => path.join(dataDir, "run", "start-fault.json");

/**
 * Keeps it for `signet status`, where the folder can be written, and beside the admin socket for the console, whose user may not
 * look into the data folder.
 * @param error null when the start has succeeded
 */
export async function recordStart(
  { dataDir, adminSocket }: Pick<Config, "dataDir" | "adminSocket">,
  error: unknown,
): Promise<void> {
  // Another process runs there, and its record is its own.
  if (error instanceof Error && error.name === "DataFolderTaken") return;
  const fault: StartFault | null =
    error === null ? null : { at: systemClock.ts(), message: error instanceof Error ? error.message : String(error) };
  await keep(recordOf(dataDir), fault, 0o600).catch(() => undefined);
  // A named pipe has no folder.
  if (process.platform === "win32") return;
  // Its group is that of the administrators, as the socket's is.
  await keep(startFaultBeside(adminSocket), fault, 0o640).catch(() => undefined);
}

async function keep(file: string, fault: StartFault | null, mode: number): Promise<void> {
  if (fault === null) return await rm(file, { force: true });
  await writeDurably(file, JSON.stringify(fault), mode);
}

/** Null when the last start succeeded, or nothing can be read. */
export async function readStartFault(dataDir: string): Promise<StartFault | null> {
  const text = await readFile(recordOf(dataDir), "utf8").catch(() => null);
  if (text === null) return null;
  try {
    return StartFault.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

const denied = new Set(["EACCES", "EPERM", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR", "EIO"]);

/** The failure with what to do about it, where it comes from the data folder; any other as it is. */
export async function explainStart(error: unknown, places: Places): Promise<unknown> {
  if (error instanceof CannotStart) return error;
  const fault = storageFault(error);
  const { dataDir } = places;
  if (fault === "damaged") {
    return new CannotStart(
      `the database ${path.join(dataDir, "signet.db")} is damaged: keep a copy of the folder, then restore the last backup (signet restore)`,
      { cause: error },
    );
  }
  if (fault === "full") {
    return new CannotStart(`there is no room on the volume of ${dataDir}: make room, then start again`, {
      cause: error,
    });
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (fault === null && !denied.has(code)) return error;
  const found = await firstDenied(places);
  return found === null ? error : new CannotStart(found, { cause: error });
}

/** What of the data folder this user may not read and write, with what to do; null when it is all right. */
async function firstDenied({ dataDir, masterKeyFile }: Places): Promise<string | null> {
  const read = constants.R_OK;
  const write = constants.R_OK | constants.W_OK;
  const places: [string, number][] = [
    [dataDir, write | constants.X_OK],
    ...["run", "blobs", "blobs/tmp"].map((name): [string, number] => [
      path.join(dataDir, name),
      write | constants.X_OK,
    ]),
    ...[
      "signet.db",
      "signet.db-wal",
      "signet.db-shm",
      "run/lock.db",
      "run/beside.db",
      "run/tls-lock.db",
      "run/master-key.lock",
    ].map((name): [string, number] => [path.join(dataDir, name), write]),
    [masterKeyFile, read],
    [path.join(dataDir, "signet.json"), read],
  ];
  for (const [place, mode] of places) {
    const code = await access(place, mode).then(
      () => null,
      (error: unknown) => (error instanceof Error && "code" in error ? error.code : "unknown"),
    );
    if (code === "EROFS")
      return `${place} is on a volume that is mounted read-only: look in the system's log for why, repair the volume and mount it for writing; under systemd every folder that the unit does not name is so, and "systemctl edit signet" with ReadWritePaths=${dataDir} under [Service] names it`;
    if (code !== null && code !== "ENOENT") return await deniedTo(place, dataDir);
  }
  return null;
}

async function deniedTo(place: string, dataDir: string): Promise<string> {
  const self = process.getuid?.() ?? "this user";
  const found = await stat(place).catch(() => null);
  if (!found) return `user ${self} may not look at ${place}: give the folder to the user that runs Signet`;
  const mode = (found.mode & 0o777).toString(8).padStart(4, "0");
  const remedy =
    found.uid === self ? `chmod u+rwX -R ${dataDir}` : `chown -R USER ${dataDir} with the user that runs Signet`;
  return `user ${self} may not use ${place}, which belongs to user ${found.uid} with mode ${mode}: ${remedy}`;
}
