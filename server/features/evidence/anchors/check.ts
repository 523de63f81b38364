import { createPublicKey, type KeyObject, verify } from "node:crypto";
import type { AnchorKey } from "../../keys/contract.ts";
import type { Anchor } from "../contract.ts";
import { anchorBytes, toHex } from "./anchor.ts";
import { sha256 } from "./tree.ts";

/** Hash and signature of an anchor, under one of these keys that was valid then. */
export function anchorHolds(anchor: Anchor, keys: readonly AnchorKey[]): boolean {
  const bytes = anchorBytes(anchor);
  const key = keys.find(({ kid }) => kid === anchor.kid);
  if (!key || toHex(sha256(bytes)) !== anchor.anchorHash) return false;
  // ISO 8601 in UTC sorts as text.
  if (anchor.createdAt < key.validFrom || (key.validUntil !== null && anchor.createdAt > key.validUntil)) return false;
  return verify(null, bytes, publicKeyOf(key), Buffer.from(anchor.signature, "base64"));
}

export const publicKeyOf = ({ kty, crv, x }: AnchorKey): KeyObject =>
  createPublicKey({ key: { kty, crv, x }, format: "jwk" });
