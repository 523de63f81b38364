import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { measureRoom } from "../../kernel/capacity-room.ts";
import { toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { ApplianceStatus } from "./status-contract.ts";
import { firstSample, insertSample } from "./storage-store.ts";

/** How much the appliance keeps, how fast that grows, and how long the volume lasts. */

type StorageDeps = Pick<Deps, "db" | "clock" | "config">;

const dayMs = 86_400_000;
const measureEveryMs = 600_000;
/** Growth is reckoned over so many days at most. */
const windowDays = 30;
const keptDays = 400;

export type Sizes = { usedBytes: number; databaseBytes: number; documentBytes: number; measuredMs: number };

const measured = new WeakMap<Deps["db"], Promise<Sizes>>();

/** Walks the data folder, at most every ten minutes: it may hold a million files. */
export async function measureData({ db, clock, config }: StorageDeps): Promise<Sizes> {
  const known = await measured.get(db);
  if (known && clock.now() - known.measuredMs < measureEveryMs) return known;
  const fresh = measure(config.dataDir, clock.now());
  measured.set(db, fresh);
  // The next caller tries again.
  fresh.catch(() => measured.delete(db));
  return await fresh;
}

/** Reads each file's size once, so that the parts never add up to more than the whole. */
async function measure(folder: string, measuredMs: number): Promise<Sizes> {
  const sizes = await sizesIn(folder);
  const database = ["signet.db", "signet.db-wal", "signet.db-shm"];
  return {
    usedBytes: sum(sizes.values()),
    databaseBytes: sum(database.map((name) => sizes.get(name) ?? 0)),
    documentBytes: sizes.get("blobs") ?? 0,
    measuredMs,
  };
}

const sum = (sizes: Iterable<number>): number => [...sizes].reduce((total, size) => total + size, 0);

/** Bytes of each file and folder in a folder; what disappears meanwhile, or may not be looked at, counts nothing. */
async function sizesIn(folder: string): Promise<Map<string, number>> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const sizes = new Map<string, number>();
  for (const entry of entries) {
    const below = path.join(folder, entry.name);
    if (entry.isDirectory()) sizes.set(entry.name, sum((await sizesIn(below)).values()));
    else if (entry.isFile()) sizes.set(entry.name, await fileSize(below));
  }
  return sizes;
}

const fileSize = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );

/** Bytes of the volume that holds a folder, as far as an ordinary user may fill it: as `df` and the checks count it. */
async function volumeOf(folder: string): Promise<{ freeBytes: number; volumeBytes: number }> {
  const { freeBytes, volumeBytes } = await measureRoom(folder, 0);
  return { freeBytes, volumeBytes };
}

/** Notes how large the data is today. */
export async function sampleStorage(deps: StorageDeps): Promise<void> {
  const { usedBytes } = await measureData(deps);
  const now = deps.clock.now();
  await deps.db.tx((tx) => insertSample(tx, { day: dayOf(now), bytes: usedBytes }, dayOf(now - keptDays * dayMs)));
}

export async function readStorage(deps: StorageDeps): Promise<ApplianceStatus["storage"]> {
  const now = deps.clock.now();
  const [{ measuredMs, ...sizes }, volume, first] = await Promise.all([
    measureData(deps),
    volumeOf(deps.config.dataDir),
    firstSample(deps.db.read, dayOf(now - windowDays * dayMs)),
  ]);
  const days = first ? Math.floor((now - Date.parse(first.day)) / dayMs) : 0;
  const growth = first && days >= 1 ? Math.round((sizes.usedBytes - first.bytes) / days) : null;
  const daysUntilFull = growth !== null && growth > 0 ? Math.floor(volume.freeBytes / growth) : null;
  return { ...sizes, measuredAt: toTs(measuredMs), ...volume, growthBytesPerDay: growth, daysUntilFull };
}

const dayOf = (ms: number): string => toTs(ms).slice(0, 10);
