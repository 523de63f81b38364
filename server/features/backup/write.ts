import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { openDatabase } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { findMasterKeys } from "../../kernel/master-key.ts";
import { masterKeyFingerprint } from "../../kernel/secrets.ts";
import { lockStore } from "../../kernel/store-lock.ts";
import { version } from "../../version.ts";
import type { BackupProgress, RunStatus } from "./contract.ts";
import { isAhead } from "./dates.ts";
import type { Watched } from "./helper-process.ts";
import { letGo } from "./keep.ts";
import { readMachine, textOfMachine } from "./machine.ts";
import {
  BackupDamaged,
  databaseFile,
  isGenuine,
  listFile,
  type Manifest,
  machineFile,
  signManifest,
  textOfManifest,
} from "./manifest.ts";
import { applianceContext, openAsAppliance } from "./opened.ts";
import { wrapBackupKey } from "./recipient.ts";
import { runInProcess } from "./run-step.ts";
import { fileKey } from "./sealed-file.ts";
import type { BackupSettings } from "./settings.ts";
import type { Order, Outcome, Progress } from "./steps.ts";
import { readHeads } from "./store.ts";
import { openTarget, type Target, whileLocked } from "./target.ts";
import { TargetBusy } from "./target-errors.ts";
import { listOf, type Problem, proveList, verifyParts } from "./verify.ts";

export type Work = Watched & {
  told: (step: BackupProgress["step"], progress: Progress | null) => void;
  /** Called behind each step; the crash tests end the process there. */
  reached?: ((point: string) => void) | undefined;
};

export type Written = { manifest: Manifest; copiedBytes: number; problems: Problem[]; removed: string[] };

/** A backup cannot be made as things stand: a person has to do something first. */
export class BackupRefused extends Error {
  readonly code = "BACKUP_REFUSED";
  override name = "BackupRefused";
}

/**
 * Writes a backup while people sign, reads it again, and removes what it supersedes. The database is copied as of one moment;
 * files that it names were written before it named them, and none goes while the store is locked. Whatever ends the process, the
 * folder holds the complete backups of before, and the next attempt goes on with the files that were copied.
 * @param work.noted the backups that this appliance made, and what became of them
 * @throws TargetBusy while the collection of garbage or another process is at work; BackupRefused; errors of the machine (ENOSPC …)
 */
export async function writeBackup(
  deps: Deps,
  settings: BackupSettings,
  { id, usedBefore, noted, ...work }: Work & { id: string; usedBefore: boolean; noted: Noted },
): Promise<Written> {
  const target = openTarget(settings.folder);
  await refuseUnfit(target, usedBefore);
  return await whileLocked(target, "exclusive", {
    work,
    async perform(locked) {
      const releaseStore = await lockStore(deps.config.dataDir);
      if (releaseStore === null) throw new TargetBusy("the files of deleted documents are being collected");
      try {
        return await write(deps, { settings, target, id, work: locked, noted });
      } finally {
        await releaseStore();
      }
    },
  });
}

/** A share that is not mounted looks like an empty folder: nothing may be written below its mount point. */
async function refuseUnfit(target: Target, usedBefore: boolean): Promise<void> {
  if (!(await target.isFolder()))
    throw new BackupRefused(`${target.folder} is no folder: make it, or mount the share that it lies on`);
  if (usedBefore && !(await target.isUsed()))
    throw new BackupRefused(
      `${target.folder} is empty, but backups were written to it before: mount its share, or name a new folder`,
    );
}

type Noted = ReadonlyMap<string, RunStatus>;
type Job = { settings: BackupSettings; target: Target; id: string; work: Work; noted: Noted };

