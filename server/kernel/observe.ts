import type { Context, Middleware, Next } from "koa";
import { isLoopback } from "../config.ts";
import type { ClientIp } from "./client-ip.ts";
import { onClosed } from "./closed.ts";
import { exposeHeaders } from "./cross-origin.ts";
import type { Deps } from "./deps.ts";
import { isForAllOrigins } from "./endpoint.ts";
import { goneSignal, type State, stateOf } from "./exchange.ts";
import type { Failures } from "./failures.ts";
import { newId } from "./ids.ts";
import type { Metrics } from "./metrics.ts";
import { requireUnderstood } from "./request.ts";

type ObserveOptions = {
  deps: Pick<Deps, "config" | "log" | "metrics">;
  clientIp: ClientIp;
  failures: Failures;
};

/** Middleware around everything else: the request's id, headers of every answer, the sole catch, metrics and the access log. */
export function createObserver({ deps, clientIp, failures }: ObserveOptions): Middleware {
  const { protocol, hostname } = new URL(deps.config.baseUrl);
  // Browsers would believe it of every port of this machine, so it is not said of loopback.
  const overTls = protocol === "https:" && !isLoopback(hostname.replace(/^\[|\]$/g, ""));
  const count = createCounter(deps.metrics);

  return async (ctx: Context, next: Next) => {
    const started = performance.now();
    Object.assign(ctx.state, { template: "*", request: requestOf(ctx, clientIp) } satisfies State);
    const { requestId } = stateOf(ctx).request;
    ctx.set("x-request-id", requestId);
    ctx.set("cache-control", "no-store");
    ctx.set("referrer-policy", "no-referrer");
    ctx.set("x-content-type-options", "nosniff");
    if (overTls) ctx.set("strict-transport-security", "max-age=31536000");
    if (isForAllOrigins(ctx.path)) exposeHeaders(ctx);
    try {
      requireUnderstood(ctx.req);
      await next();
    } catch (error) {
      await failures.answer(ctx, error);
    }
    onClosed(ctx.res, () => {
      const seconds = (performance.now() - started) / 1000;
      const { template } = stateOf(ctx);
      count(ctx.method, template, ctx.status, seconds);
      deps.log.debug(
        { requestId, method: ctx.method, route: template, status: ctx.status, ms: Math.round(seconds * 1000) },
        "request",
      );
    });
  };
}

function requestOf(ctx: Context, clientIp: ClientIp): State["request"] {
  const given = ctx.get("x-request-id");
  return {
    requestId: /^[A-Za-z0-9._-]{8,128}$/.test(given) ? given : newId("req"),
    ip: clientIp(ctx.req.socket.remoteAddress, ctx.get("x-forwarded-for") || undefined),
    userAgent: ctx.get("user-agent").slice(0, 500) || null,
    header: (name) => ctx.get(name) || null,
    get signal() {
      return goneSignal(ctx);
    },
    stillAllowed: async () => true,
    remember: null,
  };
}

/** The label sets of each route are looked up once, not hashed anew for every answer. */
function createCounter(metrics: Pick<Metrics, "httpSeconds" | "httpRequests">) {
  const counters = new Map<string, (seconds: number) => void>();
  return (method: string, route: string, status: number, seconds: number): void => {
    const name = `${method} ${route} ${status}`;
    let counter = counters.get(name);
    if (!counter) {
      const histogram = metrics.httpSeconds.labels({ method, route });
      const requests = metrics.httpRequests.labels({ method, route, status: String(status) });
      counter = (value) => {
        histogram.observe(value);
        requests.inc();
      };
      counters.set(name, counter);
    }
    counter(seconds);
  };
}
