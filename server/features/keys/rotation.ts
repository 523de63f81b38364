import { type KeyObject, X509Certificate } from "node:crypto";
import { isLoopback } from "../../config.ts";
import type { Ts } from "../../kernel/clock.ts";
import type { Tx } from "../../kernel/db.ts";
import { AppError } from "../../kernel/errors.ts";
import { anchorRow, certified, certifiedRow, type Issuer, type Keep, keepInSoftware, makePair } from "./generate.ts";
import { type KeyUse, kindsOf, type MadeKind } from "./kinds.ts";
import { publicKeyOf } from "./public-keys.ts";
import { recorded } from "./records.ts";
import { chainTexts, type KeyDeps, openPrivateKey, secretContext, tokenOf } from "./signers.ts";
import * as store from "./store.ts";

export type NewKey = { use: KeyUse; kind: MadeKind; storage: store.KeyRow["storage"]; by?: string | undefined };

/** Days before its end from which a certificate of our own authority is made anew; before `doctor` has a word to say. */
const renewalDays = 100;
const dayMs = 86_400_000;

/**
 * Makes a key that waits to be put into use; those for seals and time stamps with a certificate of our own authority.
 * @throws AppError `validation-failed` for a kind that the use does not know; KeyUnavailable
 */
export async function makeKey(deps: KeyDeps, { use, kind, storage, by }: NewKey): Promise<store.KeyRow> {
  if (!kindsOf[use].includes(kind)) {
    throw new AppError("validation-failed", { detail: `such a key is one of ${kindsOf[use].join(", ")}` });
  }
  const nowMs = deps.clock.now();
  const issuer = use === "anchor" ? undefined : await ownIssuer(deps);
  const { publicKey, keep } = await (storage === "pkcs11" ? inToken(deps, use, kind) : inSoftware(deps, kind));
  const row =
    use === "anchor" || !issuer
      ? anchorRow(publicKey, keep, nowMs)
      : await certified({ purpose: use, algorithm: kind, publicKey, keep, issuer, nowMs });
  const keys = [{ row, state: "waiting" as const }];
  await recorded(deps, { act: "generate", name: by, keys }, (tx) => store.insertKeys(tx, [row]));
  return row;
}

async function inToken(deps: KeyDeps, use: KeyUse, kind: MadeKind): Promise<{ publicKey: KeyObject; keep: Keep }> {
  const day = deps.clock.ts().slice(0, 10);
  const { keyId, publicKey } = await tokenOf(deps).generate(kind, `signet ${use} ${day}`);
  return { publicKey, keep: () => ({ storage: "pkcs11", token_key: keyId, private_key: "" }) };
}

async function inSoftware(deps: KeyDeps, kind: MadeKind): Promise<{ publicKey: KeyObject; keep: Keep }> {
  const { publicKey, privateKey } = await makePair(kind);
  return { publicKey, keep: keepPrivate(deps, privateKey) };
}

/** Encrypts a private key for the row that will hold it. */
export function keepPrivate(deps: KeyDeps, privateKey: KeyObject): Keep {
  return keepInSoftware(privateKey, (pkcs8, id) => deps.secrets.seal(pkcs8, secretContext(id)));
}

/** The same private key, wherever it lies, for another row. */
export function keepAgain(deps: KeyDeps, row: store.KeyRow): Keep {
  if (row.storage === "pkcs11")
    return () => ({ storage: "pkcs11", token_key: row.token_key, private_key: row.private_key });
  return keepPrivate(deps, openPrivateKey(deps, row));
}

/** The row of the same key under another certificate, waiting. */
export function recertified(
  deps: KeyDeps,
  row: store.KeyRow,
  by: { certificate: Uint8Array; chain: readonly Uint8Array[] },
): store.KeyRow {
  const { validFromDate, validToDate } = new X509Certificate(by.certificate);
  return certifiedRow({
    ...by,
    purpose: row.purpose,
    algorithm: row.algorithm,
    publicKey: publicKeyOf(row),
    keep: keepAgain(deps, row),
    notBefore: validFromDate.getTime(),
    notAfter: validToDate.getTime(),
  });
}

