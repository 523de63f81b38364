import { createHash, X509Certificate } from "node:crypto";
import { mkdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { holdFileLock } from "../../kernel/db.ts";
import { writeDurably } from "../../kernel/durable.ts";
import type { PemPair } from "./own-authority.ts";

/**
 * The certificates of the server under tls/ in the data folder. Each one has a folder of its own, and one small file says which
 * is served and which was before: a kill at any moment leaves the old one or the new one. Whoever changes one of them, in whatever
 * process, holds the lock of the folder from its look to its last write; readers do not wait.
 */

export const tlsSources = ["self-signed", "installed", "acme"] as const;
export type TlsSource = (typeof tlsSources)[number];

/** `certPem` is the leaf and its chain. */
export type StoredPair = { id: string; source: TlsSource; certPem: string; keyPem: string };
/** A request that waits for its certificate. */
export type StoredRequest = { csrPem: string; keyPem: string; names: string[]; createdAt: string };

const State = z.object({
  current: z.string().nullable(),
  previous: z.string().nullable(),
});
type State = z.infer<typeof State>;
const Meta = z.object({ source: z.enum(tlsSources) });
const Request = z.object({ csrPem: z.string(), keyPem: z.string(), names: z.array(z.string()), createdAt: z.string() });
const Authority = z.object({ certPem: z.string(), keyPem: z.string() });

type AuthorityMaker = { isGood: (known: PemPair) => boolean; make: () => Promise<PemPair> };

/** Between two looks at a lock that another holds, and until that is told, in milliseconds. */
const lockLookMs = 20;
const lockPatienceMs = 60_000;

export type TlsStore = ReturnType<typeof openTlsStore>;

/** @param folder tls/ in the data folder */
export function openTlsStore(folder: string) {
  const lock = path.join(path.dirname(folder), "run", "tls-lock.db");
  const inside = (...names: string[]) => path.join(folder, ...names);

  async function state(): Promise<State> {
    return (await readJson(inside("state.json"), State)) ?? { current: null, previous: null };
  }

  async function pair(id: string | null): Promise<StoredPair | null> {
    if (id === null) return null;
    const meta = await readJson(inside(id, "meta.json"), Meta);
    if (!meta) return null;
    const certPem = await readText(inside(id, "chain.pem"));
    const keyPem = await readText(inside(id, "key.pem"));
    // Somebody may be taking it away, who changed the state before.
    return certPem === undefined || keyPem === undefined ? null : { id, source: meta.source, certPem, keyPem };
  }

  const write = async (file: string, text: string) => {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await writeDurably(file, text);
  };

  /** One change at a time. @throws Error when another process does not come to its end */
  async function alone<T>(change: () => Promise<T>): Promise<T> {
    await mkdir(path.dirname(lock), { recursive: true, mode: 0o700 });
    for (let waited = 0; ; waited += lockLookMs) {
      const release = await holdFileLock(lock);
      if (release !== null) {
        try {
          return await change();
        } finally {
          await release();
        }
      }
      if (waited >= lockPatienceMs)
        throw new Error(`another Signet process has held ${lock} for a minute: end it, then try again`);
      await sleep(lockLookMs);
    }
  }

  async function keep(given: Omit<StoredPair, "id">): Promise<StoredPair> {
    const id = `${given.source}-${fingerprintOf(given.certPem).slice(0, 16)}`;
    await write(inside(id, "key.pem"), given.keyPem);
    await write(inside(id, "chain.pem"), given.certPem);
    await write(inside(id, "meta.json"), `${JSON.stringify({ source: given.source })}\n`);
    const before = await state();
    const previous = before.current === id ? before.previous : before.current;
    await write(inside("state.json"), `${JSON.stringify({ current: id, previous })}\n`);
    const kept = new Set([id, previous]);
    for (const old of [before.current, before.previous])
      if (old !== null && !kept.has(old)) await rm(inside(old), { recursive: true, force: true });
    return { id, ...given };
  }

  async function authorityOf(makes: AuthorityMaker): Promise<PemPair> {
    const known = await readJson(inside("authority.json"), Authority);
    if (known && makes.isGood(known)) return known;
    const made = await makes.make();
    await write(inside("authority.json"), `${JSON.stringify(made)}\n`);
    return made;
  }

  return {
    folder,
    async current(): Promise<StoredPair | null> {
      return await pair((await state()).current);
    },
    async previous(): Promise<StoredPair | null> {
      return await pair((await state()).previous);
    },
    /**
     * Keeps the pair and serves it from the next look on; what was served before can be had back once.
     * @param agreed says, with the lock held, whether it still may be; what it throws leaves everything as it is
     */
    put: (given: Omit<StoredPair, "id">, agreed?: () => Promise<void>): Promise<StoredPair> =>
      alone(async () => {
        await agreed?.();
        return await keep(given);
      }),
    /** The pair that is served; a self-made one in its place where it is not fit. */
    currentOrOwn: (
      isFit: (pair: StoredPair) => boolean,
      makes: AuthorityMaker & { issue: (authority: PemPair) => Promise<PemPair> },
    ): Promise<StoredPair> =>
      alone(async () => {
        const kept = await pair((await state()).current);
        if (kept !== null && isFit(kept)) return kept;
        return await keep({ source: "self-signed", ...(await makes.issue(await authorityOf(makes))) });
      }),
    /** Serves the one before again; the two change places. @returns null when there is none */
    back: (): Promise<StoredPair | null> =>
      alone(async () => {
        const { current, previous } = await state();
        const found = await pair(previous);
        if (!found) return null;
        await write(inside("state.json"), `${JSON.stringify({ current: previous, previous: current })}\n`);
        return found;
      }),
    /** The authority of self-made certificates, made anew where it is not good. */
    authority: (makes: AuthorityMaker): Promise<PemPair> => alone(() => authorityOf(makes)),
    async request(): Promise<StoredRequest | null> {
      return (await readJson(inside("request.json"), Request)) ?? null;
    },
    async putRequest(request: StoredRequest): Promise<void> {
      await write(inside("request.json"), `${JSON.stringify(request)}\n`);
    },
    async dropRequest(): Promise<void> {
      await rm(inside("request.json"), { force: true });
    },
  };
}

/** Lower-hex SHA-256 of the first certificate. */
export function fingerprintOf(certPem: string): string {
  return createHash("sha256").update(new X509Certificate(certPem).raw).digest("hex");
}

/** Undefined when there is no such file. */
async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Undefined when there is no such file, or one that cannot be used. */
async function readJson<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const text = await readText(file);
  if (text === undefined) return undefined;
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
