import { createHash, createPrivateKey, type KeyObject, sign, X509Certificate } from "node:crypto";
import { promisify } from "node:util";
import type { Ts } from "../../kernel/clock.ts";
import { isUniqueViolation, type Reader, type Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { AnchorKey } from "./contract.ts";
import { generateKeys } from "./generate.ts";
import { pemOf, presentAnchorKey } from "./public-keys.ts";
import * as store from "./store.ts";

const signAsync = promisify(sign);

/** A key with its certificate, to sign in a PDF or a time stamp with. */
export type CertifiedSigner = {
  /** DER, its own first. */
  certificates: Uint8Array[];
  kind: "rsa" | "ec-p256";
  /** Lower-case hex, of its own certificate. */
  certificateSha256: string;
  /** One line. */
  subject: string;
  /** SHA-256 with PKCS#1 v1.5, or DER-encoded ECDSA; in a background thread. */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
};

export type AnchorSigner = { kid: string; sign(bytes: Uint8Array): Promise<Uint8Array> };

type KeyRing = { seal: CertifiedSigner; timestamp: CertifiedSigner; anchor: AnchorSigner };

/** Decrypted keys live as long as the database that they were read from. */
const rings = new WeakMap<Deps["db"], Promise<KeyRing>>();

type KeyDeps = Pick<Deps, "db" | "secrets" | "clock">;

/**
 * Makes the keys of the installation when it has none, and reads them into memory. Making them takes a second or two of
 * background work; whoever needs a key meanwhile waits for it.
 */
export async function ensureKeys(deps: KeyDeps): Promise<void> {
  await keyRing(deps);
}

/** Signs sealed PDFs. */
export async function sealSigner(deps: KeyDeps): Promise<CertifiedSigner> {
  return (await keyRing(deps)).seal;
}

/** The built-in time-stamping authority. */
export async function timestampAuthority(deps: KeyDeps): Promise<CertifiedSigner> {
  return (await keyRing(deps)).timestamp;
}

/** Signs anchors (Ed25519). */
export async function anchorSigner(deps: KeyDeps): Promise<AnchorSigner> {
  return (await keyRing(deps)).anchor;
}

/** Every key that ever signed anchors. */
export async function publicAnchorKeys(reader: Reader): Promise<AnchorKey[]> {
  return (await store.listKeys(reader)).filter(({ purpose }) => purpose === "anchor").map(presentAnchorKey);
}

/** PEM of the CA certificates behind all seals and time stamps, those of outside authorities among them. */
export async function caCertificates(reader: Reader): Promise<string[]> {
  const own = (await store.listKeys(reader)).filter(({ purpose }) => purpose === "ca");
  const foreign = await store.listTimestampAnchors(reader);
  return [...own, ...foreign].flatMap(({ certificate }) => (certificate === null ? [] : [pemOf(certificate)]));
}

/** Until when the keys in use may sign; those without an end are left out. Makes none. */
export async function keyExpiries(reader: Reader): Promise<{ purpose: store.KeyPurpose; validUntil: Ts }[]> {
  const rows = (await store.listKeys(reader)).filter(inUse);
  return rows.flatMap(({ purpose, valid_until: until }) => (until === null ? [] : [{ purpose, validUntil: until }]));
}

/** Remembers the certificate that an outside authority's chain ended in, so that it is published. */
export async function rememberTimestampAnchor(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  certificate: Uint8Array,
): Promise<void> {
  await store.insertTimestampAnchor(tx, {
    sha256: createHash("sha256").update(certificate).digest("hex"),
    certificate: Buffer.from(certificate).toString("base64"),
    first_used_at: deps.clock.ts(),
  });
}

function keyRing(deps: KeyDeps): Promise<KeyRing> {
  let ring = rings.get(deps.db);
  if (!ring) {
    ring = openRing(deps);
    rings.set(deps.db, ring);
    // The next caller tries again.
    ring.catch(() => rings.delete(deps.db));
  }
  return ring;
}

async function openRing(deps: KeyDeps): Promise<KeyRing> {
  const stored = await store.listKeys(deps.db.read);
  const rows = stored.some(inUse) ? stored : await createKeys(deps);
  const ca = certificateOf(one(rows, "ca"));
  return {
    seal: certifiedSigner(deps, one(rows, "seal"), ca),
    timestamp: certifiedSigner(deps, one(rows, "timestamp"), ca),
    anchor: createAnchorSigner(deps, one(rows, "anchor")),
  };
}

async function createKeys(deps: KeyDeps): Promise<store.KeyRow[]> {
  const encrypt = (pkcs8: Uint8Array, id: string) => deps.secrets.seal(pkcs8, contextOf(id));
  const rows = await generateKeys(deps.clock.now(), encrypt);
  try {
    await deps.db.tx((tx) => store.insertKeys(tx, rows));
    return rows;
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    // A command beside the server was faster: its keys count.
    return await store.listKeys(deps.db.read);
  }
}

const contextOf = (id: string): string => `signing_keys.private_key:${id}`;
const inUse = (row: store.KeyRow): boolean => row.retired_at === null;

function one(rows: readonly store.KeyRow[], purpose: store.KeyPurpose): store.KeyRow {
  const row = rows.find((candidate) => candidate.purpose === purpose && inUse(candidate));
  if (!row) throw new Error(`the installation has no ${purpose} key`);
  return row;
}

function openPrivateKey(deps: KeyDeps, row: store.KeyRow): KeyObject {
  const pkcs8 = deps.secrets.open(row.private_key, contextOf(row.id));
  try {
    return createPrivateKey({ key: pkcs8, type: "pkcs8", format: "der" });
  } finally {
    pkcs8.fill(0);
  }
}

function certificateOf(row: store.KeyRow): Uint8Array {
  if (row.certificate === null) throw new Error(`the ${row.purpose} key has no certificate`);
  return Buffer.from(row.certificate, "base64");
}

function certifiedSigner(deps: KeyDeps, row: store.KeyRow, ca: Uint8Array): CertifiedSigner {
  const certificate = certificateOf(row);
  const key = openPrivateKey(deps, row);
  return {
    certificates: [certificate, ca],
    kind: row.algorithm === "ec-p256" ? "ec-p256" : "rsa",
    certificateSha256: row.id,
    subject: new X509Certificate(certificate).subject.replaceAll("\n", ", "),
    sign: (bytes) => signAsync("sha256", bytes, key),
  };
}

function createAnchorSigner(deps: KeyDeps, row: store.KeyRow): AnchorSigner {
  const key = openPrivateKey(deps, row);
  // Ed25519 hashes by itself, so that no digest is named.
  return { kid: row.id, sign: (bytes) => signAsync(null, bytes, key) };
}
