import type { ServerResponse } from "node:http";
import { constants, Http2ServerRequest } from "node:http2";
import { Readable } from "node:stream";
import Router from "@koa/router";
import type { Context, Middleware, Next } from "koa";
import { z } from "zod";
import { isLoopback } from "../config.ts";
import { holderOf, mustAskAgain, requireSame } from "./admission.ts";
import type { Binding } from "./binding.ts";
import type { Callers, Credential, OrganizationCaller } from "./caller.ts";
import { type ClientIp, networkOf } from "./client-ip.ts";
import type { Deps } from "./deps.ts";
import { type AnyReply, type Call, type EndpointSpec, isForAllOrigins, needsOrigin } from "./endpoint.ts";
import { AppError } from "./errors.ts";
import { createIdempotency } from "./idempotency.ts";
import { newId } from "./ids.ts";
import { parseJson } from "./json-body.ts";
import { PoolBusy } from "./pool.ts";
import { type Problem, problemKinds } from "./problem.ts";
import { languageOf, problemOf } from "./problem-document.ts";
import { rateLimitHeaders, requireLeft, takeForClient } from "./rate-limits.ts";
import { readersLanguage } from "./readers-language.ts";
import { type Prepared, prepareReply } from "./reply.ts";
import { type RequestInfo, requireUnderstood } from "./request.ts";
import { bodyLimit, mediaType, parseMultipart, rawBody, readBytes } from "./request-body.ts";
import { requireShownOrganization } from "./shown-organization.ts";
import { createStreamCount } from "./streams.ts";
import { parseBody, parseParameters } from "./validate.ts";

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

export type ApiOptions = {
  deps: Deps;
  bindings: readonly Binding[];
  authenticators: Authenticators;
  clientIp: ClientIp;
};

/** Middleware for every request: its id, the sole catch, the access log; in this order it stands before everything else. */
export type Api = {
  observe: Middleware;
  routes: Middleware;
  /** Hangs up on who follows an event stream: they come back by themselves, and the service need not wait for them to stop. */
  endStreams: () => void;
};

type State = { request: RequestInfo; template: string };

