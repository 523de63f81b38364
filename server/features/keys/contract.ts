import { z } from "zod";
import { endpoint } from "../../kernel/endpoint.ts";
import { Ts } from "../../kernel/wire.ts";

/** The public keys that evidence is checked with (contract §12). Isomorphic. */

export const AnchorKey = z
  .object({
    kty: z.literal("OKP"),
    crv: z.literal("Ed25519"),
    x: z.string().meta({ description: "base64url of the 32 bytes" }),
    kid: z.string().meta({ description: "RFC 7638 thumbprint" }),
    use: z.literal("sig"),
    alg: z.literal("EdDSA"),
    validFrom: Ts,
    validUntil: Ts.nullable(),
  })
  .meta({ id: "AnchorKey" });
export type AnchorKey = z.infer<typeof AnchorKey>;

export const AnchorKeys = z
  .object({ keys: z.array(AnchorKey) })
  .meta({ id: "AnchorKeys", description: "A JWK Set with validity; retired keys stay listed" });
export type AnchorKeys = z.infer<typeof AnchorKeys>;

const wellKnownLimit = { name: "well-known", points: 240, seconds: 60 };
const cache = "public, max-age=300";

export const getAnchorKeys = endpoint({
  method: "GET",
  path: "/.well-known/svc/keys.json",
  id: "getAnchorKeys",
  tag: "Verification",
  summary: "The Ed25519 public keys that sign anchors",
  credential: "public",
  rateLimit: wellKnownLimit,
  responses: { 200: { kind: "json", schema: AnchorKeys } },
  errors: ["rate-limited"],
  cache,
});

export const pemType = "application/x-pem-file";

export const getCertificates = endpoint({
  method: "GET",
  path: "/.well-known/svc/certificates.pem",
  id: "getCertificates",
  tag: "Verification",
  summary: "The CA certificates behind seals, to be trusted by whoever verifies",
  credential: "public",
  rateLimit: wellKnownLimit,
  responses: { 200: { kind: "bytes", types: [pemType] } },
  errors: ["rate-limited"],
  cache,
});

export const getTimestampCertificates = endpoint({
  method: "GET",
  path: "/.well-known/svc/timestamp-certificates.pem",
  id: "getTimestampCertificates",
  tag: "Verification",
  summary:
    "The CA certificates behind time stamps, to be trusted for nothing else: an outside authority may be among them",
  credential: "public",
  rateLimit: wellKnownLimit,
  responses: { 200: { kind: "bytes", types: [pemType] } },
  errors: ["rate-limited"],
  cache,
});

const Authority = z.object({
  authority: z.string().meta({ description: "Subject key identifier of the authority, lower-case hex" }),
});

export const certificateType = "application/pkix-cert";

export const getAuthorityCertificate = endpoint({
  method: "GET",
  path: "/.well-known/svc/authorities/{authority}/certificate.cer",
  id: "getAuthorityCertificate",
  tag: "Verification",
  summary: "The certificate of an authority of this installation, as its certificates name it (caIssuers); DER",
  credential: "public",
  rateLimit: wellKnownLimit,
  params: Authority,
  responses: { 200: { kind: "bytes", types: [certificateType] } },
  errors: ["not-found", "rate-limited"],
  cache,
});

export const listType = "application/pkix-crl";

export const getRevocationList = endpoint({
  method: "GET",
  path: "/.well-known/svc/authorities/{authority}/revocation-list.crl",
  id: "getRevocationList",
  tag: "Verification",
  summary: "The current revocation list of an authority of this installation, replaced ones too; DER",
  credential: "public",
  rateLimit: wellKnownLimit,
  params: Authority,
  responses: { 200: { kind: "bytes", types: [listType] } },
  errors: ["not-found", "rate-limited", "service-unavailable"],
  cache,
});

export const endpoints = [
  getAnchorKeys,
  getCertificates,
  getTimestampCertificates,
  getAuthorityCertificate,
  getRevocationList,
] as const;
