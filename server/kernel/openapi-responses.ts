import type { z } from "zod";
import type { ZodOpenApiResponseObject } from "zod-openapi";
import { type EndpointSpec, needsOrigin, type ResponseSpec } from "./endpoint.ts";
import { type ErrorCode, errorCodes, Problem, problemKinds } from "./problem.ts";
import { shownOrganizationHeader } from "./wire.ts";

/** What an operation may answer, status by status, with headers and content types: all of it follows from its entry in the table. */

type HeaderObject = { description: string; required?: boolean; schema: Record<string, unknown> };
const text = { type: "string" } as const;
const count = { type: "integer", minimum: 0 } as const;

/** The headers that several operations send; the document holds each once, under `components`. */
export const sharedHeaders = {
  "x-request-id": {
    description: "Identifies this request in logs: the caller's own `x-request-id` where it sent a valid one.",
    required: true,
    schema: { ...text, pattern: "^[A-Za-z0-9._-]{8,128}$" },
  },
  "RateLimit-Limit": { description: "Calls that one client may make in a window.", schema: count },
  "RateLimit-Remaining": { description: "Calls that are left in this window.", schema: count },
  "RateLimit-Reset": { description: "Seconds until the window ends.", schema: count },
  "Retry-After": { description: "Seconds to wait before the next attempt.", schema: { ...count, minimum: 1 } },
  "Idempotent-Replayed": {
    description: "`true` when this is the stored answer to an earlier request with the same `Idempotency-Key`.",
    schema: { ...text, const: "true" },
  },
  "WWW-Authenticate": { description: "How to authenticate.", schema: { ...text, const: "Bearer" } },
  "Accept-Encoding": { description: "The encodings that a body may have.", schema: text },
  Allow: { description: "The methods of this address.", required: true, schema: text },
  ETag: { description: "Validator of the content, for `If-None-Match` and `If-Range`.", schema: text },
  "Accept-Ranges": { description: "Parts can be requested with `Range`.", schema: { ...text, const: "bytes" } },
  "Content-Range": { description: "Which bytes these are, of how many.", required: true, schema: text },
  "Content-Disposition": { description: "Suggested file name.", schema: text },
  [shownOrganizationHeader]: {
    description: "The organization that the session works in, when it is not the one that the page shows.",
    schema: text,
  },
} as const satisfies Record<string, HeaderObject>;
type HeaderName = keyof typeof sharedHeaders;

type Headers = Record<string, HeaderObject | { $ref: string }>;
type Content = Record<string, { schema?: z.ZodType | Record<string, unknown> }>;
export type DescribedResponse = {
  /** The errors that it may stand for; none for a success. */
  codes: readonly ErrorCode[];
  response: ZodOpenApiResponseObject & { headers: Headers; content?: Content };
};

/** Every response of the operation by its status, in ascending order. */
export function responsesOf(endpoint: EndpointSpec): Map<number, DescribedResponse> {
  const found = new Map<number, DescribedResponse>();
  for (const [status, spec] of Object.entries(endpoint.responses))
    found.set(Number(status), { codes: [], response: describeSuccess(endpoint, Number(status), spec) });
  for (const [status, response] of conditional(endpoint)) found.set(status, { codes: [], response });
  for (const [status, codes] of problemsOf(endpoint)) {
    const problem = describeProblem(endpoint, status, codes);
    const content = { ...found.get(status)?.response.content, ...problem.response.content };
    found.set(status, { codes, response: { ...problem.response, content } });
  }
  return new Map([...found].sort(([a], [b]) => a - b));
}

const isRead = ({ method }: EndpointSpec) => method === "GET";
/** Whether the answer can be requested in parts. */
const hasRanges = (endpoint: EndpointSpec) =>
  isRead(endpoint) && Object.values(endpoint.responses).some(({ kind }) => kind === "bytes");
const isConditional = (endpoint: EndpointSpec) => hasRanges(endpoint) || endpoint.cache !== undefined;
const hasStream = ({ responses }: EndpointSpec) => Object.values(responses).some(({ kind }) => kind === "events");
const byCookie = ({ credential }: EndpointSpec) =>
  credential === "key" || credential === "dashboard" || credential === "person";

