import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Config } from "../../config.ts";
import { type Keep, parseKeep } from "./keep.ts";
import type { Recipient } from "./recipient.ts";

export type BackupSettings = {
  folder: string;
  recipient: Recipient;
  keep: Keep;
};

type Chosen = Pick<Config, "backupDir" | "backupRecipient" | "backupPassphraseFile" | "backupKeep">;

/** Whether backups can be made with these settings: a folder, and somebody who can open them. */
export const isSetUp = ({ backupDir, backupRecipient, backupPassphraseFile }: Chosen): boolean =>
  backupDir !== undefined && (backupRecipient !== undefined || backupPassphraseFile !== undefined);

/** @throws NoBackupSettings, and what reading the passphrase's file throws */
export async function backupSettings(config: Chosen): Promise<BackupSettings> {
  const folder = backupFolder(config);
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

const shortestPassphrase = 12;

/** What is needed for backups is not set. */
export class NoBackupSettings extends Error {
  readonly code = "NO_BACKUP_SETTINGS";
  override name = "NoBackupSettings";
}