/** Mounts the endpoints on Koa. Every operation takes the same steps in the same order (contract §1). */
export function createApi(options: ApiOptions): Api {
  const { deps, bindings } = options;
  const idempotency = createIdempotency(deps);
  const ownOrigin = new URL(deps.config.baseUrl).origin;
  const { protocol, hostname } = new URL(deps.config.baseUrl);
  // Browsers would believe it of every port of this machine, so it is not said of loopback.
  const overTls = protocol === "https:" && !isLoopback(hostname.replace(/^\[|\]$/g, ""));
  const routers = new Map<string, Router<State>>();
  for (const binding of bindings) {
    const { method, path } = binding.endpoint;
    const router = routers.get(shelfOf(path)) ?? new Router<State>({ sensitive: true, strict: true });
    routers.set(shelfOf(path), router);
    const pattern = path.replaceAll(/\{(\w+)\}/g, ":$1");
    router.register(pattern, [method], (ctx: Context) => serve(ctx, binding));
  }

  async function serve(ctx: Context, binding: Binding): Promise<void> {
    const { endpoint } = binding;
    const { request } = stateOf(ctx);
    stateOf(ctx).template = endpoint.path;
    const admit = async (again: boolean) => {
      const admitted = await authenticate(options.authenticators, endpoint, request, queryOf(ctx), again);
      requireShownOrganization(request, admitted);
      checkPermission(endpoint, admitted);
      return admitted;
    };
    const first = await admit(false);
    const admitAgain = async () => {
      const admitted = await admit(true);
      requireSame(first, admitted);
      return admitted;
    };
    checkOrigin(ctx, endpoint, first);
    request.stillAllowed = () =>
      admitAgain().then(
        () => true,
        () => false,
      );
    await takeRateLimit(ctx, endpoint);
    // The administrators of the machine are those who repair it.
    if (endpoint.method !== "GET" && endpoint.credential !== "local") deps.capacity.admitChange();
    if (endpoint.needsRoom) await deps.capacity.admitNew();
    if (endpoint.responses[200]?.kind === "events") streamCount.take(holderOf(first, networkOf(request.ip)), ctx.res);
    const contentType = mediaType(ctx.get("content-type"));
    const hasBody = announcesBody(ctx);
    const limit = bodyLimit(endpoint.body, contentType, hasBody);
    if (hasBody) requirePlain(ctx.get("content-encoding"));
    // One that is longer than it may be is refused for that.
    if (hasBody) deps.capacity.admitBody(Math.min(Number(ctx.get("content-length")) || limit, limit));
    const began = performance.now();
    const bytes = hasBody ? await readBytes(ctx.req, limit) : Buffer.alloc(0);
    // A body may take minutes, in which keys are revoked, members removed and sessions ended.
    const caller = hasBody && mustAskAgain(first, performance.now() - began) ? await admitAgain() : first;
    const run = () => answer(ctx, binding, caller, contentType, bytes, request);
    const key = endpoint.idempotent && "idempotency-key" in ctx.headers ? ctx.get("idempotency-key") : null;
    if (key === null || !isOrganizationCaller(caller)) return send(ctx, endpoint, await run());
    const { reply, replayed } = await idempotency.once(
      { organization: caller.organization, caller: caller.id, key: idempotency.readKey(key) },
      { method: ctx.method, path: ctx.path, query: queryOf(ctx), body: bytes },
      (remember) =>
        replyOrProblem(ctx, () => answer(ctx, binding, caller, contentType, bytes, { ...request, remember })),
    );
    if (replayed) ctx.set("idempotent-replayed", "true");
    send(ctx, endpoint, reply);
  }

  /** From here on a failure below 500 is an answer too, which a replay repeats. */
  async function replyOrProblem(ctx: Context, use: () => Promise<AnyReply>): Promise<AnyReply> {
    try {
      return await use();
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      return problemReply(ctx, error);
    }
  }

  async function answer(
    ctx: Context,
    { endpoint, load, handle }: Binding,
    caller: Callers[Credential],
    contentType: string,
    bytes: Buffer,
    request: RequestInfo,
  ): Promise<AnyReply> {
    const json = endpoint.body?.kind === "json" && bytes.length > 0 ? parseJson(bytes) : undefined;
    const params = pathParameters(endpoint, ctx.params);
    const before = { caller, params, request };
    const resource = load ? await load(deps, before) : undefined;
    const query = parseParameters(queryOfEndpoint(endpoint), queryRecord(queryOf(ctx)));
    const body = await readBody(ctx, endpoint, contentType, bytes, json);
    return await handle(deps, { ...before, query, body } as Call<EndpointSpec>, resource);
  }

  async function readBody(ctx: Context, endpoint: EndpointSpec, contentType: string, bytes: Buffer, json: unknown) {
    const spec = endpoint.body;
    if (!spec) return undefined;
    if (spec.kind === "json")
      return spec.optional && bytes.length === 0 ? undefined : parseBody(spec.schema, json, bytes);
    if (spec.kind === "raw") return rawBody(ctx.req, contentType, bytes);
    const { fields, files } = await parseMultipart(ctx.get("content-type"), bytes);
    return { fields: parseBody(spec.fields, fields), files };
  }

  /** Only a page of our own may use the cookie of whoever sits there: every browser says where a call comes from. */
  function checkOrigin(ctx: Context, endpoint: EndpointSpec, caller: Callers[Credential]): void {
    const byCookie = caller?.kind === "user" || caller?.kind === "person";
    const origin = ctx.get("origin");
    const mustSay = needsOrigin(endpoint) && (byCookie || endpoint.path.startsWith("/auth/"));
    if (!mustSay && (!byCookie || origin === "")) return;
    if (origin !== ownOrigin) {
      const detail = `This call must come from a page of ${ownOrigin}: open the dashboard under that address.`;
      throw new AppError("csrf-rejected", { detail });
    }
  }

  async function takeRateLimit(ctx: Context, { rateLimit }: EndpointSpec): Promise<void> {
    if (!rateLimit) return;
    const taken = await takeForClient(deps.limits, rateLimit, stateOf(ctx).request.ip);
    ctx.set(rateLimitHeaders(taken));
    requireLeft(taken);
  }

  function send(ctx: Context, endpoint: EndpointSpec, reply: AnyReply): void {
    if (deps.config.checkResponses && "body" in reply && reply.status < 400)
      assertShape(endpoint, reply.status, reply.body);
    if ("events" in reply || "pieces" in reply) keepStream(ctx.res);
    const prepared = prepareReply(reply, requestOf(ctx), endpoint.cache !== undefined);
    if (prepared.status < 400) ctx.set("cache-control", endpoint.cache ?? "no-store");
    // What has begun cannot become a problem any more: cut off, the answer is seen to be incomplete.
    if (!("events" in reply) && prepared.body instanceof Readable) prepared.body.once("error", () => ctx.res.destroy());
    write(ctx, prepared);
  }

  const streamCount = createStreamCount();
  const streams = new Set<ServerResponse>();
  function keepStream(response: ServerResponse): void {
    streams.add(response);
    // Koa's pipeline alone listens eight times; with ours the number is fixed, and above what Node takes for a leak.
    response.setMaxListeners(20);
    response.once("close", () => streams.delete(response));
  }

  function problemReply(ctx: Context, error: AppError): AnyReply {
    const { code, options: extra } = error;
    const { status } = problemKinds[code];
    const language = languageOf(error, readersLanguage(ctx.get("accept-language")));
    const about = { baseUrl: deps.config.baseUrl, instance: stateOf(ctx).template, language };
    const problem: Problem = {
      ...problemOf(error, stateOf(ctx).request.requestId, about),
      ...(extra.upgradeUrl ? { upgradeUrl: extra.upgradeUrl } : {}),
      ...(extra.permission ? { permission: extra.permission } : {}),
      ...(extra.attemptsRemaining === undefined ? {} : { attemptsRemaining: extra.attemptsRemaining }),
      ...(extra.retryAfter === undefined ? {} : { retryAfter: extra.retryAfter }),
    };
    const headers: Record<string, string> = {
      "content-type": "application/problem+json; charset=utf-8",
      "content-language": language,
      vary: "accept-language",
      ...extra.headers,
    };
    if (status === 401) headers["www-authenticate"] = "Bearer";
    if (extra.retryAfter !== undefined) headers["retry-after"] = String(Math.ceil(extra.retryAfter));
    return { status, body: problem, headers };
  }

  /** The label sets of each route are looked up once, not hashed anew for every answer. */
  const counters = new Map<string, (seconds: number) => void>();
  function count(method: string, route: string, status: number, seconds: number): void {
    const name = `${method} ${route} ${status}`;
    let counter = counters.get(name);
    if (!counter) {
      const histogram = deps.metrics.httpSeconds.labels({ method, route });
      const requests = deps.metrics.httpRequests.labels({ method, route, status: String(status) });
      counter = (value) => {
        histogram.observe(value);
        requests.inc();
      };
      counters.set(name, counter);
    }
    counter(seconds);
  }

  /** Request id, client, access log, metrics, and the only place where an error becomes an answer. */
  async function observe(ctx: Context, next: Next): Promise<void> {
    const started = performance.now();
    const given = ctx.get("x-request-id");
    const requestId = /^[A-Za-z0-9._-]{8,128}$/.test(given) ? given : newId("req");
    const state: State = {
      template: "*",
      request: {
        requestId,
        ip: options.clientIp(ctx.req.socket.remoteAddress, ctx.get("x-forwarded-for") || undefined),
        userAgent: ctx.get("user-agent").slice(0, 500) || null,
        header: (name) => ctx.get(name) || null,
        get signal() {
          return goneSignal(ctx);
        },
        stillAllowed: async () => true,
        remember: null,
      },
    };
    Object.assign(ctx.state, state);
    ctx.set("x-request-id", requestId);
    ctx.set("cache-control", "no-store");
    ctx.set("referrer-policy", "no-referrer");
    ctx.set("x-content-type-options", "nosniff");
    if (overTls) ctx.set("strict-transport-security", "max-age=31536000");
    if (isForAllOrigins(ctx.path)) {
      ctx.set("access-control-allow-origin", "*");
      ctx.set("access-control-expose-headers", exposedHeaders);
    }
    try {
      requireUnderstood(ctx.req);
      await next();
    } catch (error) {
      const problem = await toAppError(ctx, error);
      if (problem.code === "request-timeout") endAfterAnswer(ctx);
      write(ctx, prepareReply(problemReply(ctx, problem), requestOf(ctx)));
    }
    ctx.res.once("close", () => {
      const seconds = (performance.now() - started) / 1000;
      const { template } = stateOf(ctx);
      count(ctx.method, template, ctx.status, seconds);
      deps.log.debug(
        { requestId, method: ctx.method, route: template, status: ctx.status, ms: Math.round(seconds * 1000) },
        "request",
      );
    });
  }

  async function toAppError(ctx: Context, error: unknown): Promise<AppError> {
    if (error instanceof AppError) {
      if (error.status >= 500) logFailure(ctx, error);
      return error;
    }
    // Nobody is there to be answered, and nothing failed.
    if (isOfGone(ctx, error)) return new AppError("malformed-request", { cause: error });
    if (error instanceof PoolBusy) return new AppError("service-unavailable", { retryAfter: 5, cause: error });
    // @koa/router answers a path that is not valid percent-encoding with an error of status 400.
    if (error instanceof Error && "status" in error && error.status === 400)
      return new AppError("not-found", { cause: error });
    logFailure(ctx, error);
    return (await deps.capacity.problemOf(error)) ?? new AppError("internal-error", { cause: error });
  }

  function logFailure(ctx: Context, err: unknown): void {
    const { template, request } = stateOf(ctx);
    deps.log.error({ err, requestId: request.requestId, route: template }, "request failed");
  }

  /** What no endpoint took: 405 where the path is known with another method, else on to the pages. */
  async function otherMethods(router: Router<State>, ctx: Context, next: Next): Promise<void> {
    const layers = router.match(ctx.path, ctx.method).path;
    const methods = [...new Set(layers.flatMap((layer) => layer.methods))];
    if (methods.length === 0) return next();
    if (isForAllOrigins(ctx.path)) methods.push("OPTIONS");
    ctx.set("allow", methods.sort().join(", "));
    throw new AppError("method-not-allowed", { detail: `This address supports ${methods.join(", ")}.` });
  }

  const shelves = new Map([...routers].map(([shelf, router]) => [shelf, { router, matched: router.routes() }]));
  return {
    observe,
    endStreams() {
      for (const response of streams) response.destroy();
    },
    async routes(ctx, next) {
      if (ctx.method === "OPTIONS" && isForAllOrigins(ctx.path)) return preflight(ctx);
      const shelf = shelves.get(shelfOf(ctx.path));
      if (!shelf) return await next();
      return await shelf.matched(ctx as Parameters<typeof shelf.matched>[0], () =>
        otherMethods(shelf.router, ctx, next),
      );
    },
  };
}

