import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";

export type KeyPurpose = "ca" | "seal" | "timestamp" | "anchor";
/** RSA-2048 comes only with a certificate from elsewhere; none is made. */
export type KeyAlgorithm = "rsa-2048" | "rsa-3072" | "rsa-4096" | "ec-p256" | "ed25519";
export type KeyRow = {
  /** The `kid` of an anchor key, the SHA-256 of the certificate of any other. */
  id: string;
  purpose: KeyPurpose;
  algorithm: KeyAlgorithm;
  /** Base64 of the SubjectPublicKeyInfo. */
  public_key: string;
  /** Base64 of the DER; null for anchor keys. */
  certificate: string | null;
  /** PKCS#8, encrypted under the master key; empty when the key lies in a token. */
  private_key: string;
  valid_from: Ts;
  valid_until: Ts | null;
  retired_at: Ts | null;
  storage: "software" | "pkcs11";
  /** `CKA_ID` in lower-case hex, of a key in a token. */
  token_key: string | null;
  /** JSON array of base64 DER: who certified it, up to the root; empty for the installation's own authority. */
  chain: string;
  /** Null while it waits to be put into use. */
  activated_at: Ts | null;
};
/** The PIN that a token refused last, as an HMAC. */
export type RefusedPinRow = { token: string; fingerprint: string; refused_at: Ts };
/** A certificate that the chain of an outside time-stamping authority ended in. */
export type TimestampAnchorRow = { sha256: string; certificate: string; first_used_at: Ts };

/** One act on the keys; `body` is the RFC 8785 text that hash and signature are over. */
export type KeyRecordRow = { seq: number; body: string; hash: string; kid: string | null; signature: string | null };

declare module "../../kernel/db.ts" {
  interface Tables {
    key_records: KeyRecordRow;
    signing_keys: KeyRow;
    timestamp_anchors: TimestampAnchorRow;
    refused_pins: RefusedPinRow;
  }
}

/** All keys, retired ones too, oldest first. */
export function listKeys(reader: Reader): Promise<KeyRow[]> {
  return reader.selectFrom("signing_keys").selectAll().orderBy("valid_from").orderBy("id").execute();
}

/** @throws a unique violation when a purpose has its key already */
export async function insertKeys(tx: Tx, rows: readonly KeyRow[]): Promise<void> {
  await tx.insertInto("signing_keys").values(rows).execute();
}

/** The one key that signs for this purpose now. */
export function findKeyInUse(reader: Reader, purpose: KeyPurpose): Promise<KeyRow | undefined> {
  return reader
    .selectFrom("signing_keys")
    .selectAll()
    .where("purpose", "=", purpose)
    .where("activated_at", "is not", null)
    .where("retired_at", "is", null)
    .executeTakeFirst();
}

/** @returns false when it is not in use */
export async function retireKey(tx: Tx, id: string, at: Ts): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("signing_keys")
    .set({ retired_at: at })
    .where("id", "=", id)
    .where("activated_at", "is not", null)
    .where("retired_at", "is", null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** When the latest anchor was signed, whichever key signed it; undefined without one. */
export async function latestAnchorAt(tx: Tx): Promise<Ts | undefined> {
  const row = await tx
    .selectFrom("anchors")
    .select("created_at")
    .orderBy("sequence", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.created_at;
}

/** @returns false when it does not wait. @throws a unique violation when its purpose has a key in use */
export async function activateKey(tx: Tx, id: string, about: { at: Ts; validFrom: Ts }): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("signing_keys")
    .set({ activated_at: about.at, valid_from: about.validFrom })
    .where("id", "=", id)
    .where("activated_at", "is", null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Takes a waiting key away, which another row then replaces. @returns false when it does not wait */
export async function deleteWaitingKey(tx: Tx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom("signing_keys")
    .where("id", "=", id)
    .where("activated_at", "is", null)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

export async function findRefusedPin(reader: Reader, token: string): Promise<string | undefined> {
  const row = await reader
    .selectFrom("refused_pins")
    .select("fingerprint")
    .where("token", "=", token)
    .executeTakeFirst();
  return row?.fingerprint;
}

export async function replaceRefusedPin(tx: Tx, row: RefusedPinRow): Promise<void> {
  await tx
    .insertInto("refused_pins")
    .values(row)
    .onConflict((conflict) => conflict.column("token").doUpdateSet(row))
    .execute();
}

export function listTimestampAnchors(reader: Reader): Promise<TimestampAnchorRow[]> {
  return reader.selectFrom("timestamp_anchors").selectAll().orderBy("first_used_at").orderBy("sha256").execute();
}

export async function insertTimestampAnchor(tx: Tx, row: TimestampAnchorRow): Promise<void> {
  await tx
    .insertInto("timestamp_anchors")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** All of them, oldest first. */
export function listRecords(reader: Reader): Promise<KeyRecordRow[]> {
  return reader.selectFrom("key_records").selectAll().orderBy("seq").execute();
}

export function lastRecord(reader: Reader): Promise<KeyRecordRow | undefined> {
  return reader.selectFrom("key_records").selectAll().orderBy("seq", "desc").limit(1).executeTakeFirst();
}

export async function insertRecord(tx: Tx, row: KeyRecordRow): Promise<void> {
  await tx.insertInto("key_records").values(row).execute();
}
