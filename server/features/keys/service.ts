import { createHash, type KeyObject, X509Certificate } from "node:crypto";
import type { Ts } from "../../kernel/clock.ts";
import { isUniqueViolation, type Reader, type Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { AnchorKey } from "./contract.ts";
import { generateKeys } from "./generate.ts";
import type { TokenState } from "./pkcs11/pkcs11.ts";
import { pemOf, presentAnchorKey } from "./public-keys.ts";
import { recorded } from "./records.ts";
import { renewWhenDue } from "./rotation.ts";
import { chainTexts, type KeyDeps, type Signer, secretContext, signerOf, subjectOf, tokenOf } from "./signers.ts";
import * as store from "./store.ts";
import { KeyUnavailable } from "./unavailable.ts";

export { checkKeys } from "./checks.ts";
export { readPkcs12 } from "./given-certificates.ts";
export { tryPin } from "./pkcs11/token.ts";
export { checkRecords } from "./records.ts";
export { ownRevocationList } from "./revocation.ts";
export { KeyUnavailable, usable } from "./unavailable.ts";

/** A key with its certificate, to sign in a PDF or a time stamp with. */
export type CertifiedSigner = {
  /** DER, its own first. */
  certificates: Uint8Array[];
  kind: "rsa" | "ec-p256";
  /** Lower-case hex, of its own certificate. */
  certificateSha256: string;
  /** One line. */
  subject: string;
  /** SHA-256 with PKCS#1 v1.5, or DER-encoded ECDSA; in a background thread. @throws KeyUnavailable */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
  /** For threads that sign by themselves; null in a token. */
  privateKey: KeyObject | null;
};

export type AnchorSigner = { kid: string; sign(bytes: Uint8Array): Promise<Uint8Array> };

/**
 * Makes the keys of the installation when it has none. Making them takes a second or two of background work; whoever needs a
 * key meanwhile waits for it.
 */
export async function ensureKeys(deps: KeyDeps): Promise<void> {
  await inUse(deps, "ca");
}

/** Signs sealed PDFs. @throws KeyUnavailable while its token is away, before any work is done for the seal */
export function sealSigner(deps: KeyDeps): Promise<CertifiedSigner> {
  return certifiedSigner(deps, "seal");
}

/** The built-in time-stamping authority. @throws KeyUnavailable */
export function timestampAuthority(deps: KeyDeps): Promise<CertifiedSigner> {
  return certifiedSigner(deps, "timestamp");
}

/** Signs anchors (Ed25519). @throws KeyUnavailable */
export async function anchorSigner(deps: KeyDeps): Promise<AnchorSigner> {
  const signer = signerOf(deps, await inUse(deps, "anchor"), undefined);
  await signer.ready();
  return { kid: signer.row.id, sign: signer.sign };
}

/** A signature by a key that was retired since would be outside the validity that is published. @throws Error */
export async function assertInUse(tx: Tx, kid: string): Promise<void> {
  const row = await store.findKeyInUse(tx, "anchor");
  if (row?.id !== kid) throw new Error("the anchor key was replaced meanwhile");
}

/** Every key that ever signed anchors. */
export async function publicAnchorKeys(reader: Reader): Promise<AnchorKey[]> {
  return (await usedKeys(reader)).filter(({ purpose }) => purpose === "anchor").map(presentAnchorKey);
}

/**
 * PEM of the CA certificates behind seals, and of those behind time stamps. Two lists: an outside time-stamping authority
 * may stand under a root that certifies anybody, and a seal under such a root would be anybody's.
 */
export async function authorities(reader: Reader): Promise<{ seals: string[]; timestamps: string[] }> {
  const used = await usedKeys(reader);
  const own = used.flatMap(({ purpose, certificate }) =>
    purpose === "ca" && certificate !== null ? [certificate] : [],
  );
  const imported = (use: store.KeyPurpose) =>
    used.flatMap((row) => (row.purpose === use ? chainTexts(row).slice(-1) : []));
  const foreign = (await store.listTimestampAnchors(reader)).map(({ certificate }) => certificate);
  const pems = (list: readonly string[]) => [...new Set(list)].map(pemOf);
  return {
    seals: pems([...own, ...imported("seal")]),
    timestamps: pems([...own, ...imported("timestamp"), ...foreign]),
  };
}

/** Until when the keys in use may sign; those without an end are left out. Makes none. */
export async function keyExpiries(reader: Reader): Promise<{ purpose: store.KeyPurpose; validUntil: Ts }[]> {
  const rows = (await usedKeys(reader)).filter(({ retired_at: retired }) => retired === null);
  return rows.flatMap(({ purpose, valid_until: until }) => (until === null ? [] : [{ purpose, validUntil: until }]));
}

/**
 * Looks at the token of the settings, with one PIN try at most.
 * @returns undefined when none is set and no key in use lies in one
 */
export async function inspectToken(
  deps: KeyDeps,
): Promise<{ ok: true; state: TokenState } | { ok: false; cause: KeyUnavailable } | undefined> {
  const kept = (await usedKeys(deps.db.read)).filter(
    ({ storage, retired_at: retired }) => storage === "pkcs11" && retired === null,
  );
  if (deps.config.pkcs11Module === undefined && kept.length === 0) return undefined;
  try {
    const token = tokenOf(deps);
    const state = await token.inspect();
    for (const { token_key: key } of kept) await token.find(key ?? "");
    return { ok: true, state };
  } catch (error) {
    if (error instanceof KeyUnavailable) return { ok: false, cause: error };
    throw error;
  }
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

async function certifiedSigner(deps: KeyDeps, purpose: "seal" | "timestamp"): Promise<CertifiedSigner> {
  // Read each time: a command beside the server may have put another key into use.
  const current = await inUse(deps, purpose);
  const row = (await renewWhenDue(deps, current)) ? await inUse(deps, purpose) : current;
  const signer: Signer = signerOf(deps, row, await ownIssuerOf(deps, row));
  await signer.ready();
  const [own] = signer.certificates;
  if (!own) throw new Error(`the ${purpose} key has no certificate`);
  return {
    certificates: signer.certificates,
    kind: row.algorithm === "ec-p256" ? "ec-p256" : "rsa",
    certificateSha256: row.id,
    subject: subjectOf(own),
    sign: signer.sign,
    privateKey: signer.privateKey,
  };
}

const issuers = new WeakMap<Deps["db"], Map<string, store.KeyRow>>();

/** The authority of this installation that certified a key, which need not be the one in use. */
async function ownIssuerOf(deps: KeyDeps, row: store.KeyRow): Promise<store.KeyRow | undefined> {
  if (row.certificate === null || chainTexts(row).length > 0) return undefined;
  const known = issuers.get(deps.db) ?? new Map<string, store.KeyRow>();
  issuers.set(deps.db, known);
  const found = known.get(row.id);
  if (found) return found;
  const own = new X509Certificate(Buffer.from(row.certificate, "base64"));
  const issuer = (await store.listKeys(deps.db.read)).find(({ purpose, certificate }) => {
    if (purpose !== "ca" || certificate === null) return false;
    const ca = new X509Certificate(Buffer.from(certificate, "base64"));
    return own.checkIssued(ca) && own.verify(ca.publicKey);
  });
  if (issuer) known.set(row.id, issuer);
  return issuer;
}

/** Keys that sign or signed; those that wait are nobody else's business. */
async function usedKeys(reader: Reader): Promise<store.KeyRow[]> {
  return (await store.listKeys(reader)).filter(({ activated_at: activated }) => activated !== null);
}

/** The key for a purpose; makes all keys of a new installation first. */
async function inUse(deps: KeyDeps, purpose: store.KeyPurpose): Promise<store.KeyRow> {
  const found = await store.findKeyInUse(deps.db.read, purpose);
  if (found) return found;
  await makeOnce(deps);
  const made = await store.findKeyInUse(deps.db.read, purpose);
  if (!made) throw new Error(`the installation has no ${purpose} key`);
  return made;
}

const making = new WeakMap<Deps["db"], Promise<void>>();

function makeOnce(deps: KeyDeps): Promise<void> {
  let work = making.get(deps.db);
  if (!work) {
    // The next caller tries again when it failed.
    work = createKeys(deps).finally(() => making.delete(deps.db));
    making.set(deps.db, work);
  }
  return work;
}

async function createKeys(deps: KeyDeps): Promise<void> {
  if ((await store.listKeys(deps.db.read)).length > 0) return;
  const encrypt = (pkcs8: Uint8Array, id: string) => deps.secrets.seal(pkcs8, secretContext(id));
  const rows = await generateKeys({ nowMs: deps.clock.now(), baseUrl: deps.config.baseUrl }, encrypt);
  try {
    const signer = rows.find(({ purpose }) => purpose === "anchor");
    const keys = rows.map((row) => ({ row, state: "in-use" as const }));
    await recorded(deps, { act: "first-keys", keys, ...(signer && { signer }) }, (tx) => store.insertKeys(tx, rows));
  } catch (error) {
    // Otherwise a command beside the server was faster: its keys count.
    if (!isUniqueViolation(error)) throw error;
  }
}
