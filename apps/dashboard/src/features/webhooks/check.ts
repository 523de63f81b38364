import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";

/** Checks a signature as a receiver does (standardwebhooks.com), and looks for what is wrong. Pure: nothing leaves the page. */

/** Receivers refuse what is older, or further ahead, in milliseconds. */
const toleranceMs = 5 * 60_000;

export type Pasted = { secret: string; id: string; timestamp: string; signature: string; body: string };

export type Verdict =
  /** Something cannot be what it should be. */
  | { kind: "malformed"; fields: readonly (keyof Pasted)[]; problem: Malformed }
  | { kind: "valid" }
  /** Valid, at a time (in milliseconds) that receivers refuse. */
  | { kind: "old" | "early"; at: number }
  /** The signature fits another form of the same body. */
  | { kind: "changed"; how: "space" | "format" }
  | { kind: "other-id"; body: string; header: string }
  | { kind: "mismatch" };
type Malformed = "required" | "badSecret" | "badTimestamp" | "milliseconds" | "noV1" | "badSignature";

/** @param now milliseconds since the epoch */
export function checkSignature(pasted: Pasted, now: number): Verdict {
  const secret = pasted.secret.trim();
  const id = headerValue("webhook-id", pasted.id);
  const timestamp = headerValue("webhook-timestamp", pasted.timestamp);
  const signature = headerValue("webhook-signature", pasted.signature);
  const values: Pasted = { secret, id, timestamp, signature, body: pasted.body };
  const missing = (["secret", "id", "timestamp", "signature", "body"] as const).filter((field) => values[field] === "");
  if (missing.length > 0) return { kind: "malformed", fields: missing, problem: "required" };

  const key = secret.startsWith("whsec_") ? bytesOf(secret.slice("whsec_".length)) : null;
  if (key === null || key.length < 24 || key.length > 64)
    return { kind: "malformed", fields: ["secret"], problem: "badSecret" };
  if (!/^\d{1,13}$/.test(timestamp)) return { kind: "malformed", fields: ["timestamp"], problem: "badTimestamp" };
  if (timestamp.length > 11) return { kind: "malformed", fields: ["timestamp"], problem: "milliseconds" };
  const given = signature.split(/\s+/).filter((one) => one.startsWith("v1,"));
  if (given.length === 0) return { kind: "malformed", fields: ["signature"], problem: "noV1" };
  const wanted = given.map((one) => bytesOf(one.slice("v1,".length))).filter((bytes) => bytes?.length === 32);
  if (wanted.length === 0) return { kind: "malformed", fields: ["signature"], problem: "badSignature" };

  const fits = (body: string) => {
    const made = hmac(sha256, key, new TextEncoder().encode(`${id}.${timestamp}.${body}`));
    return wanted.some((bytes) => bytes?.every((byte, index) => byte === made[index]));
  };
  if (fits(pasted.body)) {
    const at = Number(timestamp) * 1000;
    if (now - at > toleranceMs) return { kind: "old", at };
    return at - now > toleranceMs ? { kind: "early", at } : { kind: "valid" };
  }
  if (fits(pasted.body.trim())) return { kind: "changed", how: "space" };
  const json = parsed(pasted.body);
  if (json === undefined) return { kind: "mismatch" };
  if (fits(JSON.stringify(json))) return { kind: "changed", how: "format" };
  const named = idIn(json);
  return named !== null && named !== id ? { kind: "other-id", body: named, header: id } : { kind: "mismatch" };
}

/** A header's value, which may have been copied with its name. */
function headerValue(name: string, text: string): string {
  const value = text.trim();
  return value.toLowerCase().startsWith(`${name}:`) ? value.slice(name.length + 1).trim() : value;
}

/** The bytes of base64; null for what is none. */
function bytesOf(base64: string): Uint8Array | null {
  try {
    const binary = atob(base64);
    return btoa(binary) === base64 ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : null;
  } catch {
    return null;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function idIn(json: unknown): string | null {
  return typeof json === "object" && json !== null && "id" in json && typeof json.id === "string" ? json.id : null;
}
