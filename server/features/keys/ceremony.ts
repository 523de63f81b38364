import { randomBytes, verify, X509Certificate } from "node:crypto";
import { AppError, notFound } from "../../kernel/errors.ts";
import { certifiedRow } from "./generate.ts";
import { type KeyUse, kindsOf } from "./kinds.ts";
import { publicKeyOf } from "./public-keys.ts";
import { recorded } from "./records.ts";
import { keepPrivate, makeKey, type NewKey, putIntoUse, recertified } from "./rotation.ts";
import { ensureKeys } from "./service.ts";
import { algorithmOf, type KeyDeps, signerOf, subjectOf } from "./signers.ts";
import * as store from "./store.ts";

/** What an operator does with the keys of the installation, with or without a server beside it. */

export type KeyInfo = {
  id: string;
  use: store.KeyPurpose;
  kind: store.KeyAlgorithm;
  storage: "software" | "pkcs11";
  /** `CKA_ID` in hex. */
  tokenKey: string | null;
  state: "in-use" | "waiting" | "retired";
  subject: string | null;
  issuer: string | null;
  validFrom: string;
  validUntil: string | null;
  retiredAt: string | null;
};

export async function listKeys(deps: KeyDeps): Promise<KeyInfo[]> {
  await ensureKeys(deps);
  return (await store.listKeys(deps.db.read)).map(presentKey);
}

/** Makes a key that waits. @throws AppError `validation-failed`; KeyUnavailable */
export async function generateKey(deps: KeyDeps, about: NewKey): Promise<KeyInfo> {
  await ensureKeys(deps);
  return presentKey(await makeKey(deps, about));
}

