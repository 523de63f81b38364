import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Config } from "./config.ts";
import { keepSearchInStep, mendSearchIndex } from "./features/envelopes/search-index.ts";
import { enterBeside } from "./features/update/maintenance.ts";
import { openBlobs } from "./kernel/blobs.ts";
import { openCapacity } from "./kernel/capacity.ts";
import type { Clock } from "./kernel/clock.ts";
import { beginClock } from "./kernel/clock-watch.ts";
import { DataFolderTaken, lockDataFolder } from "./kernel/data-lock.ts";
import { openDatabase } from "./kernel/db.ts";
import type { Deps } from "./kernel/deps.ts";
import { syncFolder } from "./kernel/durable.ts";
import { createEvents } from "./kernel/events.ts";
import { type GuardedClock, guardClock, type Machine, thisMachine } from "./kernel/guarded-clock.ts";
import type { Log } from "./kernel/log.ts";
import { findMasterKeys, holdMasterKey, proveMasterKey } from "./kernel/master-key.ts";
import { createMetrics } from "./kernel/metrics.ts";
import { once } from "./kernel/once.ts";
import { openOutbound } from "./kernel/outbound.ts";
import { openPool } from "./kernel/pool.ts";
import { openRateLimits } from "./kernel/rate-limits.ts";
import { refuseHalfRestored } from "./kernel/restore-mark.ts";
import { openSecrets } from "./kernel/secrets.ts";
import { oncePerTransaction } from "./kernel/transaction.ts";

export type OpenOptions = {
  config: Config;
  log: Log;
  /** Is believed whatever it says. */
  clock?: Clock;
  /** Whose clock is taken when none is given. */
  machine?: Machine;
  /** Bytes of memory that this process may still have; the system is asked when nothing is given. */
  availableMemory?: () => number;
  /** Called at each job and transaction boundary; the crash tests end the process there. */
  onBoundary?: (point: string) => void;
  /** Who holds the lock of the data folder. */
  serving?: boolean;
  /** Makes the master key of a data folder that holds nothing yet; without it such a folder is refused. */
  createKey?: boolean;
  /** The caller replaces the master key and holds it alone already. */
  replacingKey?: boolean;
  /** It is a step of the update that keeps every other command out. */
  updating?: boolean;
};

/** The machine's clock under guard, and how often it was accepted when it began. */
type Guarded = { clock: GuardedClock; accepted: number };

/**
 * Builds everything that use cases share. Opens the data folder.
 * @throws MasterKeyUnfit when the key is missing although there is data, or is not the one that the data was written under
 */
export async function openDeps(
  options: OpenOptions,
): Promise<{ deps: Deps; close: () => Promise<void>; guarded: Guarded | null }> {
  const undo: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    return { ...(await open(options, undo)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @param undo takes what closes each thing that was opened */
async function open(
  options: OpenOptions,
  undo: (() => Promise<void>)[],
): Promise<{ deps: Deps; guarded: Guarded | null }> {
  const { config, log } = options;
  const guard = guardClock(options.machine ?? thisMachine);
  const clock = oncePerTransaction(options.clock ?? guard);
  await refuseHalfRestored(config.dataDir);
  const made = await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  if (made !== undefined) await syncFolder(path.dirname(made));
  const masterKeys = await findMasterKeys(config, options.createKey === true);
  if (!options.serving) undo.push(await enterBeside(config.dataDir, options.updating));
  if (!options.replacingKey) undo.push(await holdMasterKey(config.dataDir, "shared"));
  const secrets = openSecrets(masterKeys.current, masterKeys.before ? [masterKeys.before] : []);
  const outbound = openOutbound({
    allow: config.outboundAllow,
    proxy: config.outboundProxy,
    caFile: config.caFile,
    airGap: config.airGap,
  });
  const db = await openDatabase({
    file: path.join(config.dataDir, "signet.db"),
    clock,
    secrets,
    onBoundary: options.onBoundary,
    ...(options.serving ? {} : { beforeMigration: () => aloneIn(config.dataDir) }),
  });
  undo.push(() => db.close());
  await proveMasterKey({ db, secrets }, config.masterKeyFile);
  const guarded = options.clock ? null : { clock: guard, accepted: await beginClock(db.read, guard) };
  const blobs = await openBlobs({
    folder: path.join(config.dataDir, "blobs"),
    secrets,
    clear: options.serving,
    now: clock.now,
  });
  undo.push(() => blobs.close());
  if (options.serving) await keepSearchInStep({ db, log });
  const limits = openRateLimits({ clock });
  const capacity = await openCapacity({
    config,
    availableMemory: options.availableMemory,
    mend: (force) => mendSearchIndex({ db, log }, force),
  });
  const pool = openPool({ threads: config.workers, oneByOne: capacity.shortOfMemory });
  undo.push(() => pool.close());
  const deps: Deps = {
    config,
    clock,
    log,
    metrics: createMetrics(),
    db,
    blobs,
    secrets,
    pool,
    outbound,
    events: createEvents(),
    limits,
    capacity,
    observers: once(async () => (await import("./features.ts")).observers),
  };
  return { deps, guarded };
}

/** A server of an older release would go on with a database that it does not know. */
async function aloneIn(folder: string): Promise<{ release(): Promise<void> }> {
  try {
    return await lockDataFolder(folder);
  } catch (error) {
    if (!(error instanceof DataFolderTaken)) throw error;
    throw new Error(
      `the database in ${folder} is of an older release, and a running Signet uses it; restart that one with this release first`,
      { cause: error },
    );
  }
}
