import { createHash, X509Certificate } from "node:crypto";
import { mkdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { writeDurably } from "../../kernel/durable.ts";

/**
 * The certificates of the server under tls/ in the data folder. Each one has a folder of its own, and one small file says which
 * is served and which was before: a kill at any moment leaves the old one or the new one.
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

export type TlsStore = ReturnType<typeof openTlsStore>;

export function openTlsStore(folder: string) {
  const inside = (...names: string[]) => path.join(folder, ...names);

  async function state(): Promise<State> {
    return (await readJson(inside("state.json"), State)) ?? { current: null, previous: null };
  }

  async function pair(id: string | null): Promise<StoredPair | null> {
    if (id === null) return null;
    const meta = await readJson(inside(id, "meta.json"), Meta);
    if (!meta) return null;
    const certPem = await readFile(inside(id, "chain.pem"), "utf8");
    const keyPem = await readFile(inside(id, "key.pem"), "utf8");
    return { id, source: meta.source, certPem, keyPem };
  }

  const write = async (file: string, text: string) => {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await writeDurably(file, text);
  };

  return {
    folder,
    async current(): Promise<StoredPair | null> {
      return await pair((await state()).current);
    },
    async previous(): Promise<StoredPair | null> {
      return await pair((await state()).previous);
    },
    /** Keeps the pair and serves it from the next look on; what was served before can be had back once. */
    async put(given: Omit<StoredPair, "id">): Promise<StoredPair> {
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
    },
    /** Serves the one before again; the two change places. @returns null when there is none */
    async back(): Promise<StoredPair | null> {
      const { current, previous } = await state();
      const found = await pair(previous);
      if (!found) return null;
      await write(inside("state.json"), `${JSON.stringify({ current: previous, previous: current })}\n`);
      return found;
    },
    async request(): Promise<StoredRequest | null> {
      return (await readJson(inside("request.json"), Request)) ?? null;
    },
    async putRequest(request: StoredRequest): Promise<void> {
      await write(inside("request.json"), `${JSON.stringify(request)}\n`);
    },
    async dropRequest(): Promise<void> {
      await rm(inside("request.json"), { force: true });
    },
    async authority(): Promise<{ certPem: string; keyPem: string } | null> {
      return (await readJson(inside("authority.json"), Authority)) ?? null;
    },
    async putAuthority(authority: { certPem: string; keyPem: string }): Promise<void> {
      await write(inside("authority.json"), `${JSON.stringify(authority)}\n`);
    },
  };
}

/** Lower-hex SHA-256 of the first certificate. */
export function fingerprintOf(certPem: string): string {
  return createHash("sha256").update(new X509Certificate(certPem).raw).digest("hex");
}

/** Undefined when there is no such file, or one that cannot be used. */
async function readJson<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