/**
 * Endpoints with as many segments and the same first two stand in one router, so that a request is matched against a
 * handful of patterns instead of all of them. The first two segments of every path are fixed.
 */
function shelfOf(path: string): string {
  const segments = path.split("/");
  return `${segments.length}/${segments[1]}/${segments[2]}`;
}

const noQuery = new URLSearchParams();

/** Most requests have no query, and Koa would build a whole URL object to say so. */
function queryOf(ctx: Context): URLSearchParams {
  return ctx.querystring === "" ? noQuery : new URLSearchParams(ctx.querystring);
}

const goneSignals = new WeakMap<Context["res"], AbortSignal>();

/** Made only for who asks, once: aborting builds an error object, which the profile of small reads showed. */
function goneSignal(ctx: Context): AbortSignal {
  const known = goneSignals.get(ctx.res);
  if (known) return known;
  const gone = new AbortController();
  goneSignals.set(ctx.res, gone.signal);
  if (ctx.res.closed) gone.abort();
  else ctx.res.once("close", () => gone.abort());
  return gone.signal;
}

/** Whether work was called off since its client has left. */
function isOfGone({ res }: Context, error: unknown): boolean {
  const signal = goneSignals.get(res);
  return signal?.aborted === true && error === signal.reason;
}

/** What decides how much of an answer is sent. */
const requestOf = (ctx: Context) => ({ method: ctx.method, header: stateOf(ctx).request.header });

