import { createCipheriv, createHash, randomBytes, webcrypto } from "node:crypto";
import { type FileHandle, mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { openContent } from "./blob-content.ts";
import { type CheckedPart, headLength, magic, nonceLength, tagLength, wrapEnd } from "./blob-format.ts";
import { type WalkOptions, walkStore } from "./blob-walk.ts";
import { syncFolder } from "./durable.ts";
import type { StoredContent } from "./endpoint.ts";
import type { Secrets } from "./secrets.ts";
import { storageFault } from "./storage-fault.ts";

/** Content-addressed files, encrypted at rest. */
export type Blobs = {
  /**
   * Durable when it resolves. The same content is written once. Content in parts is never joined and not copied: the
   * parts must stay as they are until it resolves.
   */
  put(content: Uint8Array | readonly Uint8Array[]): Promise<{ sha256: string; size: number }>;
  /** @throws BlobMissing, BlobDamaged */
  get(sha256: string): Promise<Uint8Array>;
  /**
   * For large content that is sent: checked as a whole before it is given, and held a piece at a time.
   * @param look is given each piece as it is checked @throws BlobMissing, BlobDamaged, what the system says
   */
  open(sha256: string, look?: (piece: Uint8Array) => void): Promise<StoredContent>;
  has(sha256: string): Promise<boolean>;
  /** Bytes of the content. @throws BlobMissing */
  size(sha256: string): Promise<number>;
  /** Whether the data key is wrapped under the current master key. @throws BlobMissing, BlobDamaged */
  rewrap(sha256: string): Promise<"current" | "rewrapped">;
  /**
   * For garbage collection: removes what nothing names, unless it was put since then (milliseconds since the epoch), for
   * its name may still be on the way into the database. @returns its size; null when it stays or is gone already
   */
  removeUnused(sha256: string, since: number): Promise<number | null>;
  /** Reads and checks every file in threads, in the order of hashes. @throws Error when a thread ends by itself */
  walk(options?: WalkOptions): AsyncGenerator<CheckedPart>;
  /** Folders of writers in which nothing was begun or ended since then (milliseconds since the epoch). */
  drafts(before: number): Promise<string[]>;
  /** SHA-256 of every blob in their order, those behind `after` when it is given. */
  list(after?: string): AsyncGenerator<string>;
  /** Removes the folder of this process's drafts; nothing can be put after that. */
  close(): Promise<void>;
};

export class BlobMissing extends Error {
  readonly sha256: string;

  constructor(sha256: string) {
    super(`blob ${sha256} is missing`);
    this.sha256 = sha256;
    this.name = "BlobMissing";
  }
}

export class BlobDamaged extends Error {
  readonly sha256: string;

  constructor(sha256: string, options?: ErrorOptions) {
    super(`blob ${sha256} is damaged`, options);
    this.sha256 = sha256;
    this.name = "BlobDamaged";
  }
}

const { subtle } = webcrypto;

// So much is hashed or encrypted at once; in between others get their turn on the event loop.
const pieceLength = 1024 * 1024;

function* piecesOf(parts: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const part of parts) {
    for (let at = 0; at < part.length; at += pieceLength) yield part.subarray(at, at + pieceLength);
  }
}

/** SHA-256 of the parts in sequence, lower-case hexadecimal. */
export async function hashOf(parts: readonly Uint8Array[]): Promise<string> {
  const hash = createHash("sha256");
  for (const piece of piecesOf(parts)) {
    hash.update(piece);
    if (piece.length === pieceLength) await setImmediate();
  }
  return hash.digest("hex");
}

export function sizeOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** The file piece by piece, so that large content is not held a second time. A small one comes in one piece. */
function* encrypted(secrets: Secrets, parts: readonly Uint8Array[], sha256: string): Generator<Buffer> {
  const address = Buffer.from(sha256, "hex");
  const dataKey = randomBytes(32);
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv("aes-256-gcm", dataKey, nonce).setAAD(address);
  let next = [magic, secrets.wrapKey(dataKey, address), nonce];
  for (const piece of piecesOf(parts)) {
    next.push(cipher.update(piece));
    if (piece.length < pieceLength) continue;
    yield Buffer.concat(next);
    next = [];
  }
  next.push(cipher.final(), cipher.getAuthTag());
  yield Buffer.concat(next);
}

