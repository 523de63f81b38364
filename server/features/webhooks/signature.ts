import { createHmac, randomBytes } from "node:crypto";

/** Signatures of the Standard Webhooks convention (standardwebhooks.com, "Signature scheme"). */

const prefix = "whsec_";
/** As the convention allows for the key. */
const bytes = { min: 24, max: 64, ours: 32 };

/** `whsec_` and the base64 of 32 random bytes. */
export function newWebhookSecret(): string {
  return prefix + randomBytes(bytes.ours).toString("base64");
}

/** The key in a secret. @throws Error for what is no such secret: an empty one would sign for everybody */
export function signingKey(secret: string): Buffer {
  const text = secret.startsWith(prefix) ? secret.slice(prefix.length) : "";
  const key = Buffer.from(text, "base64");
  if (key.length < bytes.min || key.length > bytes.max || key.toString("base64") !== text)
    throw new Error("this is no webhook secret");
  return key;
}

/**
 * The value of `webhook-signature`.
 * @param secrets the new one first
 * @param timestamp seconds since the epoch
 */
export function signatureOf(
  secrets: readonly string[],
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): string {
  const signed = `${id}.${timestamp}.${body}`;
  return secrets
    .map((secret) => `v1,${createHmac("sha256", signingKey(secret)).update(signed).digest("base64")}`)
    .join(" ");
}
