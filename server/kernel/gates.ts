import { Http2ServerRequest } from "node:http2";
import type { Context } from "koa";
import { holderOf, mustAskAgain, requireSame } from "./admission.ts";
import type { Callers, Credential } from "./caller.ts";
import { networkOf } from "./client-ip.ts";
import type { Deps } from "./deps.ts";
import { type EndpointSpec, needsOrigin } from "./endpoint.ts";
import { AppError } from "./errors.ts";
import { type Exchange, isOrganizationCaller, queryOf } from "./exchange.ts";
import { rateLimitHeaders, requireLeft, takeForClient } from "./rate-limits.ts";
import type { RequestInfo } from "./request.ts";
import { bodyLimit, readBytes } from "./request-body.ts";
import { requireShownOrganization } from "./shown-organization.ts";
import { createStreamCount } from "./streams.ts";

/**
 * Finds out who calls, by the credential that an operation declares; throws `unauthorized` or a token error. `again` says that
 * the call was let in before, so that a second look is no new sign of life.
 */
export type Authenticators = {
  [C in Exclude<Credential, "public">]: (
    request: RequestInfo,
    query: URLSearchParams,
    again: boolean,
  ) => Promise<Callers[C]>;
};

/** Lets a call pass, or throws what it is refused with. */
type Gate = (exchange: Exchange) => void | Promise<void>;

/** What every call passes before its body is understood and its use case runs, in this order (contract §1). */
export function createGates(deps: Deps, authenticators: Authenticators): readonly Gate[] {
  const ownOrigin = new URL(deps.config.baseUrl).origin;
  const streams = createStreamCount(deps.config.streamsPerCaller);

  async function admit({ ctx, binding: { endpoint }, request }: Exchange, again: boolean) {
    const admitted = await authenticate(authenticators, endpoint, request, queryOf(ctx), again);
    requireShownOrganization(request, admitted);
    checkPermission(endpoint, admitted);
    return admitted;
  }

  /** For as long as the call lasts: bodies take minutes and streams hours, in which keys are revoked and sessions end. */
  async function admitAgain(exchange: Exchange): Promise<Callers[Credential]> {
    const admitted = await admit(exchange, true);
    requireSame(exchange.caller, admitted);
    return admitted;
  }

  const identifyCaller: Gate = async (exchange) => {
    exchange.caller = await admit(exchange, false);
    exchange.request.stillAllowed = () =>
      admitAgain(exchange).then(
        () => true,
        () => false,
      );
  };

  /** Only our own pages may use a session cookie. Every browser sends the origin of a call. */
  const requireOwnOrigin: Gate = ({ ctx, binding: { endpoint }, caller }) => {
    const byCookie = caller?.kind === "user" || caller?.kind === "person";
    const origin = ctx.get("origin");
    const mustSay = needsOrigin(endpoint) && (byCookie || endpoint.path.startsWith("/auth/"));
    if (!mustSay && (!(byCookie || endpoint.ownOrigin) || origin === "")) return;
    if (origin !== ownOrigin) {
      const detail = `This call must come from a page of ${ownOrigin}: open the dashboard under that address.`;
      throw new AppError("csrf-rejected", { detail });
    }
  };

  const takeRateLimit: Gate = async ({ ctx, binding: { endpoint }, request }) => {
    if (!endpoint.rateLimit) return;
    const taken = await takeForClient(deps.limits, endpoint.rateLimit, request.ip);
    ctx.set(rateLimitHeaders(taken));
    requireLeft(taken);
  };

  const requireRoom: Gate = async ({ binding: { endpoint } }) => {
    // The administrators of the machine are those who repair it.
    if (endpoint.method !== "GET" && endpoint.credential !== "local") deps.capacity.admitChange();
    if (endpoint.needsRoom) await deps.capacity.admitNew();
  };

  const countStream: Gate = ({ ctx, binding: { endpoint }, caller, request }) => {
    if (endpoint.responses[200]?.kind === "events") streams.take(holderOf(caller, networkOf(request.ip)), ctx.res);
  };

  const readBody: Gate = async (exchange) => {
    const { ctx, binding, contentType, hasBody } = exchange;
    const limit = bodyLimit(binding.endpoint.body, contentType, hasBody);
    if (!hasBody) return;
    requirePlain(ctx.get("content-encoding"));
    // One that is longer than it may be is refused for that.
    deps.capacity.admitBody(Math.min(Number(ctx.get("content-length")) || limit, limit));
    const began = performance.now();
    exchange.bytes = await readBytes(ctx.req, limit);
    exchange.bodyMs = performance.now() - began;
  };

  const identifyAgain: Gate = async (exchange) => {
    if (exchange.hasBody && mustAskAgain(exchange.caller, exchange.bodyMs))
      exchange.caller = await admitAgain(exchange);
  };

  return [identifyCaller, requireOwnOrigin, takeRateLimit, requireRoom, countStream, readBody, identifyAgain];
}

/** HTTP/1.1 announces a body by a header (RFC 9112, 6.3); in HTTP/2 a stream ends with its headers or goes on. */
export function announcesBody({ method, req }: Context): boolean {
  if (method === "GET" || method === "HEAD") return false;
  if (req instanceof Http2ServerRequest) return !req.stream.endAfterHeaders;
  return req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"]) > 0;
}

async function authenticate(
  authenticators: Authenticators,
  { credential }: EndpointSpec,
  request: RequestInfo,
  query: URLSearchParams,
  again: boolean,
): Promise<Callers[Credential]> {
  return credential === "public" ? null : await authenticators[credential](request, query, again);
}

function checkPermission(endpoint: EndpointSpec, caller: Callers[Credential]): void {
  if (!isOrganizationCaller(caller)) return;
  if (endpoint.credential === "dashboard" && caller.kind === "api_key") {
    throw new AppError("forbidden", { detail: "This operation needs a dashboard session; API keys cannot use it." });
  }
  const { permission } = endpoint;
  if (permission && !caller.permissions.has(permission)) {
    throw new AppError("forbidden", { detail: `This credential lacks the permission \`${permission}\`.`, permission });
  }
}

/** @throws AppError `unsupported-media-type` for a body that would have to be unpacked (RFC 9110 §15.5.16) */
function requirePlain(contentEncoding: string): void {
  if (contentEncoding === "" || contentEncoding.trim().toLowerCase() === "identity") return;
  const detail = "A body with a Content-Encoding is not accepted here: send it as it is.";
  throw new AppError("unsupported-media-type", { detail, headers: { "accept-encoding": "identity" } });
}