async function decrypt(secrets: Secrets, file: Buffer<ArrayBuffer>, sha256: string): Promise<Uint8Array<ArrayBuffer>> {
  const address = Buffer.from(sha256, "hex");
  const dataKey = secrets.unwrapKey(file.subarray(magic.length, wrapEnd), address);
  const nonce = file.subarray(wrapEnd, headLength);
  const key = await subtle.importKey("raw", new Uint8Array(dataKey), "AES-GCM", false, ["decrypt"]);
  const algorithm = { name: "AES-GCM", iv: nonce, additionalData: address };
  return new Uint8Array(await subtle.decrypt(algorithm, key, file.subarray(headLength)));
}

async function withFile<T>(path: string, flags: string, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(path, flags, 0o600);
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** Whether the system did not let us look, for want of rights or open files: that says nothing of the content. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && "code" in error && error.code !== "EIO";
}

export type BlobOptions = {
  folder: string;
  secrets: Secrets;
  /** Clears what interrupted writes left more than a day ago; younger drafts may be those of a command that is writing now. */
  clear?: boolean | undefined;
  /** Milliseconds since the epoch, for when a blob was last put. */
  now?: (() => number) | undefined;
};

const abandonedAfterMs = 24 * 3_600_000;

/** A folder's time is that of the last draft that began or ended in it. */
async function clearDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if ((await changedAt(path)) < Date.now() - abandonedAfterMs) await rm(path, { recursive: true, force: true });
  }
}

async function changedAt(path: string): Promise<number> {
  const { mtimeMs } = await stat(path).catch((error: unknown) => {
    // Its process has just ended.
    if (isMissing(error)) return { mtimeMs: Number.POSITIVE_INFINITY };
    throw error;
  });
  return mtimeMs;
}