/**
 * Puts a waiting key into the place of the one in use, which stays published with its validity.
 * @throws AppError `conflict` when either is no longer what it was
 */
export async function putIntoUse(tx: Tx, deps: Pick<KeyDeps, "clock">, row: store.KeyRow): Promise<void> {
  const at = row.purpose === "anchor" ? await behindAnchors(tx, deps.clock.ts()) : deps.clock.ts();
  const current = await store.findKeyInUse(tx, row.purpose);
  if (current) await store.retireKey(tx, current.id, at);
  // An anchor key is valid from the moment at which it begins to sign, a certificate from the one that it names.
  const validFrom = row.purpose === "anchor" ? at : row.valid_from;
  if (!(await store.activateKey(tx, row.id, { at, validFrom }))) {
    throw new AppError("conflict", { detail: `The key ${row.id} does not wait to be put into use.` });
  }
}

/** After a clock was set back a key must not end before what it has signed. ISO 8601 in UTC sorts as text. */
async function behindAnchors(tx: Tx, now: Ts): Promise<Ts> {
  const latest = await store.latestAnchorAt(tx);
  return latest !== undefined && latest > now ? latest : now;
}

/**
 * Gives the key in use a new certificate of our own authority when its present one ends soon, or names a loopback address while
 * the appliance has another by now (026, Addresses). Those from elsewhere, and all of them once the authority itself ends, are the
 * operator's: `doctor` says so.
 * @returns whether there is another row now
 */
export async function renewWhenDue(deps: KeyDeps, row: store.KeyRow): Promise<boolean> {
  if (row.purpose !== "seal" && row.purpose !== "timestamp") return false;
  if (chainTexts(row).length > 0) return false;
  const until = Date.parse(row.valid_until ?? "");
  const ends = until - deps.clock.now() < renewalDays * dayMs;
  const unreachable = !namesLoopback(deps.config.baseUrl) && namesLoopback(publishedIn(row));
  if (!ends && !unreachable) return false;
  const issuer = await ownIssuer(deps);
  // What it would issue must not end before what there is, and later when that ends soon.
  if (issuer.notAfter - until < (ends ? dayMs : 0)) return false;
  const about = { purpose: row.purpose, algorithm: row.algorithm, publicKey: publicKeyOf(row), issuer };
  const renewed = await certified({ ...about, keep: keepAgain(deps, row), nowMs: deps.clock.now() });
  const keys = [
    { row, state: "retired" as const },
    { row: renewed, state: "in-use" as const },
  ];
  try {
    await recorded(deps, { act: "renew", keys }, async (tx) => {
      if ((await store.findKeyInUse(tx, row.purpose))?.id !== row.id) throw new AlreadyRenewed();
      await store.insertKeys(tx, [renewed]);
      await putIntoUse(tx, deps, renewed);
    });
  } catch (error) {
    if (!(error instanceof AlreadyRenewed)) throw error;
  }
  return true;
}

/** Where a certificate says that its issuer's certificate is served; null when it names no place. */
function publishedIn(row: store.KeyRow): string | null {
  const { infoAccess } = new X509Certificate(Buffer.from(row.certificate ?? "", "base64"));
  return /URI:(\S+)/.exec(infoAccess ?? "")?.[1] ?? null;
}

const namesLoopback = (url: string | null): boolean =>
  url !== null && isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ""));

/** Somebody else was faster. */
class AlreadyRenewed extends Error {}

async function ownIssuer(deps: KeyDeps): Promise<Issuer> {
  const ca = await store.findKeyInUse(deps.db.read, "ca");
  if (!ca?.certificate) throw new Error("the installation has no authority");
  const { subject } = new X509Certificate(Buffer.from(ca.certificate, "base64"));
  return {
    commonName: /^CN=(.*)$/m.exec(subject)?.[1] ?? "Signet CA",
    publicKey: publicKeyOf(ca),
    privateKey: openPrivateKey(deps, ca),
    notAfter: Date.parse(ca.valid_until ?? ""),
    baseUrl: deps.config.baseUrl,
  };
}
