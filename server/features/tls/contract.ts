import { z } from "zod";
import { type EndpointSpec, localEndpoint } from "../../kernel/endpoint.ts";
import { Hex64, Line, Ts } from "../../kernel/wire.ts";
import { Params } from "../health/contract.ts";
import { acmeEndpoints } from "./acme/contract.ts";

/** The certificates under which the appliance serves its pages; on the admin socket only. */

/** What browsers may complain of. */
export const TlsWarning = z.object({
  /** Which words these are, so that pages have them in their language. */
  code: z.string(),
  params: Params,
  message: z.string(),
});
export type TlsWarning = z.infer<typeof TlsWarning>;

export const TlsCertificate = z.object({
  source: z.enum(["self-signed", "installed", "acme", "files"]).meta({
    description: "`files`: those that SIGNET_TLS_CERT and SIGNET_TLS_KEY name, which somebody else keeps",
  }),
  subject: z.string(),
  issuer: z.string(),
  names: z.array(z.string()),
  validFrom: Ts,
  validUntil: Ts,
  sha256: Hex64,
  key: z.string().meta({ example: "RSA 3072" }),
  chainLength: z.int(),
  warnings: z.array(TlsWarning),
});
export type TlsCertificate = z.infer<typeof TlsCertificate>;

export const TlsState = z
  .object({
    /** Host of the base URL, which the certificate must name. */
    host: z.string(),
    /** Null where the server speaks plain HTTP: on loopback, and behind a trusted proxy. */
    current: TlsCertificate.nullable(),
    /** What was served before, and can be had back. */
    previous: TlsCertificate.nullable(),
    /** A request that waits for its certificate. */
    request: z.object({ names: z.array(z.string()), createdAt: Ts, csrPem: z.string() }).nullable(),
  })
  .meta({ id: "TlsState" });
export type TlsState = z.infer<typeof TlsState>;

const Pem = z.string().max(200_000);
/** A DNS name, which may begin with `*.`, or an IP address. */
const HostName = z
  .string()
  .max(253)
  .regex(/^(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$|^[0-9a-fA-F:.]+$/, "Use a host name or an IP address.");

const errors = ["validation-failed", "conflict"] as const;
const state = { 200: { kind: "json", schema: TlsState } } as const;

export const getTls = localEndpoint({
  method: "GET",
  path: "/local/tls",
  id: "getTls",
  summary: "The certificate that is served, the one before, and a request that waits",
  responses: state,
});

export const requestCertificate = localEndpoint({
  method: "POST",
  path: "/local/tls/request",
  id: "requestCertificate",
  summary: "Make a key and a certificate request for an authority",
  body: {
    kind: "json",
    maxBytes: 64_000,
    schema: z.strictObject({ names: z.array(HostName).min(1).max(100), organization: Line(64).optional() }),
  },
  responses: state,
  errors,
});

export const installCertificate = localEndpoint({
  method: "PUT",
  path: "/local/tls/certificate",
  id: "installCertificate",
  summary: "Serve a certificate that somebody issued; without a key, the one of the waiting request",
  body: {
    kind: "json",
    maxBytes: 1_000_000,
    schema: z.union([
      z.strictObject({ certificatePem: Pem, keyPem: Pem.optional(), passphrase: z.string().max(1000).optional() }),
      z.strictObject({ pfxBase64: z.base64().max(500_000), passphrase: z.string().max(1000) }),
    ]),
  },
  responses: state,
  errors,
});

export const renewOwnCertificate = localEndpoint({
  method: "POST",
  path: "/local/tls/self-signed",
  id: "renewOwnCertificate",
  summary: "Make and serve a certificate of the appliance's own authority",
  responses: state,
  errors,
});

export const rollBackCertificate = localEndpoint({
  method: "POST",
  path: "/local/tls/rollback",
  id: "rollBackCertificate",
  summary: "Serve the certificate before the present one again",
  responses: state,
  errors,
});

export const reloadCertificate = localEndpoint({
  method: "POST",
  path: "/local/tls/reload",
  id: "reloadCertificate",
  summary: "Read the configured certificate files again",
  responses: state,
  errors,
});

export const getOwnAuthority = localEndpoint({
  method: "GET",
  path: "/local/tls/authority",
  id: "getOwnAuthority",
  summary: "The certificate of the appliance's own authority, for clients to trust",
  responses: { 200: { kind: "json", schema: z.object({ certificatePem: z.string(), sha256: Hex64 }) } },
});

export const endpoints: readonly EndpointSpec[] = [
  getTls,
  requestCertificate,
  installCertificate,
  renewOwnCertificate,
  rollBackCertificate,
  reloadCertificate,
  getOwnAuthority,
  ...acmeEndpoints,
];
