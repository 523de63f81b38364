import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Config } from "../../config.ts";
import { type Keep, parseKeep } from "./keep.ts";
import type { Recipient } from "./recipient.ts";
import { openTarget } from "./target.ts";
import { realPathOf } from "./target-folder.ts";

export type BackupSettings = {
  folder: string;
  recipient: Recipient;
  keep: Keep;
};

type Chosen = Pick<Config, "dataDir" | "backupDir" | "backupRecipient" | "backupPassphraseFile" | "backupKeep">;

/** Whether backups can be made with these settings: a folder, and somebody who can open them. */
export const isSetUp = ({ backupDir, backupRecipient, backupPassphraseFile }: Omit<Chosen, "dataDir">): boolean =>
  backupDir !== undefined && (backupRecipient !== undefined || backupPassphraseFile !== undefined);

/** @throws NoBackupSettings, and what reading the passphrase's file throws */
export async function backupSettings(config: Chosen): Promise<BackupSettings> {
  const folder = backupFolder(config);
  await refuseInside(config);
  const keep = parseKeep(config.backupKeep);
  if (config.backupRecipient !== undefined)
    return { folder, keep, recipient: { kind: "x25519", text: config.backupRecipient } };
  if (config.backupPassphraseFile === undefined)
    throw new NoBackupSettings(
      "nobody could open a backup: make a key with signet backup key and set SIGNET_BACKUP_RECIPIENT, or set SIGNET_BACKUP_PASSPHRASE_FILE",
    );
  const passphrase = (await readFile(config.backupPassphraseFile, "utf8")).replace(/\r?\n$/, "");
  if (passphrase.length < shortestPassphrase)
    throw new NoBackupSettings(`the passphrase of backups must have at least ${shortestPassphrase} characters`);
  return { folder, keep, recipient: { kind: "passphrase", passphrase } };
}

/** @throws NoBackupSettings */
export function backupFolder({ backupDir }: Pick<Config, "backupDir">): string {
  if (backupDir === undefined) throw new NoBackupSettings("there is no folder for backups: set SIGNET_BACKUP_DIR");
  return path.resolve(backupDir);
}

/**
 * What lies in the data folder is lost with it, and tidying there would delete documents; a link is as bad as the folder itself.
 * @throws NoBackupSettings; what looking at the paths throws
 */
export async function refuseInside({ backupDir, dataDir }: Pick<Config, "dataDir" | "backupDir">): Promise<void> {
  if (backupDir === undefined) return;
  const real = await openTarget(path.resolve(backupDir)).realPath();
  const inside = path.relative(await realPathOf(path.resolve(dataDir)), real);
  if (inside !== "" && (inside === ".." || inside.startsWith(`..${path.sep}`) || path.isAbsolute(inside))) return;
  const leads = real === path.resolve(backupDir) ? "lies" : `leads to ${real}, which lies`;
  throw new NoBackupSettings(`SIGNET_BACKUP_DIR ${leads} in the data folder: choose one on another disk`);
}

const shortestPassphrase = 12;

/** What is needed for backups is not set. */
export class NoBackupSettings extends Error {
  readonly code = "NO_BACKUP_SETTINGS";
  override name = "NoBackupSettings";
}
