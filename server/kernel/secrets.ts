import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  randomUUID,
  timingSafeEqual,
} from "node:crypto";
import { link, open, readFile, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "./durable.ts";

/**
 * What the appliance keeps confidential at rest, all derived from one master key of 32 bytes.
 *
 * Sealed text is base64 of: version (1) | key id (4) | nonce (12) | ciphertext | tag (16), AES-256-GCM under an HKDF
 * subkey. The key id names the master key, so that it can be replaced: open with `[old]` as retired keys, seal every
 * column and re-wrap every blob again (both are written under the new key from then on), then drop the old key.
 */
export type Secrets = {
  /** @returns base64 text for a column; `context` (table, column, row) is authenticated, so it cannot be moved elsewhere */
  seal(plain: Uint8Array | string, context: string): string;
  /** @throws SealedTextDamaged */
  open(sealed: string, context: string): Buffer;
  /** HMAC-SHA-256 under a key of its own per purpose. */
  hmac(purpose: string, data: string | Uint8Array): Buffer;
  /** Whether a sealed text is under the current master key; what is not must be sealed again during a rotation. */
  isCurrent(sealed: string): boolean;
  /** Wraps the random data key of a blob. */
  wrapKey(key: Uint8Array, context: Uint8Array): Buffer;
  /** @throws SealedTextDamaged */
  unwrapKey(wrapped: Uint8Array, context: Uint8Array): Buffer;
  /** What opens data keys and nothing else, for a thread of this process (`unwrapDataKey`). */
  wrapKeys(): readonly WrapKey[];
};

/** `id` names the master key that `wrap` comes from. */
export type WrapKey = { id: Uint8Array; wrap: Uint8Array };

export class SealedTextDamaged extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(`sealed data cannot be opened: ${reason}`, options);
    this.name = "SealedTextDamaged";
  }
}

const keyLength = 32;
const version = 1;
const idLength = 4;
const nonceLength = 12;
const tagLength = 16;
const headLength = 1 + idLength + nonceLength;
/** Length of a wrapped data key. */
export const wrappedKeyLength = headLength + keyLength + tagLength;

type Keys = { id: Buffer; seal: Buffer; wrap: Buffer; master: Buffer };

function derive(master: Buffer, purpose: string, length: number = keyLength): Buffer {
  return Buffer.from(hkdfSync("sha256", master, "", `signet/${purpose}`, length));
}

function keysOf(master: Buffer): Keys {
  if (master.length !== keyLength) throw new Error(`the master key must have ${keyLength} bytes`);
  return {
    id: derive(master, "key-id", idLength),
    seal: derive(master, "seal"),
    wrap: derive(master, "wrap"),
    master,
  };
}

function encrypt(id: Buffer, key: Buffer, plain: Uint8Array, context: Uint8Array): Buffer {
  const head = Buffer.concat([Buffer.of(version), id, randomBytes(nonceLength)]);
  const cipher = createCipheriv("aes-256-gcm", key, head.subarray(1 + idLength));
  cipher.setAAD(Buffer.concat([head.subarray(0, 1 + idLength), context]));
  return Buffer.concat([head, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Uint8Array, sealed: Buffer, context: Uint8Array): Buffer {
  const body = sealed.subarray(headLength, sealed.length - tagLength);
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1 + idLength, headLength), {
    authTagLength: tagLength,
  });
  decipher.setAAD(Buffer.concat([sealed.subarray(0, 1 + idLength), context]));
  decipher.setAuthTag(sealed.subarray(sealed.length - tagLength));
  try {
    return Buffer.concat([decipher.update(body), decipher.final()]);
  } catch (error) {
    throw new SealedTextDamaged("it was changed, or belongs somewhere else", { cause: error });
  }
}

function keysNamedBy<K extends { id: Uint8Array }>(all: readonly K[], sealed: Buffer): K {
  if (sealed.length < headLength + tagLength || sealed[0] !== version) throw new SealedTextDamaged("unknown format");
  const id = sealed.subarray(1, 1 + idLength);
  const keys = all.find((candidate) => id.equals(candidate.id));
  if (keys === undefined) throw new SealedTextDamaged("it was made under another master key");
  return keys;
}

