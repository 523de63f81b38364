import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { Context } from "koa";
import { z } from "zod";
import { onClosed } from "./closed.ts";
import type { Deps } from "./deps.ts";
import type { AnyReply, Call, EndpointSpec, ServerSentEvent } from "./endpoint.ts";
import { AppError } from "./errors.ts";
import { askedOf, type Exchange, isOrganizationCaller, queryOf, stateOf, write } from "./exchange.ts";
import type { Failures } from "./failures.ts";
import { createIdempotency } from "./idempotency.ts";
import { parseJson } from "./json-body.ts";
import { prepareReply } from "./reply.ts";
import type { RequestInfo } from "./request.ts";
import { parseMultipart, rawBody } from "./request-body.ts";
import { cutWhenSlow, slowMs } from "./streams.ts";
import { parseBody, parseParameters } from "./validate.ts";

/** Runs the use case of an admitted call, only once for each idempotency key, and sends its answer. */
export type Answering = {
  answer(exchange: Exchange): Promise<void>;
  /** Hangs up on who follows an event stream. */
  endStreams(): void;
};

export function createAnswering(deps: Deps, failures: Failures): Answering {
  const idempotency = createIdempotency(deps);
  const streams = new Set<ServerResponse>();

  /** From here on a failure below 500 is an answer too, which a replay repeats. */
  async function replyOrProblem(ctx: Context, use: () => Promise<AnyReply>): Promise<AnyReply> {
    try {
      return await use();
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      return failures.reply(ctx, error);
    }
  }

  function send(ctx: Context, endpoint: EndpointSpec, reply: AnyReply): void {
    if (deps.config.checkResponses && "body" in reply && reply.status < 400)
      assertShape(endpoint, reply.status, reply.body);
    if ("events" in reply || "pieces" in reply) keepStream(ctx.res);
    const sent = "events" in reply ? { ...reply, events: untilSlow(ctx, reply.events) } : reply;
    const prepared = prepareReply(sent, askedOf(ctx), endpoint.cache !== undefined);
    if (prepared.status < 400) ctx.set("cache-control", endpoint.cache ?? "no-store");
    // What has begun cannot become a problem any more: cut off, the answer is seen to be incomplete.
    if (!("events" in reply) && prepared.body instanceof Readable) prepared.body.once("error", () => ctx.res.destroy());
    write(ctx, prepared);
  }

  /** Whoever does not read comes back with `Last-Event-ID`; until then nothing more is kept for them. */
  function untilSlow(ctx: Context, events: AsyncIterable<ServerSentEvent>): AsyncIterable<ServerSentEvent> {
    return cutWhenSlow(events, slowMs, () => {
      const { request, template } = stateOf(ctx);
      deps.log.info({ requestId: request.requestId, route: template }, "an event stream that nobody reads was cut");
      ctx.res.destroy();
    });
  }

  function keepStream(response: ServerResponse): void {
    streams.add(response);
    // Koa's pipeline alone listens eight times; with ours the number is fixed, and above what Node takes for a leak.
    response.setMaxListeners(20);
    onClosed(response, () => streams.delete(response));
  }

  return {
    async answer(exchange) {
      const { ctx, caller, request, bytes } = exchange;
      const { endpoint } = exchange.binding;
      const key = endpoint.idempotent && "idempotency-key" in ctx.headers ? ctx.get("idempotency-key") : null;
      if (key === null || !isOrganizationCaller(caller))
        return send(ctx, endpoint, await runUseCase(deps, exchange, request));
      const { reply, replayed } = await idempotency.once(
        { organization: caller.organization, caller: caller.id, key: idempotency.readKey(key) },
        { method: ctx.method, path: ctx.path, query: queryOf(ctx), body: bytes },
        (remember) => replyOrProblem(ctx, () => runUseCase(deps, exchange, { ...request, remember })),
      );
      if (replayed) ctx.set("idempotent-replayed", "true");
      send(ctx, endpoint, reply);
    },
    endStreams() {
      for (const response of streams) response.destroy();
    },
  };
}

/** Syntax of the body, the resource that the path names, the query, the shape of the body, the use case: in this order (contract §1). */
async function runUseCase(deps: Deps, exchange: Exchange, request: RequestInfo): Promise<AnyReply> {
  const { ctx, caller, bytes } = exchange;
  const { endpoint, load, handle } = exchange.binding;
  const json = endpoint.body?.kind === "json" && bytes.length > 0 ? parseJson(bytes) : undefined;
  const params = pathParameters(endpoint, ctx.params);
  const before = { caller, params, request };
  const resource = load ? await load(deps, before) : undefined;
  const query = parseParameters(queryOfEndpoint(endpoint), queryRecord(queryOf(ctx)));
  const body = await understandBody(exchange, json);
  return await handle(deps, { ...before, query, body } as Call<EndpointSpec>, resource);
}

async function understandBody({ ctx, binding, contentType, bytes }: Exchange, json: unknown) {
  const spec = binding.endpoint.body;
  if (!spec) return undefined;
  if (spec.kind === "json")
    return spec.optional && bytes.length === 0 ? undefined : parseBody(spec.schema, json, bytes);
  if (spec.kind === "raw") return rawBody(ctx.req, contentType, bytes);
  const { fields, files } = await parseMultipart(ctx.get("content-type"), bytes);
  return { fields: parseBody(spec.fields, fields), files };
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
