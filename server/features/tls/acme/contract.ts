import { z } from "zod";
import { localEndpoint } from "../../../kernel/endpoint.ts";
import { Hex64, Ts } from "../../../kernel/wire.ts";
import { Params } from "../../health/contract.ts";

/** Certificates that an authority issues by itself (ACME, RFC 8555); on the admin socket only. */

export const challengeTypes = ["tls-alpn-01", "http-01"] as const;
export const ChallengeType = z.enum(challengeTypes);
export type ChallengeType = z.infer<typeof ChallengeType>;

export const AcmeTrouble = z.object({
  at: Ts,
  /** The authority's own word without its prefix, as `rateLimited` (RFC 8555 §6.7); null when it was not reached. */
  type: z.string().nullable(),
  /** Which words these are, so that pages have them in their language. */
  code: z.string().default("other"),
  params: Params.default({}),
  message: z.string(),
  /** What to do about it. */
  action: z.string(),
  /** Of each name, where the authority says so. */
  details: z.array(z.string()),
});
export type AcmeTrouble = z.infer<typeof AcmeTrouble>;

export const AcmeRenewal = z.object({
  at: Ts,
  /** `authority`: within the window that it suggests (RFC 9773); `life`: when a third of the certificate's life is left. */
  by: z.enum(["authority", "life"]),
  window: z.object({ start: Ts, end: Ts }).nullable(),
  /** Page of the authority that says why. */
  explanation: z.string().nullable(),
});
export type AcmeRenewal = z.infer<typeof AcmeRenewal>;

export const AcmeState = z
  .object({
    /**
     * `working`: a certificate is being asked for. `waiting`: the authority needs its time. `failed`: it is tried again at
     * `nextAt`. `paused`: somebody had another certificate served, which is not replaced unasked.
     */
    state: z.enum(["off", "working", "waiting", "valid", "failed", "paused"]),
    setup: z
      .object({
        directory: z.string(),
        names: z.array(z.string()),
        contacts: z.array(z.string()),
        challenge: ChallengeType,
        /** Whether the directory's own certificate is checked against a root that was given. */
        ownRoot: z.boolean(),
        /** Name of the account that this one was bound to. */
        eabKid: z.string().nullable(),
        account: z.string().nullable(),
        since: Ts,
      })
      .nullable(),
    /** Of the last certificate that was issued and served. */
    certificate: Hex64.nullable(),
    /** Null while all is well. */
    trouble: AcmeTrouble.nullable(),
    /** In a row. */
    failures: z.int(),
    /** When it goes on by itself. */
    nextAt: Ts.nullable(),
    renewal: AcmeRenewal.nullable(),
    /** Where this server answers challenges. Authorities come to 443 and 80: what stands before it has to lead here. */
    ports: z.object({ tls: z.int(), http: z.int().nullable() }),
  })
  .meta({ id: "AcmeState" });
export type AcmeState = z.infer<typeof AcmeState>;

/** A DNS name without `*`, which only a record in the DNS would prove, or an IP address (RFC 8738). */
const AcmeName = z
  .string()
  .max(253)
  .regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$|^[0-9a-fA-F:.]+$/, "Use a host name without *, or an IP address.");

export const AcmeSetup = z.strictObject({
  directory: z.url({ protocol: /^https$/, error: "Use the https URL of the authority's directory." }).max(2000),
  /** PEM of the root that the directory's own certificate leads to, where it is no public one. */
  rootPem: z.string().max(200_000).optional(),
  names: z.array(AcmeName).min(1).max(100).optional().meta({ description: "Unset: the host of the base URL" }),
  contacts: z.array(z.email()).max(10).default([]),
  challenge: ChallengeType.default("tls-alpn-01"),
  /** Binds the new account to one that the authority knows already (RFC 8555 §7.3.4). */
  eab: z
    .strictObject({
      kid: z.string().min(1).max(500),
      hmacKey: z
        .string()
        .max(2000)
        .regex(/^[A-Za-z0-9_-]+={0,2}$/, "Give the key as the authority does, in base64url."),
    })
    .optional(),
  agreeToTerms: z.boolean().default(false),
});
export type AcmeSetup = z.infer<typeof AcmeSetup>;

const errors = ["validation-failed", "conflict"] as const;
const state = { 200: { kind: "json", schema: AcmeState } } as const;

export const getAcme = localEndpoint({
  method: "GET",
  path: "/local/tls/acme",
  id: "getAcme",
  summary: "How it stands with certificates by ACME",
  responses: state,
});

export const setUpAcme = localEndpoint({
  method: "PUT",
  path: "/local/tls/acme",
  id: "setUpAcme",
  summary: "Have an authority issue the certificate and renew it",
  body: { kind: "json", maxBytes: 300_000, schema: AcmeSetup },
  responses: state,
  errors,
});

export const renewAcme = localEndpoint({
  method: "POST",
  path: "/local/tls/acme/renew",
  id: "renewAcme",
  summary: "Ask for a new certificate now",
  responses: state,
  errors,
});

export const replaceAcmeKey = localEndpoint({
  method: "POST",
  path: "/local/tls/acme/rollover",
  id: "replaceAcmeKey",
  summary: "Replace the key of the account at the authority",
  responses: state,
  errors,
});

export const turnOffAcme = localEndpoint({
  method: "POST",
  path: "/local/tls/acme/off",
  id: "turnOffAcme",
  summary: "Renew no more; the present certificate is served on",
  body: {
    kind: "json",
    maxBytes: 1000,
    schema: z.strictObject({
      deactivateAccount: z
        .boolean()
        .default(false)
        .meta({ description: "The account at the authority is closed, too" }),
    }),
  },
  responses: state,
  errors,
});

export const acmeEndpoints = [getAcme, setUpAcme, renewAcme, replaceAcmeKey, turnOffAcme];
