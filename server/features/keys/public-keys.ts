import { createHash, createPublicKey, type KeyObject } from "node:crypto";
import { canonicalize } from "../../kernel/canonical.ts";
import type { AnchorKey } from "./contract.ts";
import type { KeyRow } from "./store.ts";

/** The 32 bytes of an Ed25519 public key in base64url. */
function pointOf(key: KeyObject): string {
  const { x } = key.export({ format: "jwk" });
  if (key.asymmetricKeyType !== "ed25519" || typeof x !== "string") throw new TypeError("not an Ed25519 key");
  return x;
}

/** RFC 7638 thumbprint of an Ed25519 key (RFC 8037 §2). */
export function thumbprint(key: KeyObject): string {
  const members = canonicalize({ crv: "Ed25519", kty: "OKP", x: pointOf(key) });
  return createHash("sha256").update(members).digest("base64url");
}

export function publicKeyOf(row: Pick<KeyRow, "public_key">): KeyObject {
  return createPublicKey({ key: Buffer.from(row.public_key, "base64"), type: "spki", format: "der" });
}

/** Row → wire: an anchor key as JWK with its validity. */
export function presentAnchorKey(row: KeyRow): AnchorKey {
  return {
    kty: "OKP",
    crv: "Ed25519",
    x: pointOf(publicKeyOf(row)),
    kid: row.id,
    use: "sig",
    alg: "EdDSA",
    validFrom: row.valid_from,
    validUntil: row.retired_at ?? row.valid_until,
  };
}

/** PEM of a certificate given in base64 of its DER (RFC 7468 §5). */
export function pemOf(base64: string): string {
  const lines = base64.match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
