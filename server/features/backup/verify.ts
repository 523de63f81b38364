import { stat } from "node:fs/promises";
import path from "node:path";
import { denialIn, isDenied } from "./denied.ts";
import { BackupDamaged, databaseFile, digestFile, listFile, type Manifest, machineFile } from "./manifest.ts";
import type { Opened } from "./opened.ts";
import { fileKey } from "./sealed-file.ts";
import { runInThread } from "./steps.ts";
import type { Target } from "./target.ts";
import type { Work } from "./write.ts";

/** What is wrong with a backup; of many damaged files the first hundred. */
export type Problem = { part: "manifest" | "database" | "machine" | "list" | "blob"; file: string; problem: string };

/**
 * Reads every file of a backup: the encrypted ones chunk by chunk to their end, each blob decrypted and hashed. Whoever calls
 * holds the lock of the target.
 * @param options.repair removes damaged blobs, so that they are copied again
 * @throws what the operating system refuses to this user: that says nothing about the backup
 */
export async function verifyParts(
  target: Target,
  manifest: Manifest,
  { backupKey, secrets }: Opened,
  options: Work & { repair?: boolean },
): Promise<Problem[]> {
  const { signal } = options;
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
      await stat(file);
      const { sha256 } = await runInThread({ step: "open", from: file, to: null, key }, { signal, told });
      if (sha256 !== manifest.files[name].sha256) problems.push({ part, file, problem: "it is another file" });
    } catch (error) {
      if (signal?.aborted || isDenied(error)) throw error;
      problems.push({ part, file, problem: messageOf(error) });
    }
  }
  try {
    await proveList(target, manifest);
  } catch (error) {
    if (denialIn(error)) throw error;
    // Without the list nobody knows which blobs belong to it.
    return [...problems, { part: "list", file: path.join(folder, listFile), problem: messageOf(error) }];
  }
  const found = await runInThread(
    {
      step: "check",
      folder: target.blobsOf(manifest.masterKey),
      list: listOf(target, manifest),
      keys: secrets.wrapKeys(),
      repair: options.repair ?? false,
    },
    { signal, told },
  );
  return [...problems, ...found.problems.map((one) => ({ part: "blob" as const, ...one }))];
}

/** The list of blobs of a backup, for a thread that reads it. */
export const listOf = (target: Target, { id, files }: Manifest) => ({
  file: path.join(target.folderOf(id), listFile),
  sha256: files[listFile].sha256,
});

/** @throws BackupDamaged when the list of blobs is not the one that was written */
export async function proveList(target: Target, manifest: Manifest): Promise<void> {
  const file = path.join(target.folderOf(manifest.id), listFile);
  const found = await digestFile(file).catch((cause: unknown) => {
    throw new BackupDamaged(`the list of blobs of ${manifest.id} cannot be read`, { cause });
  });
  if (found.sha256 !== manifest.files[listFile].sha256)
    throw new BackupDamaged(`the list of blobs of ${manifest.id} was changed`);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
