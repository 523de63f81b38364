import type { z } from "zod";
import type { Callers, Credential } from "./caller.ts";
import type { ErrorCode } from "./problem.ts";
import type { RequestInfo } from "./request.ts";
import type { Permission } from "./wire.ts";

/** An endpoint as data. Routing, authentication, validation, OpenAPI, the typed client and the tests are derived from it. */

export type BodySpec =
  | { kind: "json"; schema: z.ZodType; maxBytes: number; optional?: boolean }
  /** Bytes as they are; `maxBytes` by content type. */
  | { kind: "raw"; types: Readonly<Record<string, number>> }
  | { kind: "multipart"; fields: z.ZodType; maxBytes: number };

export type ResponseSpec =
  | { kind: "json"; schema: z.ZodType; description?: string; headers?: Readonly<Record<string, string>> }
  | { kind: "bytes"; types: readonly string[]; description?: string }
  /** As long as it takes to make: pieces of text or bytes, never held as a whole. */
  | { kind: "stream"; types: readonly string[]; description?: string }
  | { kind: "events"; schema: z.ZodType; description?: string }
  | { kind: "empty"; description?: string };

export type RateLimit = { name: string; points: number; seconds: number };

export type EndpointSpec = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With `{name}` for parameters. */
  path: string;
  /** OpenAPI operationId and the name of the client's method. */
  id: string;
  tag: string;
  summary: string;
  credential: Credential;
  /** Begins what goes on taking room: refused while the disk is nearly full. */
  needsRoom?: boolean;
  /** Needed on top of the credential (key and dashboard only). */
  permission?: Permission;
  /** Takes Idempotency-Key. */
  idempotent?: boolean;
  /** Per client address. */
  rateLimit?: RateLimit;
  params?: z.ZodType;
  /** What is not named in it is refused, also where there is none. */
  query?: z.ZodType;
  /** Others decide what stands in the query, such as an identity provider: what is not known is ignored. */
  foreignQuery?: boolean;
  body?: BodySpec;
  responses: Readonly<Record<number, ResponseSpec>>;
  errors?: readonly ErrorCode[];
  /**
   * Operations, by their ids, that go on from a JSON answer, with expressions for their parameters or members of their body.
   * Those whose path the answer fills by itself need not be named.
   */
  links?: Readonly<Record<string, Readonly<{ parameters?: Record<string, string>; body?: Record<string, string> }>>>;
  /** `Cache-Control` of successful answers; `no-store` when absent. */
  cache?: string;
  /** Refused when a page from elsewhere calls, whatever its credential: programs send no Origin. */
  ownOrigin?: boolean;
  /** False keeps it out of the published /v1 document. */
  published?: boolean;
};

/**
 * Whether calls may carry the session cookie and change something, so that they must come from a page of our own (contract
 * §0.6). Of the sign-in operations every one does: a login from elsewhere would put the person into a stranger's account.
 */
export function needsOrigin({ method, path, credential }: EndpointSpec): boolean {
  if (method === "GET") return false;
  return path.startsWith("/auth/") || credential === "key" || credential === "dashboard" || credential === "person";
}

/** Declares an endpoint; the return type keeps every literal. */
export function endpoint<const E extends EndpointSpec>(spec: E): E {
  return spec;
}

/** Declares an endpoint of the admin socket, which no other address serves and no published document names. */
export function localEndpoint<const E extends Omit<EndpointSpec, "credential" | "tag" | "published">>(spec: E) {
  return { ...spec, credential: "local", tag: "Appliance", published: false } as const;
}

type OutputOf<S> = S extends z.ZodType ? z.output<S> : undefined;
type BodyOf<B> = B extends { kind: "json"; schema: infer S; optional: true }
  ? OutputOf<S> | undefined
  : B extends { kind: "json"; schema: infer S }
    ? OutputOf<S>
    : B extends { kind: "raw" }
      ? RawBody
      : B extends { kind: "multipart"; fields: infer S }
        ? MultipartBody<OutputOf<S>>
        : undefined;

type GivenFor<S> = S extends z.ZodType ? z.input<S> : undefined;
type ParamsGiven<P> = P extends z.ZodType ? { params: z.input<P> } : { params?: undefined };
type QueryGiven<Q> = Q extends z.ZodType ? { query?: z.input<Q> } : { query?: undefined };
type BodyGiven<B> = B extends { kind: "json"; schema: infer S; optional: true }
  ? { body?: GivenFor<S> }
  : B extends { kind: "json"; schema: infer S }
    ? { body: GivenFor<S> }
    : B extends { kind: "multipart"; fields: infer S }
      ? { body: { fields: GivenFor<S>; file: File } }
      : B extends { kind: "raw" }
        ? { body: File }
        : { body?: undefined };

