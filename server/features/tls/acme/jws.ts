import { createHash, createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { z } from "zod";

/** Signed requests as ACME wants them: flattened JWS (RFC 7515 §7.2.2) under ES256. */

export type Jws = { protected: string; payload: string; signature: string };

const Jwk = z.object({ crv: z.literal("P-256"), kty: z.literal("EC"), x: z.string(), y: z.string() });
type Jwk = z.infer<typeof Jwk>;

export const base64url = (data: string | Uint8Array): string => Buffer.from(data).toString("base64url");

export const newAccountKey = (): KeyObject => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;

/** The public part; its members stand in the order of RFC 7638 §3. */
export const jwkOf = (key: KeyObject): Jwk => Jwk.parse(createPublicKey(key).export({ format: "jwk" }));

/** RFC 7638. */
export const thumbprint = (key: KeyObject): string =>
  createHash("sha256")
    .update(JSON.stringify(jwkOf(key)))
    .digest("base64url");

/** RFC 8555 §8.1. */
export const keyAuthorization = (token: string, key: KeyObject): string => `${token}.${thumbprint(key)}`;

export type JwsHeader = { url: string; nonce?: string } & ({ kid: string } | { jwk: Jwk });

/** @param payload undefined for POST-as-GET, whose payload is empty (RFC 8555 §6.3) */
export function signed(key: KeyObject, header: JwsHeader, payload: unknown): Jws {
  const head = base64url(JSON.stringify({ alg: "ES256", ...header }));
  const body = payload === undefined ? "" : base64url(JSON.stringify(payload));
  const signature = sign("sha256", Buffer.from(`${head}.${body}`), { key, dsaEncoding: "ieee-p1363" });
  return { protected: head, payload: body, signature: base64url(signature) };
}

/** Proof that the owner of a known account wants this key for it (RFC 8555 §7.3.4). @param url that of newAccount */
export function accountBinding(eab: { kid: string; hmacKey: string }, key: KeyObject, url: string): Jws {
  const head = base64url(JSON.stringify({ alg: "HS256", kid: eab.kid, url }));
  const body = base64url(JSON.stringify(jwkOf(key)));
  const mac = createHmac("sha256", Buffer.from(eab.hmacKey, "base64url")).update(`${head}.${body}`).digest();
  return { protected: head, payload: body, signature: base64url(mac) };
}
