import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { createSecureContext } from "node:tls";
import { type Config, ConfigError, isLoopback } from "../../config.ts";
import { type Challenges, createChallenges } from "./acme/challenges.ts";
import { isStillGood, issueServerCertificate, makeAuthority, type PemPair } from "./own-authority.ts";
import { openTlsStore, type StoredPair, type TlsSource, type TlsStore } from "./store.ts";

/** What the server shows to clients, and tells its front when that changes. */

export type ServedPair = {
  /** `files`: those that SIGNET_TLS_CERT and SIGNET_TLS_KEY name, which somebody else keeps. */
  source: TlsSource | "files";
  certPem: string;
  keyPem: string;
};

export type TlsKeeper = {
  store: TlsStore;
  /** What an ACME authority is answered. */
  challenges: Challenges;
  /** Host of the base URL, without brackets. */
  host: string;
  /** Null where the server speaks plain HTTP: on loopback, and behind a trusted proxy. */
  current: () => ServedPair | null;
  /** Looks again at what is to be served, and tells whether it is another one now. @throws ConfigError, and keeps the old one */
  reload: () => Promise<boolean>;
  onChange: (listener: (pair: ServedPair) => void) => void;
  /** The authority of self-made certificates, made when there is none. */
  authority: () => Promise<{ certPem: string; keyPem: string }>;
  /** A new self-made certificate, served at once. */
  renewOwn: () => Promise<void>;
  close: () => void;
};

/** Files that somebody else renews are looked at so often, in milliseconds; so is the end of a self-made certificate. */
const lookEveryMs = 60_000;

/**
 * Opens the certificates of this installation. Where the server can be reached from other machines and nothing was installed, it
 * makes its own.
 * @param onTrouble hears why a later look failed; what was served goes on
 * @throws ConfigError when a configured file cannot be used
 */
export async function openTls(
  config: Config,
  now: () => number,
  onTrouble: (error: unknown) => void = () => undefined,
): Promise<TlsKeeper> {
  const store = openTlsStore(path.join(config.dataDir, "tls"));
  const host = new URL(config.baseUrl).hostname.replace(/^\[|\]$/g, "");
  const { tlsCert, tlsKey } = config;
  const files = tlsCert && tlsKey ? { tlsCert, tlsKey } : null;
  const plain = files === null && (isLoopback(config.host) || config.trustedProxies.length > 0);
  let served: ServedPair | null = null;
  const listeners = new Set<(pair: ServedPair) => void>();

  const makes = {
    isGood: ({ certPem }: PemPair) => isStillGood(certPem, "", now(), { anyName: true }),
    make: () => makeAuthority(now()),
    issue: (authority: PemPair) => issueServerCertificate(authority, host, now()),
  };
  const isFit = ({ source, certPem }: StoredPair) => source !== "self-signed" || isStillGood(certPem, host, now());

  async function wanted(): Promise<ServedPair | null> {
    if (files) return await readFiles(files);
    if (plain) return null;
    const kept = await store.current();
    return kept !== null && isFit(kept) ? kept : await store.currentOrOwn(isFit, makes);
  }

  async function look(): Promise<boolean> {
    const next = await wanted();
    if (next === null || (served !== null && same(served, next))) return false;
    const first = served === null;
    served = next;
    if (!first) for (const listener of listeners) listener(next);
    return true;
  }

  let looks = 0;
  let last: Promise<unknown> = Promise.resolve();
  /** One at a time: what a slow look found must not take the place of what a later one found. */
  function reload(): Promise<boolean> {
    looks += 1;
    const mine = last.then(look).finally(() => {
      looks -= 1;
    });
    last = mine.catch(() => undefined);
    return mine;
  }

  await reload();
  const timer = setInterval(() => {
    if (looks === 0) void reload().catch(onTrouble);
  }, lookEveryMs);
  timer.unref();
  return {
    store,
    challenges: createChallenges(),
    host,
    current: () => served,
    reload,
    onChange: (listener) => void listeners.add(listener),
    authority: () => store.authority(makes),
    async renewOwn() {
      await store.currentOrOwn(() => false, makes);
      await reload();
    },
    close: () => clearInterval(timer),
  };
}

async function readFiles({ tlsCert, tlsKey }: { tlsCert: string; tlsKey: string }): Promise<ServedPair> {
  const certPem = await read("SIGNET_TLS_CERT", tlsCert);
  const keyPem = await read("SIGNET_TLS_KEY", tlsKey);
  try {
    createSecureContext({ cert: certPem, key: keyPem });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(`SIGNET_TLS_CERT and SIGNET_TLS_KEY cannot be used together: ${reason}`);
  }
  return { source: "files", certPem, keyPem };
}

async function read(setting: string, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new ConfigError(`${setting} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

const digest = ({ certPem, keyPem }: ServedPair) => createHash("sha256").update(certPem).update(keyPem).digest("hex");
const same = (a: ServedPair, b: ServedPair) => digest(a) === digest(b);
