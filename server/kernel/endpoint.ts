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
  /** Needed on top of the credential (key and dashboard only). */
  permission?: Permission;
  /** Takes Idempotency-Key. */
  idempotent?: boolean;
  /** Per client address. */
  rateLimit?: RateLimit;
  params?: z.ZodType;
  query?: z.ZodType;
  body?: BodySpec;
  responses: Readonly<Record<number, ResponseSpec>>;
  errors?: readonly ErrorCode[];
  /** `Cache-Control` of successful answers; `no-store` when absent. */
  cache?: string;
  /** Any origin may call it without credentials. */
  cors?: boolean;
  /** False keeps it out of the published /v1 document. */
  published?: boolean;
};

/** Declares an endpoint; the return type keeps every literal. */
export function endpoint<const E extends EndpointSpec>(spec: E): E {
  return spec;
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

/** `contentType` without parameters, lower case. */
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
type BytesReply<S extends number> = {
  status: S;
  bytes: Uint8Array;
  contentType: string;
  /** Strong validator without quotes; enables 304, If-Range and Range. */
  etag?: string;
  disposition?: "inline" | "attachment";
  filename?: string;
  headers?: Record<string, string>;
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
        : EmptyReply<S>;
}[keyof E["responses"] & number];

/** Any reply, as the kernel sends it. */
export type AnyReply =
  | { status: number; body: unknown; headers?: Record<string, string> }
  | BytesReply<number>
  | EventsReply<number>
  | EmptyReply<number>;
