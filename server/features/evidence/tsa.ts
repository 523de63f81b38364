import { randomBytes, X509Certificate } from "node:crypto";
import type { TimestampSource } from "../../../workers/protocol.ts";
import type { Config } from "../../config.ts";
import type { Deps } from "../../kernel/deps.ts";
import { trustedAuthorities } from "../../kernel/outbound.ts";
import { certificatesIn } from "../../kernel/pem.ts";
import { timestampAuthority } from "../keys/service.ts";

/** A source of time for seals. The worker issues or verifies the token; here are keys and network only. */
export type TimeSource = {
  /** For people: the authority's host, or the built-in authority's subject. */
  label: string;
  /** The time is that of this machine. */
  internal: boolean;
  /** A new one for each seal: it holds a nonce or a serial number. */
  next(): TimestampSource;
  requestTimestamp(request: Uint8Array): Promise<Uint8Array>;
  signTimestamp(bytes: Uint8Array): Promise<Uint8Array>;
  timestampTime(imprint: Uint8Array): Promise<Uint8Array>;
};

export type OutsideAuthority = Omit<TimeSource, "next"> & { next(): Extract<TimestampSource, { kind: "request" }> };

/** The policy of the built-in authority: the time of the appliance's clock, to the second (X.667 arc, a UUID). */
const builtInPolicy = "2.25.220436482539029581047430470388263472295";
const largestAnswer = 64 * 1024;
/** Seconds that the clock of an outside authority and ours may differ. */
const tolerance = 300;

/** The sources in the order in which they are tried: the configured URLs, then the built-in authority if it may step in. */
export async function timeSources(deps: Deps): Promise<TimeSource[]> {
  const { tsaFallback } = deps.config;
  const outside = outsideAuthorities(deps);
  return outside.length === 0 || tsaFallback ? [...outside, await builtInAuthority(deps)] : outside;
}

/** Those of the list alone, in its order. */
export function outsideAuthorities(deps: Deps): OutsideAuthority[] {
  return deps.config.tsaUrls.map((url) => outsideAuthority(deps, url));
}

async function builtInAuthority(deps: Deps): Promise<TimeSource> {
  const authority = await timestampAuthority(deps);
  return {
    label: authority.subject,
    internal: true,
    next: () => ({
      kind: "built-in",
      certificates: authority.certificates,
      policy: builtInPolicy,
      serial: positive(16),
      privateKey: authority.privateKey,
    }),
    signTimestamp: (bytes) => authority.sign(bytes),
    timestampTime: async () => Buffer.from(deps.clock.ts(), "ascii"),
    requestTimestamp: () => Promise.reject(new Error("the built-in authority is not asked by HTTP")),
  };
}

function outsideAuthority(deps: Deps, url: string): OutsideAuthority {
  return {
    label: URL.parse(url)?.host ?? url,
    internal: false,
    next: () => ({ kind: "request", nonce: positive(8), trusted: trustedRoots(deps.config), tolerance }),
    signTimestamp: () => Promise.reject(new Error("an outside authority signs by itself")),
    timestampTime: () => Promise.reject(new Error("an outside authority has its own time")),
    async requestTimestamp(request) {
      const answer = await deps.outbound.fetch("tsa", url, {
        method: "POST",
        headers: { "content-type": "application/timestamp-query", accept: "application/timestamp-reply" },
        body: request,
        timeoutMs: deps.config.tsaTimeoutSeconds * 1000,
        maxBytes: largestAnswer,
      });
      if (answer.status !== 200) throw new Error(`the authority answered with status ${answer.status}`);
      return answer.body;
    },
  };
}

/** Random and hexadecimal, its first bit 0 and its second 1: a positive INTEGER of this many bytes. */
function positive(bytes: number): string {
  const value = randomBytes(bytes);
  value[0] = ((value[0] ?? 0) & 0x3f) | 0x40;
  return value.toString("hex");
}

const roots = new WeakMap<Config, Uint8Array[]>();

/** DER of what an outside authority's chain may end in: the roots that Node trusts, and the operator's own (`caFile`). */
export function trustedRoots(config: Config): Uint8Array[] {
  let trusted = roots.get(config);
  if (!trusted) {
    trusted = trustedAuthorities(config.caFile).flatMap(certificatesIn);
    roots.set(config, trusted);
  }
  return trusted;
}

/** The trusted root with this fingerprint. */
export function trustedRoot(config: Config, sha256: string): Uint8Array | undefined {
  const wanted = sha256.toUpperCase();
  return trustedRoots(config).find((der) => new X509Certificate(der).fingerprint256.replaceAll(":", "") === wanted);
}
