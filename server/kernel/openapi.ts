import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import type { Credential } from "./caller.ts";
import { type BodySpec, type EndpointSpec, needsOrigin, type ResponseSpec } from "./endpoint.ts";
import { type ErrorCode, Problem, problemKinds } from "./problem.ts";

/** The description of the interface, derived from the endpoints: there is no other. */
export type OpenApiDocument = ReturnType<typeof createDocument>;

const securityOf: Record<Credential, Record<string, string[]>[]> = {
  key: [{ bearerApiKey: [] }, { apiKeyHeader: [] }, { sessionCookie: [] }],
  dashboard: [{ sessionCookie: [] }],
  person: [{ sessionCookie: [] }],
  signer: [{ signerToken: [] }],
  viewer: [{ viewerToken: [] }],
  local: [],
  public: [],
};

const securitySchemes = {
  bearerApiKey: { type: "http", scheme: "bearer", description: "An API key: `svc_live_…` or `svc_test_…`." },
  apiKeyHeader: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "The same API key in a header of its own.",
  },
  sessionCookie: { type: "apiKey", in: "cookie", name: "__Host-svc_session", description: "A dashboard session." },
  signerToken: {
    type: "http",
    scheme: "bearer",
    description: "A signer's access token (`svca_…`) or session token (`svcs_…`).",
  },
  viewerToken: { type: "http", scheme: "bearer", description: "A viewer's access token (`svcva_…`)." },
} as const;

/** What stands under each heading of the documentation. */
const tagDescriptions: Record<string, string> = {
  Templates: "Documents with roles, fields and variables; published versions never change.",
  Envelopes: "Documents sent to be signed, their people, states, files and audit trail.",
  Signing: "What the signing page calls with a signer's token; for embedded signing, how to get one.",
  Viewers: "What the status page calls for people who follow an envelope without signing it.",
  Organization: "The organization that the key belongs to, its features and limits.",
  Account: "What a person who is signed in to the dashboard chooses for themselves.",
  "API keys": "The keys that servers authenticate with, each of one mode.",
  Verification: "Public: proves what was sealed, to anybody, without an account.",
};

export type DescribeOptions = {
  /** Base URL of the service. */
  serverUrl: string;
  /** By the id of the schema; what a schema says itself wins. */
  examples: Readonly<Record<string, unknown>>;
};

/** OpenAPI 3.1.0 of the published endpoints, in the order of the list. */
export function describeApi(endpoints: readonly EndpointSpec[], options: DescribeOptions): OpenApiDocument {
  const published = endpoints.filter((endpoint) => endpoint.published !== false);
  const paths: ZodOpenApiPathsObject = {};
  for (const endpoint of published) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: describeOperation(endpoint) };
  }
  const tags = [...new Set(published.map((endpoint) => endpoint.tag))];
  const used = new Set(
    published.flatMap((endpoint) => securityOf[endpoint.credential].flatMap((scheme) => Object.keys(scheme))),
  );
  return createDocument(
    {
      openapi: "3.1.0",
      info: {
        title: "Signet API",
        version: "1.0.0",
        description:
          "Send documents to be signed, watch them, and prove them. Errors are RFC 9457 problem documents. " +
          "Clients ignore members that they do not know: within v1 changes are additive.",
        license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
      },
      servers: [{ url: options.serverUrl }],
      tags: tags.map((name) => ({ name, ...(tagDescriptions[name] ? { description: tagDescriptions[name] } : {}) })),
      paths,
      components: {
        securitySchemes: Object.fromEntries(Object.entries(securitySchemes).filter(([name]) => used.has(name))),
      },
    },
    {
      // Response objects stay open: clients must accept members that come later.
      override: ({ jsonSchema, zodSchema, io }) => {
        if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
        const example = options.examples[z.globalRegistry.get(zodSchema)?.id ?? ""];
        if (example !== undefined) jsonSchema.example ??= example;
      },
    },
  );
}

function describeOperation(endpoint: EndpointSpec): ZodOpenApiOperationObject {
  const names = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? "");
  const path =
    endpoint.params instanceof z.ZodObject
      ? endpoint.params
      : z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
  const query = endpoint.query instanceof z.ZodObject ? endpoint.query : undefined;
  const header = endpoint.idempotent ? idempotencyHeader : undefined;
  return {
    operationId: endpoint.id,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    ...(endpoint.permission ? { description: `Needs the permission \`${endpoint.permission}\`.` } : {}),
    security: securityOf[endpoint.credential],
    requestParams: {
      ...(names.length > 0 ? { path } : {}),
      ...(query ? { query } : {}),
      ...(header ? { header } : {}),
    },
    ...(endpoint.body ? { requestBody: describeBody(endpoint.body) } : {}),
    responses: { ...describeResponses(endpoint), ...describeProblems(endpoint) },
  };
}

