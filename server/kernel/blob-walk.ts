import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type BlobCheck, checkFolder } from "./blob-check.ts";
import type { CheckedPart, CheckOrder } from "./blob-format.ts";

export type WalkOptions = { after?: string | undefined; threads?: number | undefined };

/** So many folders may be checked ahead of the one whose results are taken next. */
const aheadOf = 8;

/** With fewer folders than this, starting threads takes longer than reading the files. */
const worthThreads = 32;

/**
 * Checks every file of a store, many of them in threads: as fast as the disk or the processors read, decrypt and hash.
 * Results come in the order of hashes, so that a walk can be taken up behind any part. Ends its threads when it is left.
 * @throws Error when a thread ends by itself, or the folder of the store cannot be read
 */
export async function* walkStore(store: BlobCheck, options: WalkOptions = {}): AsyncGenerator<CheckedPart> {
  const after = options.after ?? "";
  const names = (await readdir(store.folder)).sort();
  const stray = names.filter((name) => !isFolder(name) && name !== "tmp").map((name) => join(store.folder, name));
  if (after === "" && stray.length > 0) yield { prefix: "", blobs: [], stray, unreadable: [], last: false };
  const folders = names.filter((name) => isFolder(name) && name >= after.slice(0, 2));
  if (options.threads !== undefined || folders.length >= worthThreads)
    return yield* inThreads(store, { folders, after, threads: options.threads ?? availableParallelism() });
  for (const prefix of folders) {
    const parts: CheckedPart[] = [];
    checkFolder(store, { prefix, after }, (part) => parts.push(part));
    yield* parts;
  }
}

const isFolder = (name: string) => /^[0-9a-f]{2}$/.test(name);

async function* inThreads(
  store: BlobCheck,
  about: { folders: readonly string[]; after: string; threads: number },
): AsyncGenerator<CheckedPart> {
  const { folders, after } = about;
  const threads = Math.max(1, Math.min(about.threads, folders.length));
  const parts = new Map<string, CheckedPart[]>();
  let head = 0;
  let next = 0;
  let done = false;
  let failure: unknown;
  let wake = () => {};
  const idle: Worker[] = [];
  const giveOut = () => {
    while (idle.length > 0 && next < folders.length && next < head + aheadOf * threads) {
      const [prefix = ""] = folders.slice(next, next + 1);
      next += 1;
      idle.pop()?.postMessage({ prefix, after } satisfies CheckOrder);
    }
  };
  const workers = Array.from({ length: threads }, () => {
    const worker = new Worker(new URL("./blob-check-thread.ts", import.meta.url), { workerData: store });
    worker.on("message", (part: CheckedPart) => {
      parts.set(part.prefix, [...(parts.get(part.prefix) ?? []), part]);
      if (part.last) {
        idle.push(worker);
        giveOut();
      }
      wake();
    });
    worker.on("error", (error) => {
      failure = error;
      wake();
    });
    worker.on("exit", (code) => {
      failure ??= new Error(`a thread that checks files ended with ${code}`);
      wake();
    });
    idle.push(worker);
    return worker;
  });
  try {
    giveOut();
    for (const [index, prefix] of folders.entries()) {
      head = index;
      giveOut();
      for (let last = false; !last; ) {
        const part = parts.get(prefix)?.shift();
        if (part === undefined) {
          if (failure !== undefined) throw failure;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          continue;
        }
        last = part.last;
        yield part;
      }
      parts.delete(prefix);
    }
    done = true;
  } finally {
    await Promise.all(workers.map((worker) => (done ? dismissed(worker) : worker.terminate())));
  }
}

/** Lets a thread without work end by itself: one that is cut off while it still loads can take the process with it. */
async function dismissed(worker: Worker): Promise<void> {
  const ended = once(worker, "exit");
  worker.postMessage(null);
  await ended;
}
