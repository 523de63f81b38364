import type { WebhookEvent } from "./api.ts";
import { isObject } from "./errors.ts";

/** Why a webhook was not accepted. */
export type WebhookFault =
  | "missing-header"
  | "invalid-timestamp"
  | "too-old"
  | "too-new"
  | "no-match"
  | "invalid-payload";

/** What came is not a webhook of the service, or was changed or repeated on the way. Answer it with 400. */
export class WebhookVerificationError extends Error {
  readonly reason: WebhookFault;

  constructor(reason: WebhookFault, message: string) {
    super(message);
    this.name = "WebhookVerificationError";
    this.reason = reason;
  }
}

export type VerifyWebhookInput = {
  /** The body exactly as it came, before anything has parsed it. */
  payload: string | Uint8Array | ArrayBuffer;
  /** Of the request, as `fetch` or Node gives them. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** `whsec_…`, as it was shown when the endpoint was created or its secret was rotated. */
  secret: string;
  /** How far the clocks may differ, and how long a delivery may take; 300 unless said otherwise. */
  toleranceSeconds?: number | undefined;
};

/**
 * Checks that a webhook comes from the service (Standard Webhooks, symmetric signatures).
 * @returns the event
 * @throws WebhookVerificationError when it does not; TypeError when `secret` is no secret of a webhook
 */
export async function verifyWebhook(input: VerifyWebhookInput): Promise<WebhookEvent> {
  const { payload, headers, secret, toleranceSeconds = 300 } = input;
  if (Number.isNaN(toleranceSeconds) || toleranceSeconds < 0)
    throw new TypeError("toleranceSeconds must be a number of seconds.");
  const key = await keyOf(secret);
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature");
  if (!/^\d{1,12}$/.test(timestamp))
    throw new WebhookVerificationError("invalid-timestamp", "webhook-timestamp is not a number of seconds.");
  const body = typeof payload === "string" ? new TextEncoder().encode(payload) : new Uint8Array(payload);
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(head.length + body.length);
  signed.set(head);
  signed.set(body, head.length);
  if (!(await isSigned(key, signatures, signed)))
    throw new WebhookVerificationError("no-match", "No signature of the webhook matches.");
  const age = Date.now() / 1000 - Number(timestamp);
  if (age > toleranceSeconds) throw new WebhookVerificationError("too-old", "The webhook was sent too long ago.");
  if (-age > toleranceSeconds) throw new WebhookVerificationError("too-new", "The webhook was sent in the future.");
  return eventOf(body);
}

async function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = secret.startsWith("whsec_") ? bytesOf(secret.slice("whsec_".length)) : null;
  if (bytes === null || bytes.length === 0) throw new TypeError("secret must be the endpoint's secret, whsec_….");
  return await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function headerOf(headers: VerifyWebhookInput["headers"], name: string): string {
  const value =
    // Also those of another package or realm.
    typeof headers.get === "function"
      ? headers.get(name)
      : Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  const text = typeof value === "string" ? value : (value?.[0] ?? "");
  if (text === "") throw new WebhookVerificationError("missing-header", `The header ${name} is missing.`);
  return text;
}

const mostSignatures = 8;

/** WebCrypto compares in constant time. While a secret is being rotated, there is a signature by each. */
async function isSigned(key: CryptoKey, header: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  // One by each secret; whoever sends more makes work.
  for (const entry of header.split(" ").slice(0, mostSignatures)) {
    const signature = entry.startsWith("v1,") ? bytesOf(entry.slice("v1,".length)) : null;
    if (signature?.length === 32 && (await crypto.subtle.verify("HMAC", key, signature, signed))) return true;
  }
  return false;
}

function eventOf(body: Uint8Array): WebhookEvent {
  try {
    const event: unknown = JSON.parse(new TextDecoder().decode(body));
    if (isEvent(event)) return event;
  } catch {
    // Said below.
  }
  throw new WebhookVerificationError("invalid-payload", "The webhook is signed, but it is not an event.");
}

/** The signature says that the service made it; members that this version does not know are left as they are. */
const isEvent = (value: unknown): value is WebhookEvent =>
  isObject(value) && typeof value.id === "string" && typeof value.type === "string";

/** Null for what is not base64 (RFC 4648 §4). */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
