import type { KeyObject } from "node:crypto";
import { z } from "zod";
import type { Outbound, OutboundResponse } from "../../../kernel/outbound.ts";
import { version } from "../../../version.ts";
import { type Jws, jwkOf, signed } from "./jws.ts";

/** Calls of an ACME authority: signed, with a nonce each, its errors as values of one kind (RFC 8555 §6). */

const Problem = z.object({
  type: z.string().default("about:blank"),
  detail: z.string().optional(),
  title: z.string().optional(),
  subproblems: z
    .array(
      z.object({
        type: z.string().default(""),
        detail: z.string().default(""),
        identifier: z.object({ value: z.string() }).optional(),
      }),
    )
    .optional(),
});
export const AcmeProblem = Problem;
export type AcmeProblem = z.infer<typeof Problem>;

/** What the authority refused, in its own words. */
export class AcmeError extends Error {
  override name = "AcmeError";
  /** Without `urn:ietf:params:acme:error:`. */
  readonly type: string;
  readonly status: number;
  /** Milliseconds from now; null when the authority names no time. */
  readonly retryAfterMs: number | null;
  readonly details: string[];
  /** Where a person has to go, for userActionRequired. */
  readonly link: string | null;
  constructor(
    problem: AcmeProblem,
    about: { status?: number; retryAfterMs?: number | null; link?: string | null } = {},
  ) {
    super(clean(problem.detail ?? problem.title ?? problem.type));
    this.type = clean(problem.type.replace(/^urn:ietf:params:acme:error:/, ""));
    this.status = about.status ?? 0;
    this.retryAfterMs = about.retryAfterMs ?? null;
    this.link = about.link ?? null;
    this.details = (problem.subproblems ?? [])
      .slice(0, 100)
      .map(({ identifier, detail }) => clean(identifier ? `${identifier.value}: ${detail}` : detail));
  }
}

/** One line that no terminal takes for more. */
const clean = (text: string): string =>
  text
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, 1000);

export const Directory = z.object({
  newNonce: z.url(),
  newAccount: z.url(),
  newOrder: z.url(),
  keyChange: z.url().optional(),
  /** RFC 9773 */
  renewalInfo: z.url().optional(),
  meta: z
    .object({ termsOfService: z.string().optional(), externalAccountRequired: z.boolean().optional() })
    .default({}),
});
export type Directory = z.infer<typeof Directory>;

export type Answer = {
  status: number;
  location: string | null;
  retryAfterMs: number | null;
  text: string;
  /** @throws AcmeError when the answer is not of this shape */
  json: <T>(schema: z.ZodType<T>) => T;
};

export type Signer = { key: KeyObject /** The account; without it the key is sent along. */; kid: string | null };

export type AcmeClient = {
  /** The list of the authority's addresses; asked for once. @throws OutboundError, AcmeError */
  directory: () => Promise<Directory>;
  /** @param payload undefined reads (POST-as-GET). @throws OutboundError, AcmeError */
  post: (url: string, payload: unknown, signer: Signer) => Promise<Answer>;
  /** @throws OutboundError, AcmeError */
  get: (url: string) => Promise<Answer>;
};

const timeoutMs = 30_000;
const maxBytes = 300_000;
/** An authority may refuse any nonce (RFC 8555 §6.5), and some do so at random. */
const nonceTries = 20;

/** @param rootPem of the authority's own TLS, where it is no public one */
export function openAcmeClient(
  { outbound, now }: { outbound: Outbound; now: () => number },
  { directoryUrl, rootPem }: { directoryUrl: string; rootPem: string | null },
): AcmeClient {
  const nonces: string[] = [];
  let directory: Directory | undefined;

  async function call(method: "GET" | "HEAD" | "POST", url: string, jws?: Jws): Promise<Answer> {
    const response = await outbound.fetch("acme", url, {
      method,
      headers: {
        "user-agent": `Signet/${version}`,
        "accept-language": "en",
        ...(jws ? { "content-type": "application/jose+json" } : {}),
      },
      ...(jws ? { body: JSON.stringify(jws) } : {}),
      timeoutMs,
      maxBytes,
      ...(rootPem === null ? {} : { ca: rootPem }),
    });
    const nonce = header(response, "replay-nonce");
    if (nonce !== null && /^[A-Za-z0-9_-]+$/.test(nonce)) nonces.push(nonce);
    const text = Buffer.from(response.body).toString("utf8");
    const retryAfterMs = retryAfter(header(response, "retry-after"), now());
    if (response.status >= 400) {
      const parsed = Problem.safeParse(parse(text));
      const problem = parsed.success ? parsed.data : { type: "about:blank", detail: `it answered ${response.status}` };
      throw new AcmeError(problem, {
        status: response.status,
        retryAfterMs,
        link: header(response, "link"),
      });
    }
    return {
      status: response.status,
      location: header(response, "location"),
      retryAfterMs,
      text,
      json(schema) {
        const parsed = schema.safeParse(parse(text));
        if (parsed.success) return parsed.data;
        throw new AcmeError({
          type: "unreadable",
          detail: `what ${new URL(url).host} answered is not what RFC 8555 describes`,
        });
      },
    };
  }

  async function freshNonce(): Promise<string> {
    if (nonces.length === 0) await call("HEAD", (await list()).newNonce);
    const nonce = nonces.pop();
    if (nonce === undefined) throw new AcmeError({ type: "unreadable", detail: "the authority hands out no nonce" });
    return nonce;
  }

  async function list(): Promise<Directory> {
    directory ??= (await call("GET", directoryUrl)).json(Directory);
    return directory;
  }

  return {
    directory: list,
    get: (url) => call("GET", url),
    async post(url, payload, { key, kid }) {
      for (let tries = 1; ; tries += 1) {
        const nonce = await freshNonce();
        const who = kid === null ? { jwk: jwkOf(key) } : { kid };
        try {
          return await call("POST", url, signed(key, { url, nonce, ...who }, payload));
        } catch (error) {
          if (!(error instanceof AcmeError) || error.type !== "badNonce" || tries >= nonceTries) throw error;
        }
      }
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function header({ headers }: OutboundResponse, name: string): string | null {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

const longestMs = 7 * 24 * 3_600_000;

/** Seconds or a date (RFC 9110 §10.2.3). */
function retryAfter(value: string | null, nowMs: number): number | null {
  if (value === null) return null;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), longestMs);
}
