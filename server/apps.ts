import Koa, { type Context, type Middleware, type Next } from "koa";
import type { Host } from "./feature.ts";
import type { Api } from "./kernel/api.ts";
import { inDoubt } from "./kernel/clock.ts";
import type { Deps } from "./kernel/deps.ts";
import { AppError } from "./kernel/errors.ts";
import type { Operations } from "./operations.ts";
import { servePage } from "./pages.ts";

/** The two web apps of the process: what everybody reaches over TCP, and what administrators reach on the admin socket. */

type AppParts = { host: Host; api: Api; operations: Operations };

/** The API, the pages, and what machines ask besides. */
export function publicApp({ host: { deps, maintenance }, api, operations }: AppParts): Koa {
  const takeWhatMayRun: Middleware = (ctx, next) => {
    if (!needsTime(ctx.path)) return next();
    if (inDoubt(deps.clock)) throw new AppError("service-unavailable", clockDoubted);
    return maintenance.admit(next);
  };
  const answerMachines: Middleware = async (ctx, next) =>
    (await operations.answer(ctx, ctx.get("authorization"), (reply) => apply(ctx, reply))) ? undefined : next();
  const refuse: Middleware = () => {
    throw new AppError("not-found", { detail: "There is nothing at this address." });
  };
  return appOf(deps, [
    api.observe,
    takeWhatMayRun,
    api.routes,
    answerMachines,
    (ctx, next) => page(deps, ctx, next, maintenance.state !== null),
    refuse,
  ]);
}

/** The administrators' API. */
export function adminApp({ host: { deps, maintenance }, api, operations }: AppParts): Koa {
  const takeWhatMayRun: Middleware = (ctx, next) => (changesData(ctx) ? maintenance.admit(next) : next());
  const answerMachines: Middleware = async (ctx, next) =>
    (await operations.answerLocally(ctx, (reply) => apply(ctx, reply))) ? undefined : next();
  return appOf(deps, [api.observe, takeWhatMayRun, api.routes, answerMachines, notHere]);
}

function appOf({ log }: Pick<Deps, "log">, parts: readonly Middleware[]): Koa {
  const app = new Koa();
  for (const part of parts) app.use(part);
  // Errors of a socket that the client closed; every other one was answered by the API's own catch.
  app.on("error", (err: unknown) => log.debug({ err }, "connection ended early"));
  return app;
}

/** An operation that is not mounted where it was asked for. */
export const notHere = () => Promise.reject(new AppError("not-found"));

/** What administrators change while an update is under way would be lost when it is put back; the update itself goes on. */
const changesData = ({ method, path }: Pick<Context, "method" | "path">): boolean =>
  method !== "GET" && method !== "HEAD" && !path.startsWith("/local/update/");

const clockDoubted = {
  detail: "The clock of this machine cannot be right. Its administrator has to set it, or to accept it: signet clock.",
  retryAfter: 60,
};

/** What is proven stays provable, whatever time it is; everything else waits for a clock that is believed. */
const needsTime = (path: string): boolean => /^\/((v1|auth|scim)\/|mcp$)/.test(path) && !path.startsWith("/v1/public/");

type PageReply = { status: number; headers: Record<string, string>; body: string | Uint8Array | null };

function apply(ctx: Context, reply: PageReply): void {
  ctx.body = reply.body instanceof Uint8Array ? Buffer.from(reply.body) : reply.body;
  ctx.status = reply.status;
  ctx.set(reply.headers);
}

async function page(deps: Deps, ctx: Context, next: Next, inMaintenance: boolean): Promise<void> {
  const found =
    ctx.method === "GET" || ctx.method === "HEAD"
      ? await servePage(deps, {
          method: ctx.method,
          path: ctx.path,
          query: ctx.querystring,
          headers: ctx.req.headers,
          inMaintenance,
        })
      : null;
  if (!found) return next();
  ctx.state.template = "pages";
  apply(ctx, found);
}
