import { constants, Http2ServerRequest } from "node:http2";
import type { Context } from "koa";
import type { Deps } from "./deps.ts";
import type { AnyReply } from "./endpoint.ts";
import { AppError } from "./errors.ts";
import { askedOf, isOfGone, stateOf, write } from "./exchange.ts";
import { PoolBusy } from "./pool.ts";
import { type Problem, problemKinds } from "./problem.ts";
import { languageOf, problemOf } from "./problem-document.ts";
import { readersLanguage } from "./readers-language.ts";
import { prepareReply } from "./reply.ts";

/** How what went wrong becomes an answer. */
export type Failures = {
  /** The problem document of an error. */
  reply(ctx: Context, error: AppError): AnyReply;
  /** The sole catch: answers whatever a request failed with, and logs what is our own fault. */
  answer(ctx: Context, error: unknown): Promise<void>;
};

export function createFailures({ config, capacity, log }: Pick<Deps, "config" | "capacity" | "log">): Failures {
  function reply(ctx: Context, error: AppError): AnyReply {
    const { code, options: extra } = error;
    const { status } = problemKinds[code];
    const language = languageOf(error, readersLanguage(ctx.get("accept-language")));
    const about = { baseUrl: config.baseUrl, instance: stateOf(ctx).template, language };
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
    return (await capacity.problemOf(error)) ?? new AppError("internal-error", { cause: error });
  }

  function logFailure(ctx: Context, err: unknown): void {
    const { template, request } = stateOf(ctx);
    log.error({ err, requestId: request.requestId, route: template }, "request failed");
  }

  return {
    reply,
    async answer(ctx, error) {
      const problem = await toAppError(ctx, error);
      if (problem.code === "request-timeout") endAfterAnswer(ctx);
      write(ctx, prepareReply(reply(ctx, problem), askedOf(ctx)));
    },
  };
}

/** A body that comes too slowly is not waited for once the answer is out. */
function endAfterAnswer(ctx: Context): void {
  const { req } = ctx;
  if (!(req instanceof Http2ServerRequest)) ctx.set("connection", "close");
  else ctx.res.once("finish", () => req.stream.close(constants.NGHTTP2_NO_ERROR));
}
