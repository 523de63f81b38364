import type { Config } from "../config.ts";
import { BlobDamaged, BlobMissing } from "./blobs.ts";
import { makeReserve, measureRoom, mebibyte, probeWriting, type Room, releaseReserve } from "./capacity-room.ts";
import { AppError } from "./errors.ts";
import type { Log } from "./log.ts";
import { storageFault } from "./storage-fault.ts";

/**
 * Whether the appliance can store what it is asked to do: `ok`, `warning` (say so), `full` (begin nothing new, finish what is
 * under way), `exhausted` (what is under way waits too), `read-only`, `damaged` (the database; only a restore ends it).
 */
export type StorageLevel = "ok" | "warning" | "full" | "exhausted" | "read-only" | "damaged";

export type CapacityState = {
  storage: StorageLevel;
  /** What the system said; null while it said nothing. */
  cause: string | null;
  room: Room;
  memory: { low: boolean; availableBytes: number };
  /** SHA-256 of stored files that were asked for and are missing or damaged, since the start. */
  badFiles: readonly string[];
};

/** Refuses what could not be stored, before anything of it is. */
export type Capacity = {
  /** As the last look found it. */
  state(): CapacityState;
  /** Measures now. */
  look(): Promise<CapacityState>;
  /** Nothing that is done could be recorded, so nothing is done. */
  halted(): boolean;
  /** @throws AppError `service-unavailable` when nothing new may begin */
  admitNew(): Promise<void>;
  /** @throws AppError `service-unavailable` when nothing may be changed */
  admitChange(): void;
  /** @throws AppError `service-unavailable` when a body of so many bytes does not fit into the memory that is left */
  admitBody(bytes: number): void;
  /** Whether work that takes much memory should be done one by one. */
  shortOfMemory(): boolean;
  /**
   * Told of every failure that nobody threw on purpose. One that comes from the disk makes it look at once.
   * @returns what it is to who asked; null when it does not come from there
   */
  problemOf(error: unknown): Promise<AppError | null>;
  /** The database is damaged, as SQLite says. */
  noteDamage(cause: string): Promise<void>;
  /** Looks every few seconds, keeps the reserve, says changes aloud. @returns what ends it */
  watch(options: { log: Log; onRecovered: () => void }): () => Promise<void>;
};

type CapacityOptions = {
  config: Pick<Config, "dataDir" | "diskWarnPercent" | "diskFullPercent" | "diskReserveMb">;
  /** Bytes that this process may still have. */
  availableMemory?: (() => number) | undefined;
  /**
   * Makes anew what the database can do without, when that is damaged.
   * @param force also when nothing is seen of it
   * @returns what else is damaged; null when nothing is
   */
  mend?: ((force: boolean) => Promise<{ damage: string | null; mended: boolean }>) | undefined;
};

const lookEveryMs = 5_000;
/** A look is believed this long by who wants to begin something new. */
const freshMs = 1_000;
const lowMemoryBytes = 192 * mebibyte;
/** Bodies up to this size are taken as long as anything goes. */
const smallBody = mebibyte;
/** A body is held, checked and copied before it is stored. */
const bodyFactor = 4;
const shownBadFiles = 20;
const retryAfter = 60;
/** What failed for the same damage may come to light this long after it was mended. */
const mendedMs = 60_000;

/** Below this the reserve is released. */
const releaseBelow = (reserve: number): number => reserve / 2;
/** Below this nothing is begun any more: a commit of SQLite and a few audit entries must still fit. */
const haltBelow = (reserve: number): number => Math.min(8 * mebibyte, Math.max(mebibyte, reserve / 8));

/** Makes room for the start itself: without it a full volume would keep the lock and the log from being written. */
export async function releaseReserveIfFull({ dataDir, diskReserveMb }: CapacityOptions["config"]): Promise<void> {
  const reserve = diskReserveMb * mebibyte;
  const room = await measureRoom(dataDir, reserve).catch(() => null);
  if (room && room.freeBytes < releaseBelow(reserve)) await releaseReserve(dataDir).catch(() => undefined);
}

