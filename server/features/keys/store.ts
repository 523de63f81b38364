import type { Ts } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";

export type KeyPurpose = "ca" | "seal" | "timestamp" | "anchor";
export type KeyRow = {
  /** The `kid` of an anchor key, the SHA-256 of the certificate of any other. */
  id: string;
  purpose: KeyPurpose;
  algorithm: "rsa-3072" | "ec-p256" | "ed25519";
  /** Base64 of the SubjectPublicKeyInfo. */
  public_key: string;
  /** Base64 of the DER; null for anchor keys. */
  certificate: string | null;
  /** PKCS#8, encrypted under the master key. */
  private_key: string;
  valid_from: Ts;
  valid_until: Ts | null;
  retired_at: Ts | null;
};
/** A certificate that the chain of an outside time-stamping authority ended in. */
export type TimestampAnchorRow = { sha256: string; certificate: string; first_used_at: Ts };

declare module "../../kernel/db.ts" {
  interface Tables {
    signing_keys: KeyRow;
    timestamp_anchors: TimestampAnchorRow;
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
