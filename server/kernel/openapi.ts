import { z } from "zod";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from "zod-openapi";
import type { Credential } from "./caller.ts";
import type { BodySpec, EndpointSpec } from "./endpoint.ts";
import { linksOf } from "./openapi-links.ts";
import {
  type DescribedResponse,
  requestHeaders,
  requestHeadersOf,
  responsesOf,
  sharedHeaders,
} from "./openapi-responses.ts";
import { describeText } from "./openapi-texts.ts";
import { describeWebhooks, sendBodies, type WebhookSpec, webhookHeaders } from "./openapi-webhooks.ts";
import { textPatterns } from "./text-patterns.ts";
import { shownOrganizationHeader } from "./wire.ts";

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
  Webhooks: "Where events are posted to as they happen, what was sent, and sending it again.",
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
  webhooks: readonly WebhookSpec[];
};

/** OpenAPI 3.1.0 of the published endpoints and the webhooks, in the order of the lists. */
export function describeApi(endpoints: readonly EndpointSpec[], options: DescribeOptions): OpenApiDocument {
  const published = endpoints.filter((endpoint) => endpoint.published !== false);
  const paths: ZodOpenApiPathsObject = {};
  const responses = describeResponses(published);
  for (const endpoint of published) {
    const operation = { ...describeOperation(endpoint), responses: responses(endpoint) };
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operation };
  }
  const tags = [...new Set(published.map((endpoint) => endpoint.tag))];
  const used = new Set(
    published.flatMap((endpoint) => securityOf[endpoint.credential].flatMap((scheme) => Object.keys(scheme))),
  );
  const document = createDocument(
    {
      openapi: "3.1.0",
      info: {
        title: "Signet API",
        version: "1.0.0",
        description:
          "Send documents to be signed, watch them, and prove them. Errors are RFC 9457 problem documents. " +
          "Clients ignore members that they do not know: within v1 changes are additive.\n\n" +
          "`Accept-Language` chooses the language of `detail`. What is read with `GET` can be asked for with `HEAD`, too. " +
          "Entries with `additionalProperties: false` and parameters that an operation does not name are refused with 422.",
        license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
      },
      servers: [{ url: options.serverUrl }],
      tags: tags.map((name) => ({ name, ...(tagDescriptions[name] ? { description: tagDescriptions[name] } : {}) })),
      paths,
      webhooks: describeWebhooks(options.webhooks),
      components: {
        headers: sharedHeaders,
        parameters: Object.fromEntries(
          Object.entries({ ...requestHeaders, ...webhookHeaders }).map(([name, header]) => [
            name,
            { in: "header" as const, name, ...header },
          ]),
        ),
        securitySchemes: Object.fromEntries(Object.entries(securitySchemes).filter(([name]) => used.has(name))),
      },
    },
    {
      // Response objects stay open: clients must accept members that come later.
      override: ({ jsonSchema, zodSchema, io }) => {
        if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
        describeText(jsonSchema, io);
        const example = options.examples[z.globalRegistry.get(zodSchema)?.id ?? ""];
        if (example !== undefined) jsonSchema.example ??= example;
      },
    },
  );
  freeParameters(document);
  sendBodies(document);
  return document;
}

/** What no text may hold is taken in a path, where it finds nothing. */
function freeParameters({ paths }: OpenApiDocument): void {
  for (const { parameters = [] } of Object.values(paths ?? {}).flatMap((item) => Object.values(item))) {
    for (const { in: place, schema } of parameters)
      if (place === "path" && schema?.pattern === textPatterns.lines) delete schema.pattern;
  }
}

function describeOperation(endpoint: EndpointSpec): Omit<ZodOpenApiOperationObject, "responses"> {
  const names = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? "");
  const path =
    endpoint.params instanceof z.ZodObject
      ? endpoint.params
      : z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
  const query = endpoint.query instanceof z.ZodObject ? endpoint.query : undefined;
  const headers = requestHeadersOf(endpoint).map((name) => ({ $ref: `#/components/parameters/${name}` }));
  return {
    operationId: endpoint.id,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    ...(endpoint.permission ? { description: `Needs the permission \`${endpoint.permission}\`.` } : {}),
    security: securityOf[endpoint.credential],
    requestParams: { ...(names.length > 0 ? { path } : {}), ...(query ? { query } : {}) },
    ...(headers.length > 0 ? { parameters: headers } : {}),
    ...(endpoint.body ? { requestBody: describeBody(endpoint.body) } : {}),
  };
}

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

type Responses = Record<string, DescribedResponse["response"]>;

/** Gives the responses of each operation. A problem that several answer alike is one object, which stands in the components. */
function describeResponses(endpoints: readonly EndpointSpec[]): (endpoint: EndpointSpec) => Responses {
  const described = new Map(endpoints.map((endpoint) => [endpoint, [...responsesOf(endpoint)]]));
  const first = new Map<string, DescribedResponse>();
  const keyOf = ({ codes, response }: DescribedResponse) => `${codes} ${Object.keys(response.headers)}`;
  for (const [, one] of [...described.values()].flat()) {
    if (one.codes.length === 0) continue;
    const known = first.get(keyOf(one));
    if (!known) first.set(keyOf(one), one);
    else known.response.id ??= idOf(one);
  }
  return (endpoint) =>
    Object.fromEntries(
      (described.get(endpoint) ?? []).map(([status, one]) => {
        const links = linksOf(endpoint, status, endpoints);
        const { response } = first.get(keyOf(one)) ?? one;
        return [status, Object.keys(links).length > 0 ? { ...response, links } : response];
      }),
    );
}

/** The codes name a problem, and the headers that only some operations send. */
function idOf({ codes, response }: DescribedResponse): string {
  const more = {
    [shownOrganizationHeader]: "session",
    "RateLimit-Limit": "limited",
    "Idempotent-Replayed": "replayable",
  };
  return [...codes, ...Object.entries(more).flatMap(([name, word]) => (name in response.headers ? [word] : []))].join(
    ".",
  );
}
