import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  verify,
  X509Certificate,
} from "node:crypto";
import { promisify } from "node:util";
import type { Config } from "../../config.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Secrets } from "../../kernel/secrets.ts";
import { openToken, type Token } from "./pkcs11/token.ts";
import { publicKeyOf } from "./public-keys.ts";
import type { RecordBody } from "./record-schema.ts";
import * as store from "./store.ts";
import { KeyUnavailable } from "./unavailable.ts";

const signAsync = promisify(sign);

export type TokenConfig = Pick<Config, "pkcs11Module" | "pkcs11Token" | "pkcs11PinFile">;
export type KeyDeps = Pick<Deps, "db" | "secrets" | "clock"> & {
  config: TokenConfig & Pick<Config, "baseUrl">;
  /** Writes what else is kept of an act on the keys, in its transaction. */
  noted?: (tx: Tx, done: RecordBody) => Promise<unknown>;
};

/** One key, wherever it lies. */
export type Signer = {
  row: store.KeyRow;
  /** DER, its own first; empty for anchor keys. */
  certificates: Uint8Array[];
  /** @throws KeyUnavailable while it cannot sign */
  ready(): Promise<void>;
  /** SHA-256 with PKCS#1 v1.5, DER-encoded ECDSA, or Ed25519; in a background thread. @throws KeyUnavailable */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
  /** The key itself, for threads that sign by themselves; null in a token. */
  privateKey: KeyObject | null;
};

/** What lives as long as the database that the keys were read from. */
type Opened = { ports: Map<string, Port>; token: Token | undefined };
type Port = Pick<Signer, "ready" | "sign" | "privateKey">;
const opened = new WeakMap<Deps["db"], Opened>();

function openedOf(deps: KeyDeps): Opened {
  let found = opened.get(deps.db);
  if (!found) {
    found = { ports: new Map(), token: undefined };
    opened.set(deps.db, found);
  }
  return found;
}

/** The signer of a row; a private key in software is decrypted once. */
export function signerOf(deps: KeyDeps, row: store.KeyRow, ca: store.KeyRow | undefined): Signer {
  const { ports } = openedOf(deps);
  let port = ports.get(row.id);
  if (!port) {
    port = row.storage === "pkcs11" ? inToken(deps, row) : inSoftware(deps, row);
    ports.set(row.id, port);
  }
  const chain = chainTexts(row).map(derOf);
  const issuers = chain.length === 0 && ca ? ownCertificate(ca) : chain;
  return { row, certificates: [...ownCertificate(row), ...issuers], ...port };
}

/** The token of the settings. @throws KeyUnavailable when none is set */
export function tokenOf(deps: KeyDeps): Token {
  const { pkcs11Module: module, pkcs11Token: label, pkcs11PinFile: pinFile } = deps.config;
  if (!module || !label || !pinFile) {
    throw new KeyUnavailable("token-not-set", "no token is set");
  }
  const held = openedOf(deps);
  const name = tokenName(deps.config);
  held.token ??= openToken(
    { module, label, pinFile },
    {
      fingerprint: (pin, writtenMs) => pinFingerprint(deps.secrets, pin, writtenMs),
      refused: () => store.findRefusedPin(deps.db.read, name),
      remember: (fingerprint) =>
        deps.db.tx((tx) => store.replaceRefusedPin(tx, { token: name, fingerprint, refused_at: deps.clock.ts() })),
    },
  );
  return held.token;
}

/** What its refused PIN is kept under. */
export const tokenName = ({ pkcs11Module: module, pkcs11Token: label }: TokenConfig): string =>
  createHash("sha256").update(`${module}\0${label}`).digest("hex");

/** Of a PIN that was refused and the moment at which its file was written. */
export const pinFingerprint = (secrets: Pick<Secrets, "hmac">, pin: string, writtenMs: number): string =>
  secrets.hmac("token-pin", `${pin}\0${writtenMs}`).toString("base64");

/** Base64 of the DER of who certified a key. */
export function chainTexts(row: store.KeyRow): string[] {
  const chain: unknown = JSON.parse(row.chain);
  return Array.isArray(chain) ? chain.filter((text) => typeof text === "string") : [];
}

function ownCertificate({ certificate }: store.KeyRow): Uint8Array[] {
  return certificate === null ? [] : [derOf(certificate)];
}

/** In memory of its own: it goes to threads, and a message takes along whatever lies behind a view. */
const derOf = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, "base64"));

/** One line. */
export const subjectOf = (der: Uint8Array): string => new X509Certificate(der).subject.replaceAll("\n", ", ");

export const secretContext = (id: string): string => `signing_keys.private_key:${id}`;

/** The private key of a row in software. @throws SealedTextDamaged */
export function openPrivateKey(deps: KeyDeps, row: store.KeyRow): KeyObject {
  const pkcs8 = deps.secrets.open(row.private_key, secretContext(row.id));
  try {
    return createPrivateKey({ key: pkcs8, type: "pkcs8", format: "der" });
  } finally {
    pkcs8.fill(0);
  }
}

function inSoftware(deps: KeyDeps, row: store.KeyRow): Port {
  const key = openPrivateKey(deps, row);
  return {
    ready: async () => undefined,
    sign: (bytes) => signAsync(digestOf(row), bytes, key),
    privateKey: key,
  };
}

function inToken(deps: KeyDeps, row: store.KeyRow): Port {
  const keyId = row.token_key ?? "";
  const publicKey = publicKeyOf(row);
  return {
    ready: async () => await tokenOf(deps).find(keyId),
    async sign(bytes) {
      const signature = await tokenOf(deps).sign(keyId, row.algorithm, bytes);
      // What the token gives out is not believed: a wrong signature must not leave the house.
      if (!verify(digestOf(row), bytes, publicKey, signature))
        throw new KeyUnavailable("token-failed", `the token's signature does not verify under the key ${row.id}`);
      return signature;
    },
    privateKey: null,
  };
}

/** Ed25519 hashes by itself, so that no digest is named. */
const digestOf = ({ algorithm }: store.KeyRow): "sha256" | null => (algorithm === "ed25519" ? null : "sha256");

/** @returns the algorithm as rows name it; undefined when no seal can be made with it */
export function algorithmOf(key: KeyObject): store.KeyAlgorithm | undefined {
  const bits = key.asymmetricKeyDetails?.modulusLength;
  if (key.asymmetricKeyType === "rsa" && (bits === 2048 || bits === 3072 || bits === 4096)) return `rsa-${bits}`;
  if (key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1") return "ec-p256";
  return key.asymmetricKeyType === "ed25519" ? "ed25519" : undefined;
}

/** Whether a private key belongs to a public one. */
export const isPair = (privateKey: KeyObject, publicKey: KeyObject): boolean =>
  createPublicKey(privateKey).equals(publicKey);
