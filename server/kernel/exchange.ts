import type { Context } from "koa";
import type { Binding } from "./binding.ts";
import type { Callers, Credential, OrganizationCaller } from "./caller.ts";
import { onClosed } from "./closed.ts";
import type { Prepared } from "./reply.ts";
import type { RequestInfo } from "./request.ts";

/** A request and its answer, as the steps of the pipeline see them. */

/** Known of every request, also of one that no endpoint takes. `template` is the path with its parameters unfilled. */
export type State = { request: RequestInfo; template: string };

export function stateOf(ctx: Context): State {
  return ctx.state as State;
}

/** A call to an endpoint on its way to its use case. The steps that let it in fill `caller`, then `bytes`. */
export type Exchange = {
  ctx: Context;
  binding: Binding;
  request: RequestInfo;
  /** Lower case, without parameters. */
  contentType: string;
  hasBody: boolean;
  /** Null for a public operation, and until the caller is known. */
  caller: Callers[Credential];
  /** The whole body; empty for a call without one. */
  bytes: Buffer;
  /** Milliseconds that the body took to arrive. */
  bodyMs: number;
};

export function isOrganizationCaller(caller: Callers[Credential]): caller is OrganizationCaller {
  return caller !== null && (caller.kind === "api_key" || caller.kind === "user");
}

const noQuery = new URLSearchParams();

/** Most requests have no query, and Koa would build a whole URL object to say so. */
export function queryOf(ctx: Context): URLSearchParams {
  return ctx.querystring === "" ? noQuery : new URLSearchParams(ctx.querystring);
}

const goneSignals = new WeakMap<Context["res"], AbortSignal>();

/** Made only for who asks, once: aborting builds an error object, which the profile of small reads showed. */
export function goneSignal(ctx: Context): AbortSignal {
  const known = goneSignals.get(ctx.res);
  if (known) return known;
  const gone = new AbortController();
  goneSignals.set(ctx.res, gone.signal);
  onClosed(ctx.res, () => gone.abort());
  return gone.signal;
}

/** Whether work was called off since its client has left. */
export function isOfGone({ res }: Context, error: unknown): boolean {
  const signal = goneSignals.get(res);
  return signal?.aborted === true && error === signal.reason;
}

/** What decides how much of an answer is sent. */
export const askedOf = (ctx: Context) => ({ method: ctx.method, header: stateOf(ctx).request.header });

export function write(ctx: Context, { status, headers, body }: Prepared): void {
  ctx.body = body;
  ctx.status = status;
  ctx.set(headers);
}
