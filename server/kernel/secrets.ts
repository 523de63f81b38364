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
};

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

function decrypt(key: Buffer, sealed: Buffer, context: Uint8Array): Buffer {
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

/** @param retired master keys of before, only for opening */
export function openSecrets(masterKey: Buffer, retired: readonly Buffer[] = []): Secrets {
  const current = keysOf(masterKey);
  const all = [current, ...retired.map(keysOf)];
  const purposes = new Map<string, Buffer>();

  function keysFor(sealed: Buffer): Keys {
    if (sealed.length < headLength + tagLength || sealed[0] !== version) throw new SealedTextDamaged("unknown format");
    const id = sealed.subarray(1, 1 + idLength);
    const keys = all.find((candidate) => candidate.id.equals(id));
    if (keys === undefined) throw new SealedTextDamaged("it was made under another master key");
    return keys;
  }

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
    unwrapKey(wrapped, context) {
      const bytes = Buffer.from(wrapped);
      return decrypt(keysFor(bytes).wrap, bytes, context);
    },
  };
}

/** Whether two secrets are equal, in a time that tells nothing but their lengths. */
export function equalInConstantTime(left: string | Uint8Array, right: string | Uint8Array): boolean {
  const a = Buffer.from(left);
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * Reads the master key: 32 bytes as one line of base64.
 * @throws Error with one clear line when the file is missing, readable by others, or not a key
 */
export async function loadMasterKey(file: string): Promise<Buffer> {
  const { mode } = await stat(file);
  if (process.platform !== "win32" && (mode & 0o077) !== 0) {
    throw new Error(`the master key ${file} can be read by others; run: chmod 600 ${file}`);
  }
  const text = (await readFile(file, "utf8")).trim();
  const key = Buffer.from(text, "base64");
  if (key.length !== keyLength || key.toString("base64") !== text) {
    throw new Error(`${file} does not hold a master key (one line, ${keyLength} bytes in base64)`);
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
