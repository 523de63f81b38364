import type { Context, Middleware } from "koa";
import { createAnswering } from "./answering.ts";
import type { Binding } from "./binding.ts";
import type { ClientIp } from "./client-ip.ts";
import type { Deps } from "./deps.ts";
import { type Exchange, stateOf } from "./exchange.ts";
import { createFailures } from "./failures.ts";
import { type Authenticators, announcesBody, createGates } from "./gates.ts";
import { createObserver } from "./observe.ts";
import { mediaType } from "./request-body.ts";
import { createRoutes } from "./routing.ts";

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

/**
 * Mounts the endpoints on Koa. Every call goes through the same steps (contract §1): `observe.ts`, `routing.ts`, the gates of `gates.ts`,
 * the use case in `answering.ts`; what any of them throws is answered by `failures.ts`.
 */
export function createApi({ deps, bindings, authenticators, clientIp }: ApiOptions): Api {
  const failures = createFailures(deps);
  const gates = createGates(deps, authenticators);
  const answering = createAnswering(deps, failures);

  async function serve(ctx: Context, binding: Binding): Promise<void> {
    const state = stateOf(ctx);
    state.template = binding.endpoint.path;
    const exchange: Exchange = {
      ctx,
      binding,
      request: state.request,
      contentType: mediaType(ctx.get("content-type")),
      hasBody: announcesBody(ctx),
      caller: null,
      bytes: Buffer.alloc(0),
      bodyMs: 0,
    };
    for (const pass of gates) await pass(exchange);
    await answering.answer(exchange);
  }

  return {
    observe: createObserver({ deps, clientIp, failures }),
    routes: createRoutes(bindings, serve),
    endStreams: answering.endStreams,
  };
}