function stateOf(ctx: Context): State {
  return ctx.state as State;
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

function isOrganizationCaller(caller: Callers[Credential]): caller is OrganizationCaller {
  return caller !== null && (caller.kind === "api_key" || caller.kind === "user");
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

/** HTTP/1.1 announces a body by a header (RFC 9112, 6.3); in HTTP/2 a stream ends with its headers or goes on. */
function announcesBody({ method, req }: Context): boolean {
  if (method === "GET" || method === "HEAD") return false;
  if (req instanceof Http2ServerRequest) return !req.stream.endAfterHeaders;
  return req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"]) > 0;
}

/** A path parameter that does not fit its schema names nothing: 404, not 422. */
function pathParameters(endpoint: EndpointSpec, params: Record<string, string>): unknown {
  if (!endpoint.params) return undefined;
  const parsed = endpoint.params.safeParse({ ...params });
  if (!parsed.success) throw new AppError("not-found");
  return parsed.data;
}

const noParameters = z.strictObject({});
const strictQueries = new WeakMap<EndpointSpec, z.ZodType>();

/** What an operation takes in its query, and nothing else: a misspelt filter must not mean "everything". */
function queryOfEndpoint(endpoint: EndpointSpec): z.ZodType {
  const known = strictQueries.get(endpoint);
  if (known) return known;
  const { query = noParameters, foreignQuery } = endpoint;
  const strict = query instanceof z.ZodObject && !foreignQuery ? query.strict() : query;
  strictQueries.set(endpoint, strict);
  return strict;
}

/** From entries, so that a parameter named `__proto__` is one like any other. */
function queryRecord(query: URLSearchParams): Record<string, string | string[]> {
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const values = query.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? "") : values];
    }),
  );
}

