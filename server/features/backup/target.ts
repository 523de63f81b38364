import { randomBytes } from "node:crypto";
import path from "node:path";
import { z } from "zod";
import type { Ts } from "../../kernel/clock.ts";
import { endHelper, type Watched } from "./helper-process.ts";
import { listFile, Manifest } from "./manifest.ts";
import { takeLock } from "./run-lock.ts";
import { askTarget } from "./run-step.ts";
import { type Found, placesIn, type TargetCall } from "./target-folder.ts";

/**
 * The folder that receives backups, often a mounted share:
 * blobs/MASTERKEY/ab/cd/SHA256 once for all backups, backups/ID/ with manifest, database, machine and list of blobs.
 * What was begun and not ended lies in backups/.ID.partial/. Nothing of it is touched by this process: it would stand still with
 * the share (`target-folder.ts`).
 */
export type Target = ReturnType<typeof openTarget>;

/** Time first, so that names sort as the backups were made. */
export function newBackupId(at: Ts): string {
  return `${at.slice(0, 10).replaceAll("-", "")}-${at.slice(11, 23).replaceAll(/[:.]/g, "")}-${randomBytes(3).toString("hex")}`;
}

/** A disk that has to start turning, or a share that is mounted at the first look, has answered by then. */
const patienceMs = 30_000;

const Ids = z.array(z.string());
const Listed = z.array(
  z.object({
    id: z.string(),
    manifest: Manifest.nullable(),
    unreadable: z.object({ message: z.string(), code: z.string() }).nullable(),
  }),
);
const Digest = z.object({ bytes: z.int(), sha256: z.string() });
const OpenedFile = z.object({ text: z.string(), sha256: z.string() });

/** What is not a job's own throws TargetSilent where the folder does not answer; everything StepLost where it could not be asked. */
export function openTarget(folder: string) {
  const { partial, folderOf } = placesIn(folder);
  const order = (asked: TargetCall) => ({ step: "target", folder, asked }) as const;
  const ask = (call: TargetCall) => askTarget(order(call), { patienceMs });
  /** Of a job, which may wait for its disk and be cancelled: when it has ended, nothing of it goes on. */
  const work = (call: TargetCall, watched: Watched) => askTarget(order(call), watched);
  return {
    folder,
    /** @throws BackupDamaged when it is no id */
    folderOf,
    /** What is not complete yet. */
    partialOf: partial,
    /** Of the blobs under one master key, by its fingerprint. */
    blobsOf: (masterKey: string) => path.join(folder, "blobs", masterKey),
    /** Ids of complete backups, oldest first. */
    ids: async (): Promise<string[]> => Ids.parse(await ask({ call: "ids" })),
    /** Newest first. @throws what reading the folder throws */
    list: async (): Promise<Found[]> => Listed.parse(await ask({ call: "list" })),
    /** The one that is named, or the newest. @throws BackupDamaged */
    async read(id?: string): Promise<Manifest> {
      if (id !== undefined) folderOf(id);
      return Manifest.parse(await ask({ call: "read", id: id ?? null }));
    },
    /** Size and SHA-256 of the list of blobs. */
    digestList: async (id: string, watched: Watched, where = folderOf) =>
      Digest.parse(await work({ call: "digest", file: path.join(where(id), listFile) }, watched)),
    /** A small encrypted part of a backup. */
    openPart: async (id: string, name: string, key: Uint8Array) =>
      OpenedFile.parse(await ask({ call: "open", file: path.join(folderOf(id), name), key })),
    /** An empty folder to write a backup into; what an earlier attempt left anywhere is removed. */
    async begin(id: string, watched: Watched): Promise<string> {
      await work({ call: "begin", id }, watched);
      return partial(id);
    },
    /** Durable when it resolves. */
    writeManifest: (id: string, text: string, watched: Watched) => work({ call: "manifest", id, text }, watched),
    /** Makes it a backup: everything in it must be durable. */
    complete: (id: string, watched: Watched) => work({ call: "complete", id }, watched),
    /** From here on it is none, whatever is left of it. */
    remove: (id: string, watched: Watched) => work({ call: "remove", id }, watched),
    /** Removes what was begun, also after a cancellation; once it is complete there is nothing. */
    drop: (id: string, { stuck }: Watched) =>
      askTarget(order({ call: "drop", id }), { stuck, patienceMs, writes: true }),
    isFolder: async () => z.boolean().parse(await ask({ call: "isFolder" })),
    /** Whether a backup was ever completed here: a share that is not mounted is an empty folder. */
    isUsed: async () => z.boolean().parse(await ask({ call: "isUsed" })),
    /** Where the name leads, also when it is not there yet. */
    realPath: async () => z.string().parse(await ask({ call: "realPath" })),
    /**
     * Held by a process of its own.
     * @param lost aborted when that process ends by itself, and the lock with it
     * @throws TargetBusy; who only reads shares it with others who read
     */
    async lock(mode: "exclusive" | "shared", lost?: AbortController): Promise<() => Promise<void>> {
      const holder = await takeLock({ folder, mode }, patienceMs);
      let released = false;
      void holder.ended.then((reason) => {
        if (!released) lost?.abort(new Error(`the lock of ${folder} was lost: ${reason.message}`));
      });
      return async () => {
        released = true;
        await endHelper(holder, undefined);
      };
    },
  };
}

/** Does it while the folder is locked, and ends it when the lock is lost. @throws TargetBusy */
export async function whileLocked<W extends Watched, T>(
  target: Target,
  mode: "exclusive" | "shared",
  { work, perform }: { work: W; perform: (work: W) => Promise<T> },
): Promise<T> {
  const lost = new AbortController();
  const release = await target.lock(mode, lost);
  try {
    const signal = work.signal ? AbortSignal.any([work.signal, lost.signal]) : lost.signal;
    const done = await perform({ ...work, signal });
    lost.signal.throwIfAborted();
    return done;
  } finally {
    await release();
  }
}