/** The names of the request headers that the operation reads; `Idempotency-Key` and credentials aside. */
export function requestHeadersOf(endpoint: EndpointSpec): RequestHeader[] {
  return [
    ...(endpoint.idempotent ? (["Idempotency-Key"] as const) : []),
    ...(endpoint.errors?.includes("precondition-failed") ? (["If-Match"] as const) : []),
    ...(isConditional(endpoint) ? (["If-None-Match"] as const) : []),
    ...(hasRanges(endpoint) ? (["Range", "If-Range"] as const) : []),
    ...(hasStream(endpoint) ? (["Last-Event-ID"] as const) : []),
  ];
}

/** The request headers that operations read, as parameters. Only what is refused has a pattern: HTTP ignores the rest. */
export const requestHeaders = {
  "Idempotency-Key": {
    description:
      "Makes a repeat of the request harmless: the first answer is kept for 24 hours and sent again. Printable ASCII.",
    example: "3f6f1f0a-5c1e-4a7b-9d7e-0d4b1f2a9c55",
    schema: { ...text, pattern: "^[!-~]([ -~]{0,253}[!-~])?$", minLength: 1, maxLength: 255 },
  },
  "If-Match": {
    description: "Acts only while the resource still has one of these entity tags (`ETag`), else answers 412.",
    schema: text,
  },
  "If-None-Match": {
    description: "Answers 304 when the content still has one of these entity tags (`ETag`).",
    schema: text,
  },
  Range: {
    description: "The part to send, as one range of bytes; anything else is answered with the whole.",
    example: "bytes=0-65535",
    schema: text,
  },
  "If-Range": {
    description: "Sends the part only while the content still has this entity tag, else the whole.",
    schema: text,
  },
  "Last-Event-ID": {
    description: "`id` of the last event that was received: the stream goes on after it.",
    schema: { ...text, pattern: "^[0-9]{0,9}$" },
  },
} as const;
type RequestHeader = keyof typeof requestHeaders;

/** Statuses on which the stored answer of an idempotent operation may be sent again. */
const neverReplayed = new Set([401, 405, 408, 413, 415, 429]);

function headersOf(endpoint: EndpointSpec, status: number, more: readonly HeaderName[] = []): Headers {
  const names: HeaderName[] = ["x-request-id", ...more];
  if (isLimited(endpoint) && status !== 405) names.push("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset");
  if (endpoint.idempotent && status < 500 && !neverReplayed.has(status)) names.push("Idempotent-Replayed");
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Operations without a credential that are limited say how much is left, the exchanges of tokens included. */
const isLimited = ({ rateLimit, credential, errors }: EndpointSpec): boolean =>
  rateLimit !== undefined || (credential === "public" && errors?.includes("rate-limited") === true);

const isRedirect = (status: number) => status >= 300 && status < 400 && status !== 304;

const binary = { schema: { type: "string", format: "binary" } };
const contentOf = (types: readonly string[]): Content => Object.fromEntries(types.map((type) => [type, binary]));
const ranged = ["ETag", "Accept-Ranges", "Content-Disposition"] as const;

function describeSuccess(endpoint: EndpointSpec, status: number, spec: ResponseSpec): DescribedResponse["response"] {
  switch (spec.kind) {
    case "json": {
      const own = Object.entries(spec.headers ?? {}).map(([name, description]) => [
        name,
        { schema: text, description },
      ]);
      const shared = headersOf(endpoint, status, endpoint.cache === undefined ? [] : ["ETag"]);
      return {
        description: spec.description ?? "Done.",
        headers: { ...shared, ...Object.fromEntries(own) },
        content: { "application/json": { schema: spec.schema } },
      };
    }
    case "bytes":
      return {
        description: spec.description ?? "The file.",
        headers: headersOf(endpoint, status, ranged),
        content: contentOf(spec.types),
      };
    case "stream":
      return {
        description: spec.description ?? "The file.",
        headers: headersOf(endpoint, status, ["Content-Disposition"]),
        content: contentOf(spec.types),
      };
    case "events":
      return {
        description: spec.description ?? "Server-sent events.",
        headers: headersOf(endpoint, status),
        content: { "text/event-stream": {} },
      };
    case "empty": {
      const shared = headersOf(endpoint, status);
      const headers = isRedirect(status)
        ? { ...shared, Location: { description: "Where to go.", schema: text } }
        : shared;
      return { description: spec.description ?? "Done; no body.", headers };
    }
  }
}

/** What conditional and range requests are answered with (RFC 9110 §13, §14). */
function* conditional(endpoint: EndpointSpec): Generator<[number, DescribedResponse["response"]]> {
  if (hasRanges(endpoint)) {
    const types = Object.values(endpoint.responses).flatMap((spec) => (spec.kind === "bytes" ? spec.types : []));
    yield [
      206,
      {
        description: "The part that the Range header asked for.",
        headers: headersOf(endpoint, 206, [...ranged, "Content-Range"]),
        content: contentOf(types),
      },
    ];
  }
  if (isConditional(endpoint)) {
    const headers = hasRanges(endpoint) ? ranged : (["ETag"] as const);
    yield [
      304,
      {
        description: "Unchanged: the content still has an entity tag of the If-None-Match header.",
        headers: headersOf(endpoint, 304, headers),
      },
    ];
  }
}

function problemsOf(endpoint: EndpointSpec): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodesOf(endpoint)) {
    const { status } = problemKinds[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

/** Codes that are sent with the seconds to wait. */
const waitFor: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "rate-limited",
  "service-unavailable",
  "document-not-ready",
  "idempotency-in-progress",
  "otp-exhausted",
]);