export async function openCapacity({
  config,
  availableMemory = systemMemory,
  mend,
}: CapacityOptions): Promise<Capacity> {
  const { dataDir } = config;
  const reserve = config.diskReserveMb * mebibyte;
  const badFiles = new Set<string>();
  let damage: string | null = null;
  let current: CapacityState = {
    storage: "ok",
    cause: null,
    room: await measureRoom(dataDir, reserve),
    memory: memory(),
    badFiles: [],
  };
  /** Some look found it so since the last recovery, which may be between two rounds of the watch. */
  let wasHalted = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<CapacityState> | undefined;
  let mending: Promise<string | null> | undefined;
  let mendedAt = Number.NEGATIVE_INFINITY;
  /** Something was made anew of which no damage was seen: that is done once. */
  let forced = false;

  function memory(): CapacityState["memory"] {
    const availableBytes = availableMemory();
    return { low: availableBytes < lowMemoryBytes, availableBytes };
  }

  async function measure(): Promise<CapacityState> {
    let room = await measureRoom(dataDir, reserve);
    if (room.reserveBytes > 0 && room.freeBytes < releaseBelow(reserve)) {
      await releaseReserve(dataDir).catch(() => undefined);
      room = await measureRoom(dataDir, reserve);
    }
    const refusal = await probeWriting(dataDir);
    const [storage, cause] = levelOf(room, refusal);
    current = { storage, cause, room, memory: memory(), badFiles: [...badFiles] };
    lookedAt = performance.now();
    wasHalted ||= halted();
    return current;
  }

  function levelOf(room: Room, refusal: Error | null): [StorageLevel, string | null] {
    if (damage !== null) return ["damaged", damage];
    if (refusal && storageFault(refusal) === "full") return ["exhausted", refusal.message];
    if (refusal) return ["read-only", refusal.message];
    if (room.freeBytes < haltBelow(reserve)) return ["exhausted", null];
    if (room.usedPercent >= config.diskFullPercent) return ["full", null];
    return [room.usedPercent >= config.diskWarnPercent ? "warning" : "ok", null];
  }

  function look(): Promise<CapacityState> {
    looking ??= measure().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  /** What stays damaged of a database of which SQLite says that it is; null when it was mended. */
  function afterMending(cause: string): Promise<string | null> {
    mending ??= tryToMend(cause).finally(() => {
      mending = undefined;
    });
    return mending;
  }

  async function tryToMend(cause: string): Promise<string | null> {
    if (!mend) return cause;
    const late = performance.now() - mendedAt < mendedMs;
    const force = !forced && !late;
    try {
      const { damage: left, mended } = await mend(force);
      if (mended) {
        mendedAt = performance.now();
        forced ||= force;
      }
      return left ?? (mended || late ? null : cause);
    } catch (error) {
      // Without room, or because it ends, it could not be tried: whoever meets the damage next tries again.
      return storageFault(error) === "damaged" ? cause : null;
    }
  }

  const halted = () => ["exhausted", "read-only", "damaged"].includes(current.storage);

  function refuse(detail: string): never {
    throw new AppError("service-unavailable", { detail, retryAfter });
  }

  return {
    state: () => ({ ...current, badFiles: [...badFiles] }),
    look,
    halted,
    async admitNew() {
      if (performance.now() - lookedAt > freshMs) await look();
      if (halted() || current.storage === "full") refuse(refusals[current.storage]);
    },
    admitChange() {
      if (current.storage === "read-only" || current.storage === "damaged") refuse(refusals[current.storage]);
    },
    admitBody(bytes) {
      if (bytes > smallBody && availableMemory() - bytes * bodyFactor < lowMemoryBytes / 2) refuse(tooLittleMemory);
    },
    shortOfMemory: () => memory().low,
    async problemOf(error) {
      if (error instanceof BlobMissing || error instanceof BlobDamaged) {
        if (badFiles.size < shownBadFiles) badFiles.add(error.sha256);
        return new AppError("service-unavailable", { detail: badFile, cause: error });
      }
      const fault = storageFault(error);
      if (fault === "damaged") {
        damage ??= await afterMending(error instanceof Error ? error.message : String(error));
        if (damage === null)
          return new AppError("service-unavailable", { detail: mendedDetail, retryAfter: 1, cause: error });
      }
      if (fault === null && !mayBeDisk.has(String(codeOf(error)))) return null;
      await look().catch(() => undefined);
      // A permission may be missing in some other place.
      if (fault === null && !halted()) return null;
      const level = fault === "full" ? "exhausted" : (fault ?? current.storage);
      return new AppError("service-unavailable", { detail: refusals[level], retryAfter, cause: error });
    },
    async noteDamage(cause) {
      damage ??= await afterMending(cause);
      await look();
    },
    watch({ log, onRecovered }) {
      let told: StorageLevel = "ok";
      let short = false;
      const round = async () => {
        const { storage, cause, room, memory: mem } = await look();
        if (storage !== told) {
          const about = { storage, cause, freeBytes: room.freeBytes, usedPercent: room.usedPercent };
          if (storage === "ok") log.info(about, "there is room again");
          else log[storage === "warning" ? "warn" : "error"](about, messages[storage]);
          told = storage;
        }
        if (wasHalted && !halted()) {
          wasHalted = false;
          onRecovered();
        }
        if (mem.low !== short) log.warn(mem, mem.low ? tooLittleMemory : "there is memory again");
        short = mem.low;
        // Only where it would not itself be what fills the disk.
        if (reserve > 0 && room.reserveBytes < reserve && (storage === "ok" || storage === "warning"))
          if (room.freeBytes > reserve * 2) await makeReserve(dataDir, reserve);
      };
      let last = Promise.resolve();
      const next = () => {
        last = last.then(round).catch((err: unknown) => log.warn({ err }, "the disk could not be looked at"));
      };
      next();
      const timer = setInterval(next, lookEveryMs);
      timer.unref();
      return async () => {
        clearInterval(timer);
        await last;
      };
    },
  };
}

/** The system gives its caches back, and a control group may allow less than the machine has. */
const systemMemory = (): number => process.availableMemory();

const badFile =
  "A stored document is missing or damaged on this appliance. Its administrator has to restore it from a backup.";

const mendedDetail = "A part of the database was damaged and is made anew. Nothing is lost: try again.";

const tooLittleMemory =
  "This appliance is short of memory: large uploads are refused for the moment, and documents are worked on one by one.";

const messages: Readonly<Record<Exclude<StorageLevel, "ok">, string>> = {
  warning: "the disk fills: make room before new work has to be refused",
  full: "the disk is nearly full: new documents, templates and envelopes are refused, what is under way is finished",
  exhausted: "the disk is full: all work waits until there is room",
  "read-only": "the data folder cannot be written: all work waits until it can",
  damaged: "the database is damaged: nothing is changed any more; restore the last backup",
};

const refusals: Readonly<Record<StorageLevel, string>> = {
  ok: "",
  warning: "",
  full: "The disk of this appliance is nearly full. What is under way is finished; new documents, templates and envelopes are refused until its administrator makes room.",
  exhausted:
    "The disk of this appliance is full: nothing can be recorded until its administrator makes room. Nothing is lost.",
  "read-only":
    "This appliance cannot write its data folder: nothing can be recorded until its administrator repairs that. Nothing is lost.",
  damaged:
    "The database of this appliance is damaged: nothing is changed any more until its administrator restores the last backup.",
};

const mayBeDisk = new Set(["EACCES", "EPERM", "EIO", "EMFILE", "SQLITE_IOERR", "SQLITE_CANTOPEN"]);
const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : null);
