import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Config } from "../../config.ts";
import type { ServedPair } from "./keeper.ts";
import { openTlsStore } from "./store.ts";

/**
 * What a server with these settings would show to clients, for who looks while none runs; makes nothing. Null where it would
 * speak plain HTTP, or make a certificate of its own.
 */
export async function peekTls(config: Config): Promise<Omit<ServedPair, "keyPem"> | null> {
  if (config.tlsCert !== undefined) return { source: "files", certPem: await readFile(config.tlsCert, "utf8") };
  return await openTlsStore(path.join(config.dataDir, "tls")).current();
}
