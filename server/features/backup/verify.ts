import path from "node:path";
import { denialIn, isDenied } from "./denied.ts";
import type { Watched } from "./helper-process.ts";
import { BackupDamaged, databaseFile, listFile, type Manifest, machineFile } from "./manifest.ts";
import type { Opened } from "./opened.ts";
import { runInProcess } from "./run-step.ts";
import { fileKey } from "./sealed-file.ts";
import type { Target } from "./target.ts";
import { StepLost } from "./target-errors.ts";
import type { Work } from "./write.ts";

/** What is wrong with a backup; of many damaged files the first hundred. */
export type Problem = { part: "manifest" | "database" | "machine" | "list" | "blob"; file: string; problem: string };

/**
 * Reads every file of a backup: the encrypted ones chunk by chunk to their end, each blob decrypted and hashed. Whoever calls
 * holds the lock of the target.
 * @param options.repair removes damaged blobs, so that they are copied again
 * @throws what the operating system refuses to this user, and StepLost: that says nothing about the backup
 */
export async function verifyParts(
  target: Target,
  manifest: Manifest,
  { backupKey, secrets }: Opened,
  options: Work & { repair?: boolean },
): Promise<Problem[]> {
  const { signal, stuck } = options;
  const told = (progress: Parameters<Work["told"]>[1]) => options.told("verify", progress);
  const folder = target.folderOf(manifest.id);
  const problems: Problem[] = [];
  for (const [name, part] of [
    [machineFile, "machine"],
    [databaseFile, "database"],
  ] as const) {
    const file = path.join(folder, name);
    const key = fileKey(backupKey, manifest.id, name);
    try {
      const { sha256 } = await runInProcess({ step: "open", from: file, to: null, key }, { signal, stuck, told });
      if (sha256 !== manifest.files[name].sha256) problems.push({ part, file, problem: "it is another file" });
    } catch (error) {
      if (signal?.aborted || isDenied(error) || error instanceof StepLost) throw error;
      problems.push({ part, file, problem: messageOf(error) });
    }
  }
  try {
    await proveList(target, manifest, options);
  } catch (error) {
    if (signal?.aborted || denialIn(error) || error instanceof StepLost) throw error;
    // Without the list nobody knows which blobs belong to it.
    return [...problems, { part: "list", file: path.join(folder, listFile), problem: messageOf(error) }];
  }
  const found = await runInProcess(
    {
      step: "check",
      folder: target.blobsOf(manifest.masterKey),
      list: listOf(target, manifest),
      keys: secrets.wrapKeys(),
      repair: options.repair ?? false,
    },
    { signal, stuck, told },
  );
  return [...problems, ...found.problems.map((one) => ({ part: "blob" as const, ...one }))];
}

/** The list of blobs of a backup, for a step that reads it. */
export const listOf = (target: Target, { id, files }: Manifest) => ({
  file: path.join(target.folderOf(id), listFile),
  sha256: files[listFile].sha256,
});

/** @throws BackupDamaged when the list of blobs is not the one that was written; StepLost */
export async function proveList(target: Target, manifest: Manifest, { signal, stuck }: Watched): Promise<void> {
  const found = await target.digestList(manifest.id, { signal, stuck }).catch((cause: unknown) => {
    signal?.throwIfAborted();
    if (cause instanceof StepLost) throw cause;
    throw new BackupDamaged(`the list of blobs of ${manifest.id} cannot be read`, { cause });
  });
  if (found.sha256 !== manifest.files[listFile].sha256)
    throw new BackupDamaged(`the list of blobs of ${manifest.id} was changed`);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