function assertShape(endpoint: EndpointSpec, status: number, body: unknown): void {
  const spec = endpoint.responses[status];
  if (spec?.kind !== "json")
    throw new Error(`${endpoint.id} answered ${status}, which its contract does not declare as JSON`);
  const schema: z.ZodType = spec.schema;
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new Error(`${endpoint.id} answered outside its contract: ${parsed.error.message}`);
}

/** A body that comes too slowly is not waited for once the answer is out. */
function endAfterAnswer(ctx: Context): void {
  const { req } = ctx;
  if (!(req instanceof Http2ServerRequest)) ctx.set("connection", "close");
  else ctx.res.once("finish", () => req.stream.close(constants.NGHTTP2_NO_ERROR));
}

/** @throws AppError `unsupported-media-type` for a body that would have to be unpacked (RFC 9110 §15.5.16) */
function requirePlain(contentEncoding: string): void {
  if (contentEncoding === "" || contentEncoding.trim().toLowerCase() === "identity") return;
  const detail = "A body with a Content-Encoding is not accepted here: send it as it is.";
  throw new AppError("unsupported-media-type", { detail, headers: { "accept-encoding": "identity" } });
}

/** What pages elsewhere may read of an answer, beside what every page may (Fetch standard, CORS-safelisted response headers). */
const exposedHeaders = [
  "accept-ranges",
  "content-disposition",
  "content-range",
  "etag",
  "ratelimit-limit",
  "ratelimit-remaining",
  "ratelimit-reset",
  "retry-after",
  "x-request-id",
].join(", ");

/**
 * CORS preflight: any origin, no credentials (contract §0.6). Where nothing is, too: a browser shows a page the answer that says
 * so only if it was allowed to ask.
 */
function preflight(ctx: Context): void {
  ctx.set("access-control-allow-methods", "GET, POST, OPTIONS");
  ctx.set("access-control-allow-headers", "content-type, if-none-match, if-range, range, x-request-id");
  ctx.set("access-control-max-age", "86400");
  ctx.status = 204;
}

function write(ctx: Context, { status, headers, body }: Prepared): void {
  ctx.body = body;
  ctx.status = status;
  ctx.set(headers);
}