/** @throws SealedTextDamaged */
export function unwrapDataKey(all: readonly WrapKey[], wrapped: Uint8Array, context: Uint8Array): Buffer {
  const bytes = Buffer.from(wrapped);
  return decrypt(keysNamedBy(all, bytes).wrap, bytes, context);
}

/** @param retired master keys of before, only for opening */
export function openSecrets(masterKey: Buffer, retired: readonly Buffer[] = []): Secrets {
  const current = keysOf(masterKey);
  const all = [current, ...retired.map(keysOf)];
  const purposes = new Map<string, Buffer>();

  const keysFor = (sealed: Buffer): Keys => keysNamedBy(all, sealed);

  return {
    seal: (plain, context) =>
      encrypt(current.id, current.seal, Buffer.from(plain), Buffer.from(context)).toString("base64"),
    open(sealed, context) {
      const bytes = Buffer.from(sealed, "base64");
      return decrypt(keysFor(bytes).seal, bytes, Buffer.from(context));
    },
    hmac(purpose, data) {
      let key = purposes.get(purpose);
      if (key === undefined) {
        key = derive(current.master, `hmac/${purpose}`);
        purposes.set(purpose, key);
      }
      return createHmac("sha256", key).update(data).digest();
    },
    isCurrent: (sealed) => keysFor(Buffer.from(sealed, "base64")) === current,
    wrapKey: (key, context) => encrypt(current.id, current.wrap, key, context),
    unwrapKey: (wrapped, context) => unwrapDataKey(all, wrapped, context),
    wrapKeys: () => all.map(({ id, wrap }) => ({ id: new Uint8Array(id), wrap: new Uint8Array(wrap) })),
  };
}

/** Names a master key and tells nothing about it; 32 hex digits. */
export function masterKeyFingerprint(master: Buffer): string {
  return derive(master, "fingerprint", 16).toString("hex");
}

/** Whether two secrets are equal, in a time that tells nothing but their lengths. */
export function equalInConstantTime(left: string | Uint8Array, right: string | Uint8Array): boolean {
  const a = Buffer.from(left);
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The data folder cannot be opened with the master key that is there, or there is none. */
export class MasterKeyUnfit extends Error {
  /** Marks a failure of the installation rather than of the program. */
  readonly code = "MASTER_KEY_UNFIT";
  override name = "MasterKeyUnfit";
}

/**
 * Reads the master key: 32 bytes as one line of base64.
 * @throws Error with one clear line when the file is missing, readable by others, or not a key
 */
export async function loadMasterKey(file: string): Promise<Buffer> {
  const { mode } = await stat(file);
  if (process.platform !== "win32" && (mode & 0o077) !== 0) {
    throw new MasterKeyUnfit(`the master key ${file} can be read by others; run: chmod 600 ${file}`);
  }
  const text = (await readFile(file, "utf8")).trim();
  const key = Buffer.from(text, "base64");
  if (key.length !== keyLength || key.toString("base64") !== text) {
    throw new MasterKeyUnfit(
      `the master key ${file} is damaged: it must hold one line, ${keyLength} bytes in base64; put the right one back from where you keep a copy`,
    );
  }
  return key;
}

/**
 * Makes a new master key, durable when it resolves. The file appears whole or not at all, so that a process which dies here
 * leaves no empty key behind.
 * @throws Error with the code EEXIST when the file exists
 */
export async function createMasterKey(file: string): Promise<Buffer> {
  const key = randomBytes(keyLength);
  const draft = `${file}.${randomUUID()}.tmp`;
  try {
    const handle = await open(draft, "wx", 0o600);
    try {
      await handle.writeFile(`${key.toString("base64")}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Unlike a rename, a link never replaces a key that another process has just made.
    await link(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
  await syncFolder(dirname(file));
  return key;
}
