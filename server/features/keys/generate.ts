import { createHash, generateKeyPair, type KeyObject, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { toTs } from "../../kernel/clock.ts";
import { addressOf } from "../../kernel/endpoint.ts";
import { getAuthorityCertificate, getRevocationList } from "./contract.ts";
import type { MadeKind } from "./kinds.ts";
import { thumbprint } from "./public-keys.ts";
import type { KeyAlgorithm, KeyPurpose, KeyRow } from "./store.ts";

const generate = promisify(generateKeyPair);
const yearMs = 365.25 * 24 * 60 * 60 * 1000;
const years = { ca: 20, seal: 3, timestamp: 5 };
const titles = { ca: "CA", seal: "Seal", timestamp: "Time Stamping" };
/** Clocks of those who verify may be this far behind. */
const skewMs = 5 * 60 * 1000;

export type CertifiedPurpose = "seal" | "timestamp";
export type Issuer = {
  commonName: string;
  publicKey: KeyObject;
  privateKey: KeyObject;
  notAfter: number;
  /** Of the appliance, as certificates name it that are issued now. */
  baseUrl: string;
};
/** Where a private key lies, as its row says it. */
export type KeptKey = Pick<KeyRow, "storage" | "token_key" | "private_key">;
/** Keeps a private key for the row with this id. */
export type Keep = (id: string) => KeptKey;
type Pair = { publicKey: KeyObject; privateKey: KeyObject };
type Encrypt = (pkcs8: Uint8Array, id: string) => string;

/** A pair in software; RSA in a background thread. */
export function makePair(kind: MadeKind): Promise<Pair> {
  if (kind === "ed25519") return generate("ed25519");
  if (kind === "ec-p256") return generate("ec", { namedCurve: "P-256" });
  return generate("rsa", { modulusLength: kind === "rsa-4096" ? 4096 : 3072 });
}

/** Under the master key, in the database. */
export function keepInSoftware(privateKey: KeyObject, encrypt: Encrypt): Keep {
  return (id) => ({
    storage: "software",
    token_key: null,
    private_key: encrypt(privateKey.export({ type: "pkcs8", format: "der" }), id),
  });
}

/** An authority that will certify itself, under a name of its own. */
export function authorityOf(pair: Pair, nowMs: number, baseUrl: string): Issuer {
  // Tells the certificates of two installations apart where somebody trusts both, and those of two authorities of one.
  const label = randomBytes(4).toString("hex");
  const notAfter = beginning(nowMs) + years.ca * yearMs;
  return { commonName: `Signet ${titles.ca} ${label}`, ...pair, notAfter, baseUrl };
}

/**
 * Makes the keys of a new installation: an authority and what it certifies, and the key that signs anchors, all in use.
 * The slow ones (RSA) are made side by side.
 * @param encrypt of the PKCS#8 bytes, for the row with this id
 */
export async function generateKeys(
  { nowMs, baseUrl }: { nowMs: number; baseUrl: string },
  encrypt: Encrypt,
): Promise<KeyRow[]> {
  const [ca, seal, timestamp, anchor] = await Promise.all([
    makePair("rsa-3072"),
    makePair("rsa-3072"),
    makePair("ec-p256"),
    makePair("ed25519"),
  ]);
  const issuer = authorityOf(ca, nowMs, baseUrl);
  const software = (pair: Pair) => keepInSoftware(pair.privateKey, encrypt);
  const rows = await Promise.all([
    certified({ purpose: "ca", algorithm: "rsa-3072", publicKey: ca.publicKey, keep: software(ca), issuer, nowMs }),
    certified({ purpose: "seal", algorithm: "rsa-3072", ...seal, keep: software(seal), issuer, nowMs }),
    certified({ purpose: "timestamp", algorithm: "ec-p256", ...timestamp, keep: software(timestamp), issuer, nowMs }),
    anchorRow(anchor.publicKey, software(anchor), nowMs),
  ]);
  return rows.map((row) => ({ ...row, activated_at: toTs(nowMs) }));
}

export type ToCertify = {
  purpose: "ca" | CertifiedPurpose;
  algorithm: KeyAlgorithm;
  publicKey: KeyObject;
  keep: Keep;
  issuer: Issuer;
  nowMs: number;
};

/** A key with a certificate of the installation's own authority, waiting to be put into use. */
export async function certified(about: ToCertify): Promise<KeyRow> {
  const { purpose, publicKey, issuer } = about;
  const { issueCertificate, keyIdentifierOf } = await import("./certificates.ts");
  const notBefore = beginning(about.nowMs);
  const notAfter = Math.min(notBefore + years[purpose] * yearMs, issuer.notAfter);
  const commonName = issuer.commonName.replace(`Signet ${titles.ca}`, `Signet ${titles[purpose]}`);
  const serial = randomBytes(16);
  const certificate = await issueCertificate({
    profile: purpose,
    published: purpose === "ca" ? undefined : publishedAt(issuer.baseUrl, keyIdentifierOf(issuer.publicKey)),
    commonName,
    publicKey,
    issuer,
    notBefore,
    notAfter,
    serial,
  });
  return certifiedRow({ ...about, certificate, chain: [], notBefore, notAfter });
}

/** Where an authority's certificate and list are served, by path whatever the base URL becomes (`getAuthorityCertificate`). */
const publishedAt = (baseUrl: string, authority: string) => ({
  certificate: baseUrl + addressOf(getAuthorityCertificate, { authority }, undefined),
  list: baseUrl + addressOf(getRevocationList, { authority }, undefined),
});

/** The row of a key with a certificate from wherever, waiting to be put into use. */
export function certifiedRow(about: {
  purpose: KeyPurpose;
  algorithm: KeyAlgorithm;
  publicKey: KeyObject;
  keep: Keep;
  certificate: Uint8Array;
  chain: readonly Uint8Array[];
  notBefore: number;
  notAfter: number;
}): KeyRow {
  const id = createHash("sha256").update(about.certificate).digest("hex");
  return {
    id,
    purpose: about.purpose,
    algorithm: about.algorithm,
    public_key: publicText(about.publicKey),
    certificate: Buffer.from(about.certificate).toString("base64"),
    chain: JSON.stringify(about.chain.map((der) => Buffer.from(der).toString("base64"))),
    ...about.keep(id),
    valid_from: toTs(about.notBefore),
    valid_until: toTs(Math.floor(about.notAfter / 1000) * 1000),
    activated_at: null,
    retired_at: null,
  };
}

/** A key that signs anchors, waiting to be put into use. */
export function anchorRow(publicKey: KeyObject, keep: Keep, nowMs: number): KeyRow {
  const id = thumbprint(publicKey);
  return {
    id,
    purpose: "anchor",
    algorithm: "ed25519",
    public_key: publicText(publicKey),
    certificate: null,
    chain: "[]",
    ...keep(id),
    valid_from: toTs(nowMs),
    valid_until: null,
    activated_at: null,
    retired_at: null,
  };
}

const publicText = (key: KeyObject): string => key.export({ type: "spki", format: "der" }).toString("base64");
const beginning = (nowMs: number): number => Math.floor((nowMs - skewMs) / 1000) * 1000;
