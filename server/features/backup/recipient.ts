import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
  type ScryptOptions,
  scrypt,
  scryptSync,
} from "node:crypto";
import { z } from "zod";

/**
 * Who can open a backup: the holder of an X25519 key, or who knows a passphrase. Either wraps the backup's own random key
 * (docs/decisions/031-backup.md has the format).
 */

const Base64 = z.base64().max(200);

export const WrappedKey = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("x25519"), recipient: z.string(), ephemeral: Base64, nonce: Base64, wrapped: Base64 }),
  z.object({
    kind: z.literal("passphrase"),
    salt: Base64,
    // Neither less work for who guesses than was chosen, nor so much memory that opening one becomes an attack.
    log2N: z.int().min(17).max(18),
    nonce: Base64,
    wrapped: Base64,
  }),
]);
export type WrappedKey = z.infer<typeof WrappedKey>;

/** Who shall be able to open a backup. */
export type Recipient = { kind: "x25519"; text: string } | { kind: "passphrase"; passphrase: string };
/** What somebody opens a backup with. */
export type Opener = { kind: "x25519"; secret: string } | { kind: "passphrase"; passphrase: string };

/** The key or passphrase does not open this backup, or is none. */
export class WrongBackupKey extends Error {
  readonly code = "WRONG_BACKUP_KEY";
  override name = "WrongBackupKey";
}

const publicPrefix = "signet-backup-";
const secretPrefix = "SIGNET-BACKUP-SECRET-";
const keyLength = 32;
const checkLength = 4;
/** DER of an X25519 key up to its 32 bytes (RFC 8410). */
const spki = Buffer.from("302a300506032b656e032100", "hex");
const pkcs8 = Buffer.from("302e020100300506032b656e04220420", "hex");
/** 2^17 rounds with r = 8: 128 MB and about half a second. */
const passphraseLog2N = 17;

/** A new pair, as texts with a checksum. Only the public one ever lies on the appliance. */
export function makeRecipient(): { recipient: string; secret: string } {
  const { publicKey, privateKey } = generateKeyPairSync("x25519");
  return {
    recipient: textOf(publicPrefix, rawPublic(publicKey)),
    secret: textOf(secretPrefix, privateKey.export({ type: "pkcs8", format: "der" }).subarray(pkcs8.length)),
  };
}

/** @throws WrongBackupKey when it is not the text of a recipient, or was mistyped */
export function readRecipient(text: string): KeyObject {
  return createPublicKey({ key: Buffer.concat([spki, bytesOf(publicPrefix, text)]), format: "der", type: "spki" });
}

function readSecret(text: string): KeyObject {
  return createPrivateKey({ key: Buffer.concat([pkcs8, bytesOf(secretPrefix, text)]), format: "der", type: "pkcs8" });
}

const rawPublic = (key: KeyObject) => key.export({ type: "spki", format: "der" }).subarray(spki.length);
const checkOf = (prefix: string, raw: Uint8Array) =>
  createHash("sha256").update(prefix).update(raw).digest().subarray(0, checkLength);

function textOf(prefix: string, raw: Uint8Array): string {
  return prefix + Buffer.concat([raw, checkOf(prefix, raw)]).toString("base64url");
}

function bytesOf(prefix: string, text: string): Buffer {
  const trimmed = text.trim();
  const bytes = Buffer.from(trimmed.slice(prefix.length), "base64url");
  const raw = bytes.subarray(0, keyLength);
  const whole =
    trimmed.startsWith(prefix) &&
    bytes.length === keyLength + checkLength &&
    checkOf(prefix, raw).equals(bytes.subarray(keyLength));
  if (!whole) throw new WrongBackupKey(`this is no key that begins with ${prefix}, or it was not copied whole`);
  return raw;
}

