import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "./db.ts";
import { createMasterKey, loadMasterKey, SealedTextDamaged, type Secrets } from "./secrets.ts";

declare module "./db.ts" {
  interface Tables {
    master_key_proof: { id: number; sealed: string };
  }
}

/** The data folder cannot be opened with the master key that is there, or there is none. */
export class MasterKeyUnfit extends Error {
  /** Marks a failure of the installation rather than of the program. */
  readonly code = "MASTER_KEY_UNFIT";
  override name = "MasterKeyUnfit";
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