/** Opens the store. Each process writes its drafts in a folder of its own, so that a command may run beside the server. */
export async function openBlobs({ folder, secrets, clear, now = Date.now }: BlobOptions): Promise<Blobs> {
  await mkdir(join(folder, "tmp"), { recursive: true, mode: 0o700 });
  if (clear) await clearDrafts(join(folder, "tmp"));
  // The store itself is a new name in the data folder.
  await syncFolder(folder);
  await syncFolder(dirname(folder));
  const temporary = await mkdtemp(join(folder, "tmp", "writer-"));

  const folders = new Map<string, Promise<void>>();
  const writing = new Map<string, Promise<void>>();
  const removing = new Map<string, Promise<number | null>>();
  let serial = 0;

  function pathOf(sha256: string): string {
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw new TypeError("not a lower-case hex SHA-256");
    return join(folder, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  }

  /** Makes the folder and its parent durable, once for each in the life of the process. */
  function durableFolder(path: string): Promise<void> {
    let made = folders.get(path);
    if (made === undefined) {
      made = (async () => {
        const parent = dirname(path);
        if (parent !== folder) await durableFolder(parent);
        await mkdir(path, { recursive: true, mode: 0o700 });
        await syncFolder(parent);
      })();
      folders.set(path, made);
      made.catch(() => folders.delete(path));
    }
    return made;
  }

  async function replace(path: string, pieces: Iterable<Buffer>): Promise<void> {
    serial += 1;
    const draft = join(temporary, String(serial));
    try {
      await withFile(draft, "wx", async (handle) => {
        // Writes again what a call left unwritten, unlike writev.
        await handle.writeFile(pieces);
        const at = new Date(now());
        await handle.utimes(at, at);
        await handle.sync();
      });
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
    await syncFolder(dirname(path));
  }

  async function write(sha256: string, parts: readonly Uint8Array[]): Promise<void> {
    const path = pathOf(sha256);
    await durableFolder(dirname(path));
    const known = await stat(path).catch(() => undefined);
    if (known?.size === headLength + sizeOf(parts) + tagLength && (await isWhole(sha256))) {
      // From now on it is young, so that nobody removes it before it is named.
      const at = new Date(now());
      await utimes(path, at, at);
      // It may stem from a process that died between rename and flush.
      await syncFolder(dirname(path));
      return;
    }
    await replace(path, encrypted(secrets, parts, sha256));
  }

  async function read(sha256: string): Promise<Buffer<ArrayBuffer>> {
    let file: Buffer<ArrayBuffer>;
    try {
      file = await readFile(pathOf(sha256));
    } catch (error) {
      throw isMissing(error) ? new BlobMissing(sha256) : error;
    }
    if (file.length < headLength + tagLength || !file.subarray(0, magic.length).equals(magic)) {
      throw new BlobDamaged(sha256);
    }
    return file;
  }

  async function content(sha256: string, file: Buffer<ArrayBuffer>): Promise<Uint8Array> {
    const plain = await decrypt(secrets, file, sha256).catch((error: unknown) => {
      throw new BlobDamaged(sha256, { cause: error });
    });
    if ((await hashOf([plain])) !== sha256) throw new BlobDamaged(sha256);
    return plain;
  }

  async function removeOld(sha256: string, since: number): Promise<number | null> {
    const path = pathOf(sha256);
    const known = await stat(path).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (known === undefined || known.mtimeMs >= since) return null;
    await rm(path, { force: true });
    return known.size - headLength - tagLength;
  }

  /** A size alone says nothing: the file may have rotted, or lie under a master key that is lost. */
  async function isWhole(sha256: string): Promise<boolean> {
    try {
      await content(sha256, await read(sha256));
      return true;
    } catch {
      // Whatever the reason, writing it again is right, and fails with its own reason when it cannot be done.
      return false;
    }
  }

  return {
    async put(content) {
      // A copy: the caller may change its buffer while we write.
      const parts = content instanceof Uint8Array ? [new Uint8Array(content)] : content;
      const sha256 = await hashOf(parts);
      while (removing.has(sha256)) await removing.get(sha256);
      let written = writing.get(sha256);
      if (written === undefined) {
        written = write(sha256, parts).finally(() => writing.delete(sha256));
        writing.set(sha256, written);
      }
      await written;
      return { sha256, size: sizeOf(parts) };
    },
    get: async (sha256) => content(sha256, await read(sha256)),
    open: (sha256, look) =>
      openContent(secrets, pathOf(sha256), sha256, look).catch((error: unknown) => {
        if (isMissing(error)) throw new BlobMissing(sha256);
        throw isRefusal(error) ? error : new BlobDamaged(sha256, { cause: error });
      }),
    async has(sha256) {
      return stat(pathOf(sha256)).then(
        () => true,
        (error: unknown) => {
          if (isMissing(error)) return false;
          throw error;
        },
      );
    },
    async size(sha256) {
      const { size } = await stat(pathOf(sha256)).catch((error: unknown) => {
        throw isMissing(error) ? new BlobMissing(sha256) : error;
      });
      return size - headLength - tagLength;
    },
    async rewrap(sha256) {
      const file = await read(sha256);
      const address = Buffer.from(sha256, "hex");
      const wrapped = file.subarray(magic.length, wrapEnd);
      if (secrets.isCurrent(wrapped.toString("base64"))) return "current";
      const dataKey = secrets.unwrapKey(wrapped, address);
      const rest = file.subarray(wrapEnd);
      await replace(pathOf(sha256), [magic, secrets.wrapKey(dataKey, address), rest]);
      return "rewrapped";
    },
    async removeUnused(sha256, since) {
      // Both ways: a put waits for the removal and writes it anew, a removal leaves alone what is being put.
      if (writing.has(sha256)) return null;
      const removal = removeOld(sha256, since).finally(() => removing.delete(sha256));
      removing.set(sha256, removal);
      return removal;
    },
    walk: (options) => walkStore({ folder, keys: secrets.wrapKeys() }, options),
    async drafts(before) {
      const found = [];
      for (const name of await readdir(join(folder, "tmp"))) {
        const path = join(folder, "tmp", name);
        if ((await changedAt(path)) < before) found.push(path);
      }
      return found;
    },
    async *list(after = "") {
      for (const first of (await readdir(folder)).sort()) {
        if (!/^[0-9a-f]{2}$/.test(first) || first < after.slice(0, 2)) continue;
        for (const second of (await readdir(join(folder, first))).sort()) {
          if (`${first}${second}` < after.slice(0, 4)) continue;
          for (const name of (await readdir(join(folder, first, second))).sort())
            if (/^[0-9a-f]{64}$/.test(name) && name > after) yield name;
        }
      }
    },
    async close() {
      await rm(temporary, { recursive: true, force: true }).catch((error: unknown) => {
        // A disk that takes nothing more must not keep the rest from being closed; the next start clears it.
        if (storageFault(error) === null) throw error;
      });
    },
  };
}
