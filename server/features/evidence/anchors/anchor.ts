import { canonicalize } from "../../../kernel/canonical.ts";
import type { AnchorBody, Leaf } from "../contract.ts";

/** The bytes that leaves and anchors are hashed and signed as (contract §12). Isomorphic. */

const utf8 = new TextEncoder();

/** RFC 8785 text of the leaf, UTF-8; members that a later version may add to the wire do not count. */
export function leafBytes(leaf: Leaf): Uint8Array {
  const { v, type, envelope, documentSha256, auditHash, sealedAt, testMode } = leaf;
  return utf8.encode(canonicalize({ v, type, envelope, documentSha256, auditHash, sealedAt, testMode }));
}

/** RFC 8785 text of the anchor's body, UTF-8: its SHA-256 is `anchorHash`, and `signature` is over it. */
export function anchorBytes(anchor: AnchorBody): Uint8Array {
  const { v, type, sequence, treeSize, rootHash, previousAnchorHash, createdAt, kid } = anchor;
  return utf8.encode(canonicalize({ v, type, sequence, treeSize, rootHash, previousAnchorHash, createdAt, kid }));
}

/** RFC 7638 §3 thumbprint input of an Ed25519 key (RFC 8037 §2); its SHA-256 in base64url is the `kid`. */
export function thumbprintBytes(x: string): Uint8Array {
  return utf8.encode(canonicalize({ crv: "Ed25519", kty: "OKP", x }));
}

/** @throws TypeError when the text is not hexadecimal */
export function fromHex(text: string): Uint8Array {
  if (!/^([0-9a-f]{2})*$/i.test(text)) throw new TypeError("not hexadecimal");
  const bytes = new Uint8Array(text.length / 2);
  for (let index = 0; index < bytes.length; index += 1)
    bytes[index] = Number.parseInt(text.slice(index * 2, index * 2 + 2), 16);
  return bytes;
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Bytes of base64 or base64url. @throws TypeError */
export function fromBase64(text: string): Uint8Array {
  let binary: string;
  try {
    binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch (error) {
    throw new TypeError("not base64", { cause: error });
  }
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

export function toBase64(bytes: Uint8Array): string {
  // One by one: a long list of arguments would overflow the stack.
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
