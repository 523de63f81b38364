import { masterKeyFingerprint, openSecrets, SealedTextDamaged, type Secrets } from "../../kernel/secrets.ts";
import { type Machine, parseMachine } from "./machine.ts";
import { BackupDamaged, type Manifest, machineFile, proveManifest } from "./manifest.ts";
import { type Opener, unwrapBackupKey, WrongBackupKey } from "./recipient.ts";
import { fileKey } from "./sealed-file.ts";
import type { Target } from "./target.ts";
import { StepLost } from "./target-errors.ts";

/** A backup whose key was found: `secrets` are those of the master key that everything in it lies under. */
export type Opened = { backupKey: Buffer; secrets: Secrets };

/** What the backup's key for the appliance itself is bound to. */
export const applianceContext = (id: string): string => `backup:${id}`;

/** Opens a backup with the master key that the appliance works with. @throws WrongBackupKey, BackupDamaged */
export function openAsAppliance(manifest: Manifest, secrets: Secrets): Opened {
  try {
    const backupKey = secrets.open(manifest.keys.appliance, applianceContext(manifest.id));
    proveManifest(manifest, secrets);
    return { backupKey, secrets };
  } catch (cause) {
    if (!(cause instanceof SealedTextDamaged)) throw cause;
    const detail = `the backup ${manifest.id} is under another master key than this data folder: give the key of its recipient`;
    throw new WrongBackupKey(detail, { cause });
  }
}

/** Opens a backup as its recipient, who needs nothing else. @throws WrongBackupKey, BackupDamaged */
export async function openAsRecipient(
  target: Target,
  manifest: Manifest,
  opener: Opener,
): Promise<Opened & { machine: Machine }> {
  const backupKey = unwrapBackupKey(manifest.keys.recipient, opener, manifest.id);
  const machine = await machineOf(target, manifest, backupKey);
  const masterKey = Buffer.from(machine.masterKey, "base64");
  if (masterKeyFingerprint(masterKey) !== manifest.masterKey)
    throw new BackupDamaged(`the backup ${manifest.id} holds another master key than it says`);
  const secrets = openSecrets(masterKey);
  proveManifest(manifest, secrets);
  return { backupKey, secrets, machine };
}

/** @throws BackupDamaged, StepLost */
export async function machineOf(target: Target, manifest: Manifest, backupKey: Buffer): Promise<Machine> {
  try {
    const key = fileKey(backupKey, manifest.id, machineFile);
    const { text, sha256 } = await target.openPart(manifest.id, machineFile, key);
    if (sha256 !== manifest.files[machineFile].sha256) throw new Error("it is another file than the manifest names");
    return parseMachine(text);
  } catch (cause) {
    if (cause instanceof StepLost) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new BackupDamaged(`the machine's part of ${manifest.id} cannot be read: ${reason}`, { cause });
  }
}