/** A PKCS #10 request for a key that signs seals or time stamps. @throws AppError `not-found`; KeyUnavailable */
export async function signingRequest(
  deps: KeyDeps,
  about: { key: string; organization: string; commonName: string },
): Promise<string> {
  const row = await keyById(deps, about.key);
  if (row.purpose !== "seal" && row.purpose !== "timestamp")
    throw new AppError("validation-failed", { detail: "Only keys for seals and time stamps have certificates." });
  const { requestCertificate } = await import("./certificates.ts");
  const { sign } = signerOf(deps, row, undefined);
  const der = await requestCertificate({ subject: about, publicKey: publicKeyOf(row), sign });
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join("\n")}\n-----END CERTIFICATE REQUEST-----\n`;
}

/**
 * Takes the certificate that another authority issued for a key of ours. A waiting key waits on under it; for one in use a
 * second entry with the same key waits.
 * @throws AppError `validation-failed`
 */
export async function installCertificate(deps: KeyDeps, file: Uint8Array, by?: string): Promise<KeyInfo> {
  const { judge, readCertificates } = await import("./given-certificates.ts");
  const certificates = readCertificates(file);
  const rows = (await store.listKeys(deps.db.read)).filter((row) => row.retired_at === null && row.purpose !== "ca");
  const pairs = rows.flatMap((row) => {
    const own = certificates.find(({ publicKey }) => publicKey.equals(publicKeyOf(row)));
    return own ? [{ row, own }] : [];
  });
  // The one that waits, when a key in use has an entry that waits already.
  const pair = pairs.find(({ row }) => row.activated_at === null) ?? pairs[0];
  if (!pair || (pair.row.purpose !== "seal" && pair.row.purpose !== "timestamp"))
    throw new AppError("validation-failed", {
      detail: "None of the certificates belongs to a key of this installation.",
    });
  const { row, own } = pair;
  const given = judge(own, certificates, { use: pair.row.purpose, nowMs: deps.clock.now() });
  const next = recertified(deps, row, given);
  const keys = [{ row: next, state: "waiting" as const }];
  await recorded(deps, { act: "install-cert", name: by, keys }, async (tx) => {
    await store.deleteWaitingKey(tx, row.id);
    await store.insertKeys(tx, [next]);
  });
  return presentKey(next);
}

/** A key with its certificate for seals, waiting. @throws AppError `validation-failed` */
export async function importPkcs12(deps: KeyDeps, file: Uint8Array, password: string, by?: string): Promise<KeyInfo> {
  await ensureKeys(deps);
  const { certificateOfKey, judge, readPkcs12 } = await import("./given-certificates.ts");
  const { privateKey, certificates } = readPkcs12(file, password);
  const own = certificateOfKey(privateKey, certificates);
  const algorithm = algorithmOf(own.publicKey);
  if (algorithm === undefined || algorithm === "ed25519")
    throw new AppError("validation-failed", { detail: "Seals are made with RSA of 2048, 3072 or 4096 bits or P-256." });
  const row = certifiedRow({
    ...judge(own, certificates, { use: "seal", nowMs: deps.clock.now() }),
    purpose: "seal",
    algorithm,
    publicKey: own.publicKey,
    keep: keepPrivate(deps, privateKey),
    notBefore: own.validFromDate.getTime(),
    notAfter: own.validToDate.getTime(),
  });
  if ((await store.listKeys(deps.db.read)).some(({ id }) => id === row.id))
    throw new AppError("conflict", { detail: "This certificate is here already." });
  const keys = [{ row, state: "waiting" as const }];
  await recorded(deps, { act: "import-p12", name: by, keys }, (tx) => store.insertKeys(tx, [row]));
  return presentKey(row);
}

/**
 * Puts another key into use: the one named, else the only one that waits, else a new one. It signs once first, so that a
 * key that cannot sign never takes the place of one that can.
 * @throws AppError `not-found`, `conflict`; KeyUnavailable
 */
export async function rotateKey(
  deps: KeyDeps,
  about: {
    use: KeyUse;
    key?: string | undefined;
    fresh?: Partial<Omit<NewKey, "use">> | undefined;
    by?: string | undefined;
  },
): Promise<{ retired: KeyInfo | null; inUse: KeyInfo }> {
  await ensureKeys(deps);
  const before = await store.findKeyInUse(deps.db.read, about.use);
  const next = await nextKey(deps, about, before);
  await proveKey(deps, next);
  const keys = [
    ...(before ? [{ row: before, state: "retired" as const }] : []),
    { row: next, state: "in-use" as const },
  ];
  // The new anchor key signs its own beginning: the one before it may be lost.
  const signer = about.use === "anchor" ? { signer: next } : {};
  await recorded(deps, { act: "rotate", name: about.by, keys, ...signer }, (tx) => putIntoUse(tx, deps, next));
  const rows = await store.listKeys(deps.db.read);
  const shown = (id: string | undefined) => rows.filter((row) => row.id === id).map(presentKey)[0] ?? null;
  const inUse = shown(next.id);
  if (!inUse) throw notFound("The key");
  return { retired: shown(before?.id), inUse };
}

async function nextKey(
  deps: KeyDeps,
  about: {
    use: KeyUse;
    key?: string | undefined;
    fresh?: Partial<Omit<NewKey, "use">> | undefined;
    by?: string | undefined;
  },
  before: store.KeyRow | undefined,
): Promise<store.KeyRow> {
  if (about.key !== undefined) {
    const row = await keyById(deps, about.key);
    if (row.purpose !== about.use) throw new AppError("conflict", { detail: `That key is one for ${row.purpose}.` });
    return row;
  }
  if (!about.fresh) {
    const waiting = (await store.listKeys(deps.db.read)).filter(
      (row) => row.purpose === about.use && row.activated_at === null,
    );
    const [only] = waiting;
    if (waiting.length > 1)
      throw new AppError("conflict", {
        detail: `Several keys wait; name one: ${waiting.map(({ id }) => id).join(", ")}`,
      });
    if (only) return only;
  }
  const kind =
    about.fresh?.kind ?? kindsOf[about.use].find((one) => one === before?.algorithm) ?? kindsOf[about.use][0];
  if (kind === undefined) throw new Error(`nothing is made for ${about.use}`);
  return await makeKey(deps, {
    use: about.use,
    kind,
    storage: about.fresh?.storage ?? before?.storage ?? "software",
    by: about.by,
  });
}

/** Signs once with each key in use, or the one named, and verifies it. @throws KeyUnavailable */
export async function testSign(
  deps: KeyDeps,
  about: { use?: KeyUse | undefined; key?: string | undefined },
): Promise<(KeyInfo & { milliseconds: number })[]> {
  await ensureKeys(deps);
  const rows =
    about.key !== undefined
      ? [await keyById(deps, about.key)]
      : (await store.listKeys(deps.db.read)).filter(
          (row) =>
            row.activated_at !== null &&
            row.retired_at === null &&
            (about.use === undefined || row.purpose === about.use),
        );
  const signed: (KeyInfo & { milliseconds: number })[] = [];
  for (const row of rows) {
    const begun = performance.now();
    await proveKey(deps, row);
    signed.push({ ...presentKey(row), milliseconds: Math.round(performance.now() - begun) });
  }
  return signed;
}

/** @throws KeyUnavailable; Error when the signature does not verify */
async function proveKey(deps: KeyDeps, row: store.KeyRow): Promise<void> {
  const bytes = randomBytes(32);
  const signature = await signerOf(deps, row, undefined).sign(bytes);
  if (!verify(row.algorithm === "ed25519" ? null : "sha256", bytes, publicKeyOf(row), signature))
    throw new Error(`the signature of the key ${row.id} does not verify`);
}

/** By its id or the beginning of it. @throws AppError `not-found`, `conflict` */
async function keyById(deps: KeyDeps, id: string): Promise<store.KeyRow> {
  const found = (await store.listKeys(deps.db.read)).filter((row) => row.id.startsWith(id));
  const [row] = found;
  if (!row) throw notFound(`The key ${id}`);
  if (found.length > 1) throw new AppError("conflict", { detail: `Several keys begin with ${id}.` });
  return row;
}

/** Row → what commands show. */
export function presentKey(row: store.KeyRow): KeyInfo {
  const der = row.certificate === null ? null : Buffer.from(row.certificate, "base64");
  return {
    id: row.id,
    use: row.purpose,
    kind: row.algorithm,
    storage: row.storage,
    tokenKey: row.token_key,
    state: row.retired_at !== null ? "retired" : row.activated_at === null ? "waiting" : "in-use",
    subject: der && subjectOf(der),
    issuer: der && new X509Certificate(der).issuer.replaceAll("\n", ", "),
    validFrom: row.valid_from,
    validUntil: row.valid_until,
    retiredAt: row.retired_at,
  };
}
