import { access, link, mkdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Database, holdFileLock } from "./db.ts";
import { syncFolder } from "./durable.ts";
import { createMasterKey, loadMasterKey, MasterKeyUnfit, SealedTextDamaged, type Secrets } from "./secrets.ts";

declare module "./db.ts" {
  interface Tables {
    master_key_proof: { id: number; sealed: string };
  }
}

/**
 * Reads the master key, or makes it for a data folder that holds nothing yet. Over existing data a missing key is never
 * replaced: nothing written before could be read again, and what is written from then on would hide that.
 * @throws MasterKeyUnfit, and what loadMasterKey throws
 */
export async function findMasterKey(
  { dataDir, masterKeyFile: file }: { dataDir: string; masterKeyFile: string },
  create: boolean,
): Promise<Buffer> {
  const known = await unless("ENOENT", loadMasterKey(file));
  if (known !== undefined) return known;
  if (await holdsData(dataDir)) {
    // Another process may have made the key and the first data since.
    const late = await unless("ENOENT", loadMasterKey(file));
    if (late !== undefined) return late;
    throw new MasterKeyUnfit(
      `the master key ${file} is missing, but ${dataDir} holds data that only it can open; put the key back or set SIGNET_MASTER_KEY_FILE`,
    );
  }
  if (!create) {
    throw new MasterKeyUnfit(
      `${dataDir} holds no data and no master key yet; start with: signet init, or signet serve`,
    );
  }
  return (await unless("EEXIST", createMasterKey(file))) ?? (await loadMasterKey(file));
}

/** Where the next master key lies from the beginning of a rotation until it takes the place of the one before. */
const nextFile = (file: string) => `${file}.next`;

/** What opens the data: everything is sealed under the current one. */
export type MasterKeys = { current: Buffer /** Of a rotation that was interrupted. */; before: Buffer | null };

/** The master key, and while a rotation is not at its end both. @throws what findMasterKey throws */
export async function findMasterKeys(
  about: { dataDir: string; masterKeyFile: string },
  create: boolean,
): Promise<MasterKeys> {
  const key = await findMasterKey(about, create);
  const next = await unless("ENOENT", loadMasterKey(nextFile(about.masterKeyFile)));
  return next === undefined ? { current: key, before: null } : { current: next, before: key };
}

/** Makes the next master key, or takes that of a rotation that was interrupted. @throws MasterKeyUnfit without data */
export async function beginMasterKey(about: { dataDir: string; masterKeyFile: string }): Promise<void> {
  await findMasterKey(about, false);
  await unless("EEXIST", createMasterKey(nextFile(about.masterKeyFile)));
}

/**
 * Puts the next master key into the place of the one before; nothing may be sealed under that any more.
 * @param fingerprint of the one before, which stays beside it for the operator: backups are under it
 * @returns where that lies
 */
export async function commitMasterKey(file: string, fingerprint: string): Promise<string> {
  const kept = `${file}.before-${fingerprint.slice(0, 8)}`;
  await unless("EEXIST", link(file, kept));
  await rename(nextFile(file), file);
  await syncFolder(dirname(file));
  return kept;
}

/** Somebody else works with the data folder, and a rotation of its master key is no time for that. */
export class MasterKeyBusy extends Error {
  readonly code = "MASTER_KEY_BUSY";
  override name = "MasterKeyBusy";
}

/**
 * Keeps the master key as it is while a process works with it; who replaces it works alone.
 * @throws MasterKeyBusy
 */
export async function holdMasterKey(dataDir: string, mode: "shared" | "exclusive"): Promise<() => Promise<void>> {
  await mkdir(join(dataDir, "run"), { recursive: true, mode: 0o700 });
  const release = await holdFileLock(join(dataDir, "run", "master-key.lock"), mode);
  if (release) return release;
  throw new MasterKeyBusy(
    mode === "shared"
      ? "the master key is being replaced; wait until signet keys rotate-master has ended"
      : `a Signet process works with ${dataDir}; stop the server and end every other command first`,
  );
}

/** Opens the sealed text that the first process left in the database. @throws MasterKeyUnfit */
export async function proveMasterKey({ db, secrets }: { db: Database; secrets: Secrets }, file: string): Promise<void> {
  const proof = () => db.read.selectFrom("master_key_proof").select("sealed").where("id", "=", 1).executeTakeFirst();
  if ((await proof()) === undefined) {
    const row = { id: 1, sealed: secrets.seal("the master key of this database", context) };
    await db.tx((tx) =>
      tx
        .insertInto("master_key_proof")
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
    );
  }
  try {
    secrets.open((await proof())?.sealed ?? "", context);
  } catch (error) {
    if (!(error instanceof SealedTextDamaged)) throw error;
    throw new MasterKeyUnfit(
      `the master key ${file} is not the one that this data was written under; put the right one back`,
      { cause: error },
    );
  }
}

const context = "master_key_proof";

async function holdsData(folder: string): Promise<boolean> {
  const found = await Promise.all(
    ["signet.db", "blobs"].map((name) =>
      unless(
        "ENOENT",
        access(join(folder, name)).then(() => true),
      ),
    ),
  );
  return found.includes(true);
}

/** @returns undefined when it fails with this code */
async function unless<T>(code: string, promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === code) return undefined;
    throw error;
  }
}
