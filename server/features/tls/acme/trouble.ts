import type Catalogue from "../../../../locales/en/findings.json";
import type { Ts } from "../../../kernel/clock.ts";
import { english } from "../../../kernel/english.ts";
import { OutboundError } from "../../../kernel/outbound.ts";
import type { Params } from "../../health/contract.ts";
import { AcmeError } from "./client.ts";
import type { AcmeTrouble, ChallengeType } from "./contract.ts";
import type { AcmeSettings } from "./store.ts";

/**
 * What went wrong between the server and the authority, in words that say what to do. Codes are the authority's own (RFC 8555 §6.7),
 * or ours where it was not reached.
 */

type Code = keyof (typeof Catalogue)["acmeTrouble"];
type Told = { code: Code; params: Params };

export function troubleOf(
  error: unknown,
  settings: Pick<AcmeSettings, "directory" | "challenge">,
  at: Ts,
): AcmeTrouble {
  const { code, params } = tell(error, settings);
  const t = english<typeof Catalogue>("findings");
  const { type, details } = error instanceof AcmeError ? error : { type: null, details: [] };
  return {
    at,
    type,
    code,
    params,
    message: t(`acmeTrouble.${code}.message`, params),
    action: t(`acmeTrouble.${code}.action`, params),
    details,
  };
}

function tell(error: unknown, { directory, challenge }: Pick<AcmeSettings, "directory" | "challenge">): Told {
  if (error instanceof AcmeError) return refusal(error, challenge);
  if (error instanceof OutboundError) return unreached(error, directory);
  return { code: "other", params: { cause: error instanceof Error ? error.message : String(error) } };
}

function refusal({ type, message: said, link }: AcmeError, challenge: ChallengeType): Told {
  const page = termsIn(link);
  if (type === "userActionRequired")
    return page === null
      ? { code: "userActionRequired-somewhere", params: { said } }
      : { code: "userActionRequired", params: { said, page } };
  if (type === "noChallenge")
    return { code: type, params: { said, other: challenge === "http-01" ? "tls-alpn-01" : "http-01" } };
  return {
    code: refusals.find((code) => code === type || code === `${type}-${challenge}`) ?? "refused",
    params: { said },
  };
}

/** Those whose words hold what the authority says and nothing else. */
const refusals = [
  "accountDoesNotExist",
  "badCSR",
  "caa",
  "connection-http-01",
  "connection-tls-alpn-01",
  "dns",
  "externalAccountRequired",
  "incorrectResponse-http-01",
  "incorrectResponse-tls-alpn-01",
  "invalidContact",
  "rateLimited",
  "rejectedIdentifier",
  "serverInternal",
  "tls-http-01",
  "tls-tls-alpn-01",
  "unauthorized-http-01",
  "unauthorized-tls-alpn-01",
  "unsupportedContact",
  "unsupportedIdentifier",
] as const satisfies readonly Code[];

const termsIn = (link: string | null): string | null =>
  /<([^<>]+)>\s*;\s*rel="?terms-of-service"?/i.exec(link ?? "")?.[1] ?? null;

const foreign = /^(SELF_SIGNED|DEPTH_ZERO|UNABLE_TO)/;

function unreached(error: OutboundError, directory: string): Told {
  const { host, port } = new URL(directory);
  const known = error.cause instanceof Error && "code" in error.cause ? String(error.cause.code) : "";
  switch (error.code) {
    case "url-not-allowed": {
      const cause = error.message.replace(/^.*?: /, "");
      return /public/.test(error.message)
        ? { code: "own-network", params: { host, cause, port: port || "443" } }
        : { code: "not-allowed", params: { host, cause } };
    }
    case "dns":
      return { code: "no-address", params: { host } };
    case "tls":
      return { code: foreign.test(known) ? "untrusted" : "bad-certificate", params: { host, cause: known || "–" } };
    default:
      return { code: "no-answer", params: { host, cause: error.message } };
  }
}