/** People sign meanwhile: half a second of scrypt runs in another thread. @param id of the backup, to which the wrapped key is bound */
export async function wrapBackupKey(key: Buffer, recipient: Recipient, id: string): Promise<WrappedKey> {
  if (recipient.kind === "passphrase") {
    const salt = randomBytes(16);
    const under = await new Promise<Buffer>((resolve, reject) => {
      const done = (error: Error | null, derived: Buffer) => (error ? reject(error) : resolve(derived));
      scrypt(recipient.passphrase.normalize("NFKC"), salt, keyLength, scryptWork(passphraseLog2N), done);
    });
    return {
      kind: "passphrase",
      salt: salt.toString("base64"),
      log2N: passphraseLog2N,
      ...encrypt(under, key, id),
    };
  }
  const publicKey = readRecipient(recipient.text);
  const ephemeral = generateKeyPairSync("x25519");
  const shared = diffieHellman({ privateKey: ephemeral.privateKey, publicKey });
  const sent = rawPublic(ephemeral.publicKey);
  return {
    kind: "x25519",
    recipient: recipient.text,
    ephemeral: sent.toString("base64"),
    ...encrypt(sharedKey(shared, sent, rawPublic(publicKey)), key, id),
  };
}

/** @throws WrongBackupKey */
export function unwrapBackupKey(wrapped: WrappedKey, opener: Opener, id: string): Buffer {
  if (wrapped.kind !== opener.kind) {
    const wanted = wrapped.kind === "x25519" ? `the secret key of ${wrapped.recipient}` : "its passphrase";
    throw new WrongBackupKey(`this backup is opened with ${wanted}`);
  }
  try {
    return decrypt(keyOf(wrapped, opener), wrapped, id);
  } catch (cause) {
    if (cause instanceof WrongBackupKey) throw cause;
    const what = opener.kind === "x25519" ? "key" : "passphrase";
    throw new WrongBackupKey(`this ${what} does not open the backup ${id}`, { cause });
  }
}

function keyOf(wrapped: WrappedKey, opener: Opener): Buffer {
  if (wrapped.kind === "passphrase")
    return passphraseKey(
      opener.kind === "passphrase" ? opener.passphrase : "",
      Buffer.from(wrapped.salt, "base64"),
      wrapped.log2N,
    );
  const privateKey = readSecret(opener.kind === "x25519" ? opener.secret : "");
  const sent = Buffer.from(wrapped.ephemeral, "base64");
  const publicKey = createPublicKey({ key: Buffer.concat([spki, sent]), format: "der", type: "spki" });
  const own = rawPublic(createPublicKey(privateKey));
  return sharedKey(diffieHellman({ privateKey, publicKey }), sent, own);
}

function sharedKey(shared: Buffer, sent: Buffer, recipient: Buffer): Buffer {
  const salt = Buffer.concat([sent, recipient]);
  return Buffer.from(hkdfSync("sha256", shared, salt, "signet/backup/x25519", keyLength));
}

function passphraseKey(passphrase: string, salt: Buffer, log2N: number): Buffer {
  return scryptSync(passphrase.normalize("NFKC"), salt, keyLength, scryptWork(log2N));
}

function scryptWork(log2N: number): ScryptOptions {
  const N = 2 ** log2N;
  return { N, r: 8, p: 1, maxmem: 256 * N * 8 };
}

function encrypt(under: Buffer, key: Buffer, id: string): { nonce: string; wrapped: string } {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", under, nonce).setAAD(Buffer.from(`signet/backup/key/${id}`));
  const wrapped = Buffer.concat([cipher.update(key), cipher.final(), cipher.getAuthTag()]);
  return { nonce: nonce.toString("base64"), wrapped: wrapped.toString("base64") };
}

function decrypt(under: Buffer, { nonce, wrapped }: { nonce: string; wrapped: string }, id: string): Buffer {
  const bytes = Buffer.from(wrapped, "base64");
  const end = bytes.length - 16;
  const decipher = createDecipheriv("aes-256-gcm", under, Buffer.from(nonce, "base64"), { authTagLength: 16 });
  decipher.setAAD(Buffer.from(`signet/backup/key/${id}`)).setAuthTag(bytes.subarray(end));
  return Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]);
}
