import { createHash, verify } from "node:crypto";
import { hostname } from "node:os";
import { canonicalize, type Json } from "../../kernel/canonical.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import { chainStart } from "../../kernel/hash-chain.ts";
import { jsonIn } from "../../kernel/json-text.ts";
import { operatorName } from "../../kernel/operator-name.ts";
import { publicKeyOf } from "./public-keys.ts";
import { type KeyRecord, RecordBody } from "./record-schema.ts";
import { type KeyDeps, signerOf, subjectOf, tokenOf } from "./signers.ts";
import * as store from "./store.ts";
import { KeyUnavailable } from "./unavailable.ts";

/**
 * The record of every act on the keys of the installation: who, when, which keys, where they lie. Each is written in the
 * transaction of its act, names the hash of the one before it and is signed by the anchor key, so that none can be changed,
 * taken away or put in later. One that the anchor key could not sign (its token was away) is covered by the next that is.
 */

export type RecordAct = RecordBody["act"];

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

export type Act = {
  act: RecordAct;
  /** Who says to have done it, beside the account of the operating system. */
  name?: string | undefined;
  keys: readonly { row: store.KeyRow; state: "waiting" | "in-use" | "retired" }[];
  masterKey?: { before: string; after: string };
  /** What signs the record; the anchor key in use unless said otherwise. */
  signer?: store.KeyRow;
};

class RecordRace extends Error {}

/**
 * Does what changes the keys, with its record, in one transaction.
 * @param write may run again, in a new transaction, when another process wrote a record meanwhile
 */
export async function recorded<T>(deps: KeyDeps, act: Act, write: (tx: Tx) => Promise<T>): Promise<T> {
  const keys: RecordBody["keys"] = [];
  for (const { row, state } of act.keys) keys.push(await describe(deps, row, state));
  for (;;) {
    const last = await store.lastRecord(deps.db.read);
    const body: RecordBody = {
      type: "signet-key-record",
      v: 1,
      seq: (last?.seq ?? 0) + 1,
      at: deps.clock.ts(),
      act: act.act,
      by: { account: operatorName(), host: hostname(), name: nameBeside(operatorName(), act.name) },
      keys,
      masterKey: act.masterKey ?? null,
      prevHash: last?.hash ?? chainStart,
    };
    const text = canonicalize(body satisfies Json);
    const signed = await signedBy(deps, act.signer, text);
    try {
      return await deps.db.tx(async (tx) => {
        if ((await store.lastRecord(tx))?.seq !== last?.seq) throw new RecordRace();
        await store.insertRecord(tx, { seq: body.seq, body: text, hash: sha256(text), ...signed });
        const written = await write(tx);
        await deps.noted?.(tx, body);
        return written;
      });
    } catch (error) {
      if (!(error instanceof RecordRace)) throw error;
    }
  }
}

async function signedBy(deps: KeyDeps, given: store.KeyRow | undefined, text: string) {
  const row = given ?? (await store.findKeyInUse(deps.db.read, "anchor"));
  if (!row) return { kid: null, signature: null };
  try {
    const signature = await signerOf(deps, row, undefined).sign(Buffer.from(text));
    return { kid: row.id, signature: Buffer.from(signature).toString("base64url") };
  } catch (error) {
    if (error instanceof KeyUnavailable) return { kid: null, signature: null };
    throw error;
  }
}

async function describe(deps: KeyDeps, row: store.KeyRow, state: "waiting" | "in-use" | "retired") {
  const certificate = row.certificate === null ? null : Buffer.from(row.certificate, "base64");
  return {
    use: row.purpose,
    kind: row.algorithm,
    state,
    id: row.id,
    publicKeySha256: sha256(Buffer.from(row.public_key, "base64")),
    certificateSha256: certificate && sha256(certificate),
    subject: certificate && subjectOf(certificate),
    validFrom: row.valid_from,
    validUntil: row.valid_until,
    where: await placeOf(deps, row),
  };
}

async function placeOf(deps: KeyDeps, row: store.KeyRow): Promise<RecordBody["keys"][number]["where"]> {
  if (row.storage === "software") return { storage: "software" };
  const { pkcs11Module: module = "", pkcs11Token: label = "" } = deps.config;
  const about = { storage: "pkcs11" as const, module, label, keyId: row.token_key ?? "" };
  try {
    const { model, serial, slot } = await tokenOf(deps).inspect();
    return { ...about, model, serial, slot };
  } catch (error) {
    if (error instanceof KeyUnavailable) return { ...about, model: null, serial: null, slot: null };
    throw error;
  }
}

/** The account says it already where the command was called by hand. */
const nameBeside = (own: string, name: string | undefined) => (name === undefined || name === own ? null : name);

/** All records, oldest first. */
export async function listRecords(reader: Reader): Promise<KeyRecord[]> {
  const rows = await store.listRecords(reader);
  return rows.map(({ body, hash, kid, signature }) => ({
    ...RecordBody.parse(JSON.parse(body)),
    hash,
    kid,
    signature,
  }));
}

/**
 * Checks numbers, hashes and signatures of the whole chain. One may lack its signature only while the key lay in a token: a
 * chain that was written anew without signatures would hold otherwise.
 * @returns what is wrong, one line each
 */
export async function checkRecords(reader: Reader): Promise<string[]> {
  const anchors = new Map(
    (await store.listKeys(reader)).filter(({ purpose }) => purpose === "anchor").map((row) => [row.id, row]),
  );
  const problems: string[] = [];
  let before = { seq: 0, hash: chainStart };
  let inUse: store.KeyRow | undefined;
  for (const row of await store.listRecords(reader)) {
    const parsed = RecordBody.safeParse(jsonIn(row.body));
    const wrong = (what: string) => problems.push(`key record ${row.seq}: ${what}`);
    if (sha256(row.body) !== row.hash) wrong("its text does not have its hash");
    if (!parsed.success || parsed.data.seq !== row.seq || row.seq !== before.seq + 1) wrong("it has another number");
    if (parsed.data?.prevHash !== before.hash) wrong("it does not follow the one before it");
    const begun = parsed.data?.keys.find(({ use, state }) => use === "anchor" && state === "in-use");
    if (begun) inUse = anchors.get(begun.id);
    if (row.kid === null && inUse?.storage === "software") wrong("its signature is missing, and its key was here");
    const anchor = row.kid === null ? undefined : anchors.get(row.kid);
    const signature = Buffer.from(row.signature ?? "", "base64url");
    if (row.kid !== null && !(anchor && verify(null, Buffer.from(row.body), publicKeyOf(anchor), signature)))
      wrong(`its signature by the anchor key ${row.kid} does not hold`);
    before = { seq: row.seq, hash: row.hash };
  }
  return problems;
}
