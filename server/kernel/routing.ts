import Router from "@koa/router";
import type { Context, Middleware, Next } from "koa";
import type { Binding } from "./binding.ts";
import { preflight } from "./cross-origin.ts";
import { isForAllOrigins } from "./endpoint.ts";
import { AppError } from "./errors.ts";
import type { State } from "./exchange.ts";

/**
 * Sends each request to its endpoint; what no endpoint takes goes on to the next middleware.
 * @throws AppError `method-not-allowed` where the path is known with another method
 */
export function createRoutes(
  bindings: readonly Binding[],
  serve: (ctx: Context, binding: Binding) => Promise<void>,
): Middleware {
  const routers = new Map<string, Router<State>>();
  for (const binding of bindings) {
    const { method, path } = binding.endpoint;
    const router = routers.get(shelfOf(path)) ?? new Router<State>({ sensitive: true, strict: true });
    routers.set(shelfOf(path), router);
    const pattern = path.replaceAll(/\{(\w+)\}/g, ":$1");
    router.register(pattern, [method], (ctx: Context) => serve(ctx, binding));
  }
  const shelves = new Map([...routers].map(([shelf, router]) => [shelf, { router, matched: router.routes() }]));
  return async (ctx, next) => {
    if (ctx.method === "OPTIONS" && isForAllOrigins(ctx.path)) return preflight(ctx);
    const shelf = shelves.get(shelfOf(ctx.path));
    if (!shelf) return await next();
    return await shelf.matched(ctx as Parameters<typeof shelf.matched>[0], () => otherMethods(shelf.router, ctx, next));
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

/** What no endpoint took: 405 where the path is known with another method, else on to the pages. */
async function otherMethods(router: Router<State>, ctx: Context, next: Next): Promise<void> {
  const layers = router.match(ctx.path, ctx.method).path;
  const methods = [...new Set(layers.flatMap((layer) => layer.methods))];
  if (methods.length === 0) return next();
  if (isForAllOrigins(ctx.path)) methods.push("OPTIONS");
  ctx.set("allow", methods.sort().join(", "));
  throw new AppError("method-not-allowed", { detail: `This address supports ${methods.join(", ")}.` });
}