async function write(deps: Deps, { settings, target, id, work, noted }: Job): Promise<Written> {
  const scratch = path.join(deps.config.dataDir, "run", "backup");
  try {
    await rm(scratch, { recursive: true, force: true });
    await mkdir(scratch, { recursive: true, mode: 0o700 });
    // A process that died behind its last rename, or a data folder that was restored from this very backup, made it already.
    const made = (await target.ids()).includes(id)
      ? { manifest: await target.read(id), copiedBytes: 0 }
      : await writeParts(deps, { settings, target, id, work, noted, scratch });
    const again = await lookAgain(deps, { target, manifest: made.manifest, scratch, work });
    const removed =
      again.problems.length > 0 ? [] : await removeSuperseded(deps, { target, settings, id, work, noted });
    const copiedBytes = made.copiedBytes + again.copiedBytes;
    return { manifest: made.manifest, copiedBytes, problems: again.problems, removed };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function writeParts(
  deps: Deps,
  { settings, target, id, work, scratch }: Job & { scratch: string },
): Promise<{ manifest: Manifest; copiedBytes: number }> {
  const { current, before } = await findMasterKeys(deps.config, false);
  if (before !== null)
    throw new BackupRefused("the master key is half replaced: end that first with signet keys rotate-master");
  const masterKey = masterKeyFingerprint(current);
  const watched = { signal: work.signal, stuck: work.stuck };
  const partial = await target.begin(id, watched);
  const backupKey = randomBytes(32);
  const step = (name: BackupProgress["step"], order: Order) =>
    runInProcess(order, { ...watched, told: (progress) => work.told(name, progress) });
  const seal = (name: typeof databaseFile | typeof machineFile, from: string | Uint8Array) =>
    step("database", { step: "seal", from, to: path.join(partial, name), key: fileKey(backupKey, id, name) });
  try {
    work.told("database", null);
    const createdAt = deps.clock.ts();
    const copy = path.join(scratch, "signet.db");
    await deps.db.copyTo(copy);
    work.signal?.throwIfAborted();
    const heads = await headsOf(copy, deps);
    const database = await seal(databaseFile, copy);
    // Never in a file: it holds the master key, which may lie on another disk for good reason.
    const machine = await seal(machineFile, Buffer.from(textOfMachine(await readMachine(deps.config, current))));
    work.reached?.("database");
    const copied = await step("blobs", {
      step: "copy",
      from: path.join(deps.config.dataDir, "blobs"),
      to: target.blobsOf(masterKey),
      list: path.join(partial, listFile),
    });
    work.reached?.("blobs");
    const body = {
      v: 1 as const,
      type: "signet.backup" as const,
      id,
      createdAt,
      version,
      masterKey,
      keys: {
        recipient: await wrapBackupKey(backupKey, settings.recipient, id),
        appliance: deps.secrets.seal(backupKey, applianceContext(id)),
      },
      files: {
        [databaseFile]: sizeAndHash(database),
        [machineFile]: sizeAndHash(machine),
        [listFile]: await target.digestList(id, watched, target.partialOf),
      },
      blobs: { count: copied.files, bytes: copied.bytes },
      heads,
    };
    const manifest = signManifest(body, deps.secrets);
    await target.writeManifest(id, textOfManifest(manifest), watched);
    work.reached?.("manifest");
    await target.complete(id, watched);
    work.reached?.("complete");
    return { manifest, copiedBytes: copied.copiedBytes };
  } finally {
    // What keeps it from going, or from answering, has its say already; the next backup removes it too.
    await target.drop(id, watched).catch(() => undefined);
  }
}

const sizeAndHash = ({ bytes, sha256 }: Outcome) => ({ bytes, sha256 });

type Again = { target: Target; manifest: Manifest; scratch: string; work: Work };

/** Reads everything again. What an earlier run copied and the disk of the target has damaged since is copied anew. */
async function lookAgain(
  deps: Deps,
  { target, manifest, scratch, work }: Again,
): Promise<{ problems: Problem[]; copiedBytes: number }> {
  const opened = openAsAppliance(manifest, deps.secrets);
  const first = await verifyParts(target, manifest, opened, { ...work, repair: true });
  if (!first.some(({ part }) => part === "blob")) return { problems: first, copiedBytes: 0 };
  const options = {
    signal: work.signal,
    stuck: work.stuck,
    told: (progress: Progress) => work.told("blobs", progress),
  };
  const from = path.join(deps.config.dataDir, "blobs");
  const to = target.blobsOf(manifest.masterKey);
  const { copiedBytes } = await runInProcess({ step: "copy", from, to, list: path.join(scratch, "list") }, options);
  return { problems: await verifyParts(target, manifest, opened, work), copiedBytes };
}

/**
 * Removes the backups that the rules let go, and then the files that no backup names any more. Those of another appliance that
 * writes to the same folder stay: a backup is our own when we noted it, or when it carries our mark.
 */
async function removeSuperseded(deps: Deps, { target, settings, id: made, work, noted }: Job): Promise<string[]> {
  const all = await target.list();
  const whole = all.flatMap(({ manifest }) => (manifest === null ? [] : [manifest]));
  const ours = whole.filter((manifest) => noted.has(manifest.id) || isGenuine(manifest, deps.secrets));
  // One of the future takes no place until its date has come, and stays: perhaps it is now that the clock is wrong.
  const own = ours.filter(({ id }) => !isAhead(id, deps.clock));
  const byRule = letGo(own, noted, settings.keep);
  const gone = byRule.filter((id) => id !== made);
  for (const id of gone) await target.remove(id, { signal: work.signal, stuck: work.stuck });
  work.reached?.("removed");
  // What a damaged one names nobody can tell: then every file stays.
  if (gone.length === 0 || whole.length < all.length) return gone;
  const left = whole.filter(({ id }) => !gone.includes(id));
  const stores = own.filter(({ id }) => gone.includes(id)).map((manifest) => manifest.masterKey);
  for (const masterKey of new Set(stores)) {
    const naming = left.filter((manifest) => manifest.masterKey === masterKey);
    // Nor what a list names that was changed.
    if (!(await allProven(target, naming, work))) continue;
    const lists = naming.map((manifest) => listOf(target, manifest));
    await runInProcess(
      { step: "prune", folder: target.blobsOf(masterKey), lists },
      { signal: work.signal, stuck: work.stuck, told: (progress) => work.told("prune", progress) },
    );
  }
  return gone;
}

async function allProven(target: Target, manifests: readonly Manifest[], work: Work): Promise<boolean> {
  try {
    for (const manifest of manifests) await proveList(target, manifest, work);
    return true;
  } catch (error) {
    if (error instanceof BackupDamaged) return false;
    throw error;
  }
}

async function headsOf(file: string, { clock }: Deps) {
  const copy = await openDatabase({ file, clock, readers: 1 });
  try {
    return await readHeads(copy.read);
  } finally {
    await copy.close();
  }
}
