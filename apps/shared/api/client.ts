import { z } from "zod";
import type { EndpointSpec, ResponseSpec } from "../../../server/kernel/endpoint.ts";
import { Problem } from "../../../server/kernel/problem.ts";

type In<S> = S extends z.ZodType ? z.input<S> : undefined;

type BodyIn<B> = B extends { kind: "json"; schema: infer S; optional: true }
  ? { body?: In<S> }
  : B extends { kind: "json"; schema: infer S }
    ? { body: In<S> }
    : B extends { kind: "multipart"; fields: infer S }
      ? { body: { fields: In<S>; file: File } }
      : { body?: undefined };
type ParamsIn<P> = P extends z.ZodType ? { params: z.input<P> } : { params?: undefined };
type QueryIn<Q> = Q extends z.ZodType ? { query?: z.input<Q> } : { query?: undefined };

/** What a call of the endpoint takes: parameters, query and body by its schemas, and the access token where one is needed. */
export type CallInput<E extends EndpointSpec> = ParamsIn<E["params"]> &
  QueryIn<E["query"]> &
  BodyIn<E["body"]> & { token?: string; signal?: AbortSignal };

export type Bytes = { bytes: Uint8Array<ArrayBuffer>; contentType: string; filename: string | null };
type AnswerOf<R> = R extends { kind: "json"; schema: infer S }
  ? S extends z.ZodType
    ? z.output<S>
    : never
  : R extends { kind: "bytes" }
    ? Bytes
    : undefined;
/** What a successful call gives: the parsed JSON, the bytes, or nothing. */
export type Answer<E extends EndpointSpec> = {
  [S in keyof E["responses"]]: AnswerOf<E["responses"][S]>;
}[keyof E["responses"]];

/** The service answered with a problem document (RFC 9457). */
export class ProblemResponse extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.detail);
    this.name = "ProblemResponse";
    this.problem = problem;
  }
}

/** No usable answer came: the network failed, or the answer has another shape than the contract. */
export class NoAnswer extends Error {
  readonly requestId: string | null;
  constructor(message: string, options: { requestId?: string | null; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "NoAnswer";
    this.requestId = options.requestId ?? null;
  }
}

/**
 * Calls an endpoint of the service as its specification says.
 * @throws ProblemResponse with the service's problem document; NoAnswer when there is no answer or an incomprehensible one
 */
export async function callEndpoint<E extends EndpointSpec>(endpoint: E, input: CallInput<E>): Promise<Answer<E>> {
  const { token, signal } = input;
  const headers = new Headers({ accept: "application/json, application/problem+json, */*" });
  if (token) headers.set("authorization", `Bearer ${token}`);
  const body = bodyOf(endpoint, input.body, headers);
  const init: RequestInit = { method: endpoint.method, headers, cache: "no-store", credentials: "same-origin" };
  if (body !== undefined) init.body = body;
  if (signal) init.signal = signal;
  let response: Response;
  try {
    response = await fetch(urlOf(endpoint, input.params, input.query), init);
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new NoAnswer("The server cannot be reached.", { cause });
  }
  if (!response.ok) throw await failureOf(response);
  return (await answerOf(endpoint.responses[response.status], response)) as Answer<E>;
}

function urlOf(endpoint: EndpointSpec, params: unknown, query: unknown): string {
  const given = z.record(z.string(), z.string()).parse(params ?? {});
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given[name] ?? ""));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(z.record(z.string(), z.unknown()).parse(query ?? {}))) {
    if (value !== undefined) search.set(name, String(value));
  }
  return search.size > 0 ? `${path}?${search}` : path;
}

const Multipart = z.object({ fields: z.record(z.string(), z.string()), file: z.instanceof(File) });

function bodyOf(endpoint: EndpointSpec, body: unknown, headers: Headers): BodyInit | undefined {
  if (body === undefined) return undefined;
  if (endpoint.body?.kind === "multipart") {
    const { fields, file } = Multipart.parse(body);
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set("file", file, file.name);
    return form;
  }
  headers.set("content-type", "application/json");
  return JSON.stringify(body);
}

async function failureOf(response: Response): Promise<Error> {
  const requestId = response.headers.get("x-request-id");
  const parsed = Problem.safeParse(await response.json().catch(() => null));
  if (parsed.success) return new ProblemResponse(parsed.data);
  return new NoAnswer(`The server answered with status ${response.status}.`, { requestId });
}

async function answerOf(spec: ResponseSpec | undefined, response: Response): Promise<unknown> {
  if (spec?.kind === "json") {
    const parsed = spec.schema.safeParse(await response.json().catch(() => undefined));
    if (parsed.success) return parsed.data;
    const requestId = response.headers.get("x-request-id");
    throw new NoAnswer("The server's answer could not be understood.", { requestId, cause: parsed.error });
  }
  if (spec?.kind === "bytes") {
    return {
      bytes: new Uint8Array(await response.arrayBuffer()),
      contentType: response.headers.get("content-type") ?? "application/octet-stream",
      filename: filenameOf(response.headers.get("content-disposition")),
    };
  }
  return undefined;
}

/** RFC 6266: the extended form wins. */
function filenameOf(disposition: string | null): string | null {
  const extended = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? "")?.[1];
  if (extended) return decodeURIComponent(extended);
  return /filename="([^"]*)"/i.exec(disposition ?? "")?.[1] ?? null;
}