/** What a caller gives, by the endpoint's schemas; a query may be left out. */
export type CallParts<E extends EndpointSpec> = ParamsGiven<E["params"]> &
  QueryGiven<E["query"]> &
  BodyGiven<E["body"]>;

type AnswerFor<R, Content> = R extends { kind: "json"; schema: infer S }
  ? S extends z.ZodType
    ? z.output<S>
    : never
  : R extends { kind: "bytes" | "stream" }
    ? Content
    : undefined;

/** What a successful call gives a caller: the parsed JSON, `Content` where bytes come, or nothing. */
export type AnswerOf<E extends EndpointSpec, Content> = {
  [S in keyof E["responses"]]: AnswerFor<E["responses"][S], Content>;
}[keyof E["responses"]];

/**
 * Path and query of a call; a list becomes one parameter an entry, and what is undefined is left out.
 * @throws TypeError for a parameter of the path that would lead to another path
 */
export function addressOf({ path }: EndpointSpec, params: unknown, query: unknown): string {
  const values = new Map(Object.entries(params ?? {}));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values.get(name) ?? "");
    if (value === "." || value === "..") throw new TypeError(`${name} is no id`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined) search.append(name, String(each));
  }
  return search.size > 0 ? `${filled}?${search}` : filled;
}

/** Whether pages of any origin may call what lies at this path, and read what is said of it (contract §0.6). */
export const isForAllOrigins = (path: string): boolean =>
  path.startsWith("/v1/public/") || path.startsWith("/.well-known/svc/");

/** `contentType` without parameters, lower case; `filename` as it may be kept and shown. */
export type RawBody = { contentType: string; filename: string | null; bytes: Uint8Array };
export type UploadedFile = { field: string; filename: string; contentType: string; bytes: Uint8Array };
export type MultipartBody<F> = { fields: F; files: UploadedFile[] };

export type Call<E extends EndpointSpec> = {
  caller: Callers[E["credential"]];
  params: OutputOf<E["params"]>;
  query: OutputOf<E["query"]>;
  body: BodyOf<E["body"]>;
  request: RequestInfo;
};

type JsonReply<S extends number, R> = R extends { kind: "json"; schema: infer T }
  ? { status: S; body: T extends z.ZodType ? z.input<T> : never; headers?: Record<string, string> }
  : never;
/** Content that is read while it is sent, so that a slow reader holds a piece of it and not the whole. */
export type StoredContent = {
  size: number;
  /**
   * All of it, or the bytes from `start` to `end`, both included. Ends with an error when the file was changed since it
   * was opened: whoever has read to the end has what was asked for.
   */
  pieces(range?: { start: number; end: number }): AsyncGenerator<Uint8Array>;
};
type BytesReply<S extends number> = {
  status: S;
  bytes: Uint8Array | StoredContent;
  contentType: string;
  /** Strong validator without quotes; enables 304, If-Range and Range. */
  etag?: string;
  disposition?: "inline" | "attachment";
  filename?: string;
  headers?: Record<string, string>;
};
type StreamReply<S extends number> = {
  status: S;
  /** Not begun when nobody reads it; a failure of it cuts the answer off, which every client notices. */
  pieces: AsyncIterable<string | Uint8Array>;
  contentType: string;
  filename: string;
};
export type ServerSentEvent = { id?: string; event?: string; data?: string; retry?: number; comment?: string };
type EventsReply<S extends number> = { status: S; events: AsyncIterable<ServerSentEvent> };
type EmptyReply<S extends number> = { status: S; headers?: Record<string, string> };

export type Reply<E extends EndpointSpec> = {
  [S in keyof E["responses"] & number]: E["responses"][S] extends { kind: "json" }
    ? JsonReply<S, E["responses"][S]>
    : E["responses"][S] extends { kind: "bytes" }
      ? BytesReply<S>
      : E["responses"][S] extends { kind: "events" }
        ? EventsReply<S>
        : E["responses"][S] extends { kind: "stream" }
          ? StreamReply<S>
          : EmptyReply<S>;
}[keyof E["responses"] & number];

/** Any reply, as the kernel sends it. */
export type AnyReply =
  | { status: number; body: unknown; headers?: Record<string, string> }
  | BytesReply<number>
  | EventsReply<number>
  | StreamReply<number>
  | EmptyReply<number>;
