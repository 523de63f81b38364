import { statSync } from "node:fs";
import { access, constants, lstat, mkdir, open, readdir, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { syncFolder } from "../../kernel/durable.ts";
import { isDenied } from "./denied.ts";
import { BackupDamaged, digestFile, type Manifest, manifestFile, readManifest } from "./manifest.ts";
import { openSealedFile } from "./sealed-file.ts";
import { plainFileSize, refuseLinkedFolder } from "./target-files.ts";

/**
 * What is done in the folder of backups besides the steps, in a process of its own as they are: a share that is gone answers no
 * call and ends none, each takes one of the four threads with which a process reads its files, and a process ends only behind
 * them. `target.ts` asks for it.
 */
export type TargetCall =
  | { call: "ids" | "list" | "isFolder" | "isUsed" | "realPath" }
  | { call: "read"; id: string | null }
  | { call: "digest"; file: string }
  | { call: "open"; file: string; key: Uint8Array }
  | { call: "begin" | "complete" | "drop" | "remove"; id: string }
  | { call: "manifest"; id: string; text: string };

const idPattern = /^[0-9]{8}-[0-9]{9}-[0-9a-f]{6}$/;

/** Where the parts of a backup lie. */
export function placesIn(folder: string) {
  const backups = path.join(folder, "backups");
  return {
    backups,
    partial: (id: string) => path.join(backups, `.${id}.partial`),
    /** @throws BackupDamaged when it is no id */
    folderOf(id: string): string {
      if (!idPattern.test(id)) throw new BackupDamaged(`there is no backup ${JSON.stringify(id)}`);
      return path.join(backups, id);
    },
  };
}

/** A backup in the folder. */
export type Found = {
  id: string;
  /** Null when it is missing, damaged or cannot be read. */
  manifest: Manifest | null;
  /** What the system said that kept it from being read: that is no damage yet. */
  unreadable: { message: string; code: string } | null;
};

/** @throws BackupDamaged; errors of the machine */
export async function callTarget(folder: string, asked: TargetCall): Promise<unknown> {
  const target = targetFolder(folder);
  switch (asked.call) {
    case "ids":
    case "list":
    case "isFolder":
    case "isUsed":
    case "realPath":
      return await target[asked.call]();
    case "read":
      return await target.read(asked.id);
    case "digest":
      return await digestFile(asked.file);
    case "open":
      return openWhole(asked.file, asked.key);
    case "manifest":
      return await target.writeManifest(asked.id, asked.text);
    default:
      return await target[asked.call](asked.id);
  }
}

/** A small encrypted file, and the SHA-256 that it has. */
function openWhole(file: string, key: Uint8Array): { text: string; sha256: string } {
  const parts: Buffer[] = [];
  const sha256 = openSealedFile(file, key, (plain) => void parts.push(plain));
  return { text: Buffer.concat(parts).toString("utf8"), sha256 };
}

/** @throws EACCES; what is not there yet may be made. A disk that is read-only says so itself when it is written to */
async function proveAccess(place: string): Promise<void> {
  await access(place, constants.R_OK | constants.W_OK).catch((error: unknown) => {
    if (isDenied(error)) throw error;
  });
}

/** The file that is locked while somebody works in the folder. @throws what keeps this user, or anybody, from working there */
export async function lockIn(folder: string): Promise<string> {
  const [backups, blobs] = [path.join(folder, "backups"), path.join(folder, "blobs")];
  for (const inside of [backups, blobs]) refuseLinkedFolder(inside);
  const lock = path.join(folder, "lock.db");
  refuseJournal(lock);
  // SQLite would only say that it cannot open its file.
  for (const place of [folder, lock, backups, blobs]) await proveAccess(place);
  return lock;
}

/**
 * SQLite plays back what lies beside a file that holds something, and then deletes whatever file that names; ours holds nothing.
 * @throws Error
 */
function refuseJournal(lock: string): void {
  const journal = `${lock}-journal`;
  if (!plainFileSize(lock) || !statSync(journal, { throwIfNoEntry: false })?.size) return;
  throw new Error(
    `${journal} is none of Signet's, and would lead to other files: remove it, and see who may write there`,
  );
}

/** Where a path leads, also one whose end is not there yet. */
export async function realPathOf(place: string): Promise<string> {
  try {
    return await realpath(place);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  const folder = path.dirname(place);
  if (folder === place) return place;
  const found = await lstat(place).catch(() => null);
  if (found?.isSymbolicLink()) return await realPathOf(path.resolve(folder, await readlink(place)));
  return path.join(await realPathOf(folder), path.basename(place));
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}

/** What a file that is missing is met with; everything else is said of one that may be there. */
const missing = ["ENOENT", "ENOTDIR"];

function unreadableIn(error: BackupDamaged): Found["unreadable"] {
  const { cause } = error;
  const code = codeOf(cause);
  return cause instanceof Error && code !== null && !missing.includes(code) ? { message: cause.message, code } : null;
}

function targetFolder(folder: string) {
  const { backups, partial, folderOf } = placesIn(folder);
  const names = async () =>
    await readdir(backups).catch((error: unknown) => {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
      throw error;
    });
  const ids = async () => (await names()).filter((name) => idPattern.test(name)).sort();
  return {
    ids,
    async list(): Promise<Found[]> {
      const found: Found[] = [];
      for (const id of (await ids()).reverse())
        try {
          found.push({ id, manifest: await readManifest(folderOf(id)), unreadable: null });
        } catch (error) {
          if (!(error instanceof BackupDamaged)) throw error;
          found.push({ id, manifest: null, unreadable: unreadableIn(error) });
        }
      return found;
    },
    async read(id: string | null): Promise<Manifest> {
      const wanted = id ?? (await ids()).at(-1);
      if (wanted === undefined) throw new BackupDamaged(`there is no backup in ${folder}`);
      return await readManifest(folderOf(wanted));
    },
    async begin(id: string): Promise<void> {
      await mkdir(backups, { recursive: true, mode: 0o700 });
      for (const name of await names())
        if (/^\..*\.(partial|gone)$/.test(name)) await rm(path.join(backups, name), { recursive: true, force: true });
      await mkdir(partial(id), { mode: 0o700 });
    },
    async writeManifest(id: string, text: string): Promise<void> {
      // At once under its name, since what is begun counts as a whole only; `wx` follows no link that somebody laid there.
      const handle = await open(path.join(partial(id), manifestFile), "wx", 0o600);
      try {
        await handle.writeFile(text);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await syncFolder(partial(id));
    },
    async complete(id: string): Promise<void> {
      await rename(partial(id), folderOf(id));
      await syncFolder(backups);
    },
    async drop(id: string): Promise<void> {
      await rm(partial(id), { recursive: true, force: true });
    },
    async remove(id: string): Promise<void> {
      const gone = path.join(backups, `.${id}.gone`);
      await rename(folderOf(id), gone);
      await syncFolder(backups);
      await rm(gone, { recursive: true, force: true });
    },
    async isFolder(): Promise<boolean> {
      const found = await stat(folder).catch((error: unknown) => {
        if (isDenied(error)) throw error;
        return null;
      });
      return found?.isDirectory() ?? false;
    },
    isUsed: async () => (await names()).length > 0,
    realPath: () => realPathOf(folder),
  };
}