const idempotencyHeader = z.object({
  "Idempotency-Key": z.string().min(1).max(255).optional().meta({
    description: "Makes a repeat of the request harmless: the first answer is kept for 24 hours and sent again.",
    example: "3f6f1f0a-5c1e-4a7b-9d7e-0d4b1f2a9c55",
  }),
});

function describeBody(body: BodySpec) {
  switch (body.kind) {
    case "json":
      return { required: body.optional !== true, content: { "application/json": { schema: body.schema } } };
    case "raw":
      return {
        required: true,
        content: Object.fromEntries(
          Object.keys(body.types).map((type) => [type, { schema: { type: "string" as const, format: "binary" } }]),
        ),
      };
    case "multipart":
      return { required: true, content: { "multipart/form-data": { schema: body.fields } } };
  }
}

const requestIdHeader = {
  "x-request-id": { schema: { type: "string" as const }, description: "Identifies this request in logs." },
};

function describeResponses({ responses }: EndpointSpec): Record<string, ZodOpenApiResponseObject> {
  return Object.fromEntries(Object.entries(responses).map(([status, spec]) => [status, describeResponse(spec)]));
}

function describeResponse(spec: ResponseSpec): ZodOpenApiResponseObject {
  const headers = { ...requestIdHeader };
  switch (spec.kind) {
    case "json":
      return {
        description: spec.description ?? "Done.",
        headers: {
          ...headers,
          ...Object.fromEntries(
            Object.entries(spec.headers ?? {}).map(([name, description]) => [
              name,
              { schema: { type: "string" as const }, description },
            ]),
          ),
        },
        content: { "application/json": { schema: spec.schema } },
      };
    case "bytes":
    case "stream":
      return {
        description: spec.description ?? "The file.",
        headers,
        content: Object.fromEntries(
          spec.types.map((type) => [type, { schema: { type: "string" as const, format: "binary" } }]),
        ),
      };
    case "events":
      return {
        description: spec.description ?? "Server-sent events.",
        headers,
        content: { "text/event-stream": { schema: { type: "string" as const } } },
      };
    case "empty":
      return { description: spec.description ?? "Done; no body.", headers };
  }
}

/** The codes that an operation may answer with, its own and those that follow from its shape, grouped by status. */
function describeProblems(endpoint: EndpointSpec): Record<string, ZodOpenApiResponseObject> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodesOf(endpoint)) {
    const { status } = problemKinds[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, codes]) => [
        String(status),
        {
          description: codes.map((code) => `\`${code}\`: ${problemKinds[code].detail}`).join("\n\n"),
          headers: requestIdHeader,
          content: { "application/problem+json": { schema: Problem } },
        },
      ]),
  );
}

/** Every error code that this operation can answer with. */
export function errorCodesOf(endpoint: EndpointSpec): ErrorCode[] {
  const codes = new Set<ErrorCode>(endpoint.errors);
  const bySession = endpoint.credential === "dashboard" || endpoint.credential === "person";
  if (endpoint.credential === "key" || bySession) codes.add("unauthorized");
  if (needsOrigin(endpoint)) codes.add("csrf-rejected");
  if (endpoint.credential === "signer" || endpoint.credential === "viewer") {
    for (const code of ["token-invalid", "token-expired", "token-used"] as const) codes.add(code);
  }
  if (endpoint.permission || bySession) codes.add("forbidden");
  if (endpoint.path.includes("{")) codes.add("not-found");
  if (endpoint.rateLimit) codes.add("rate-limited");
  if (endpoint.body) {
    for (const code of ["malformed-request", "payload-too-large", "unsupported-media-type"] as const) codes.add(code);
  }
  if (endpoint.body || !endpoint.foreignQuery) codes.add("validation-failed");
  if (endpoint.idempotent) {
    for (const code of ["invalid-idempotency-key", "idempotency-in-progress", "idempotency-key-reused"] as const)
      codes.add(code);
  }
  codes.add("internal-error");
  return [...codes];
}