function describeProblem(endpoint: EndpointSpec, status: number, codes: readonly ErrorCode[]): DescribedResponse {
  const more: HeaderName[] = [];
  if (status === 401) more.push("WWW-Authenticate");
  if (status === 405) more.push("Allow");
  if (status === 415) more.push("Accept-Encoding");
  if (status === 416) more.push(...ranged, "Content-Range");
  if (codes.includes("conflict") && byCookie(endpoint)) more.push(shownOrganizationHeader);
  if (codes.some((code) => waitFor.has(code))) more.push("Retry-After");
  const description = codes.map((code) => `\`${code}\`: ${problemKinds[code].detail}`).join("\n\n");
  const headers = headersOf(endpoint, status, more);
  return { codes, response: { description, headers, content: { "application/problem+json": { schema: Problem } } } };
}

/** Every error code that this operation can answer with. */
export function errorCodesOf(endpoint: EndpointSpec): ErrorCode[] {
  const { credential, method } = endpoint;
  const codes = new Set<ErrorCode>(endpoint.errors);
  const add = (...more: ErrorCode[]) => {
    for (const code of more) codes.add(code);
  };
  const bySession = credential === "dashboard" || credential === "person";
  // A page whose session works in another organization by now, or a page of another site.
  if (byCookie(endpoint)) add("unauthorized", "csrf-rejected", "conflict");
  if (needsOrigin(endpoint)) add("csrf-rejected");
  if (credential === "signer" || credential === "viewer") add("token-invalid", "token-expired", "token-used");
  if (endpoint.permission || bySession) add("forbidden");
  if (endpoint.path.includes("{")) add("not-found");
  if (endpoint.rateLimit || hasStream(endpoint)) add("rate-limited");
  // A body that the operation does not ask for is read as well, for its fingerprint.
  if (method !== "GET") add("payload-too-large", "unsupported-media-type", ...codesWith(408));
  if (hasRanges(endpoint)) add(...codesWith(416));
  if (endpoint.idempotent) add("invalid-idempotency-key", "idempotency-in-progress", "idempotency-key-reused");
  if (endpoint.body || !endpoint.foreignQuery) add("validation-failed");
  // Host and Expect are looked at before anything else.
  add("malformed-request", "method-not-allowed", ...codesWith(417), "internal-error", "service-unavailable");
  return errorCodes.filter((code) => codes.has(code));
}

const codesWith = (status: number): ErrorCode[] => errorCodes.filter((code) => problemKinds[code].status === status);
