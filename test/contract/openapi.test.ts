import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { endpoints } from "../../server/contract.ts";
import examples from "../../server/examples.json" with { type: "json" };
import { eventSchemas } from "../../server/features/webhooks/contract.ts";
import { eventExamples } from "../../server/features/webhooks/examples.ts";
import { Problem } from "../../server/kernel/problem.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { readWebhooks } from "../harness/event-schemas.ts";

type Node = Record<string, unknown>;
const published = endpoints.filter((endpoint) => endpoint.published !== false);
const Reference = z.looseObject({ $ref: z.string().optional() });
const Parameter = z.looseObject({ name: z.string(), in: z.string(), schema: z.looseObject({}) });
const Link = z.looseObject({
  operationId: z.string(),
  parameters: z.record(z.string(), z.string()).default({}),
  requestBody: z.record(z.string(), z.string()).optional(),
});
const Response = z.looseObject({
  headers: z.record(z.string(), z.looseObject({})).default({}),
  links: z.record(z.string(), Link).default({}),
});
const Operation = z.looseObject({
  operationId: z.string(),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z.array(Reference).default([]),
  requestBody: z.looseObject({ content: z.record(z.string(), z.looseObject({})) }).optional(),
  responses: z.record(z.string(), Reference),
});
const Document = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ version: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.looseObject({
    schemas: z.record(z.string(), z.looseObject({})),
    securitySchemes: z.record(z.string(), z.looseObject({})),
    headers: z.record(z.string(), z.looseObject({ description: z.string(), schema: z.looseObject({}) })),
    parameters: z.record(z.string(), z.looseObject({})),
    responses: z.record(z.string(), z.looseObject({})),
  }),
});

let appliance: TestAppliance;
let text: string;
let document: z.infer<typeof Document>;
beforeAll(async () => {
  appliance = await startAppliance();
  text = await (await appliance.call("/openapi.json", { key: null })).text();
  document = Document.parse(JSON.parse(text));
});
afterAll(() => appliance.stop());

/** What whoever verifies without an account must find. */
const forVerifiers = [
  "/v1/public/verify",
  "/v1/public/anchors",
  "/v1/public/anchors/latest",
  "/v1/public/anchors/{sequence}",
  "/v1/public/anchors/{sequence}/checkpoint",
  "/v1/public/anchors/{sequence}/witnesses",
  "/.well-known/svc/keys.json",
  "/.well-known/svc/certificates.pem",
  "/.well-known/svc/timestamp-certificates.pem",
  "/.well-known/svc/authorities/{authority}/certificate.cer",
  "/.well-known/svc/authorities/{authority}/revocation-list.crl",
];
it("the documentation names everything that verification needs, for anybody", () => {
  for (const route of forVerifiers) {
    const operation = Object.values(document.paths[route] ?? {})[0];
    expect({ route, security: operation?.security, tags: operation?.tags }).toEqual({
      route,
      security: [],
      tags: ["Verification"],
    });
  }
});

const operationOf = (method: string, route: string) => document.paths[route]?.[method.toLowerCase()];

/** What a reference into the components means; anything else is itself. */
function resolved(value: { $ref?: string | undefined }): Node {
  if (value.$ref === undefined) return value;
  const [kind = "", name = ""] = value.$ref.split("/").slice(-2);
  const found = z.record(z.string(), z.record(z.string(), z.looseObject({}))).parse(document.components)[kind]?.[name];
  if (!found) throw new Error(`${value.$ref} is nowhere`);
  return found;
}
const parametersOf = (method: string, route: string) =>
  (operationOf(method, route)?.parameters ?? []).map((parameter) => Parameter.parse(resolved(parameter)));
const responseOf = (method: string, route: string, status: number) => {
  const response = operationOf(method, route)?.responses[status];
  return response ? Response.parse(resolved(response)) : undefined;
};

/** Every schema object below, references followed once. */
function* nodesBelow(value: unknown, seen = new Set<unknown>()): Generator<Node> {
  if (value === null || typeof value !== "object" || seen.has(value)) return;
  seen.add(value);
  if (!Array.isArray(value)) {
    const node = value as Node;
    yield node;
    if (typeof node.$ref === "string") yield* nodesBelow(resolved({ $ref: node.$ref }), seen);
  }
  for (const [key, child] of Object.entries(value)) if (key !== "example") yield* nodesBelow(child, seen);
}

/** JSON schemas of endpoints by the id that they carry. */
function bodiesOf(io: "input" | "output"): Map<string, z.ZodType> {
  const found = new Map<string, z.ZodType>();
  const add = (schema: z.ZodType) => {
    const id = z.globalRegistry.get(schema)?.id;
    if (id !== undefined) found.set(id, schema);
    else if (schema instanceof z.ZodUnion)
      for (const option of schema.options) if (option instanceof z.ZodType) add(option);
  };
  for (const { body, responses } of published) {
    if (io === "input" && body?.kind === "json") add(body.schema);
    if (io === "input") continue;
    for (const response of Object.values(responses)) if (response.kind === "json") add(response.schema);
  }
  if (io === "output") add(Problem);
  return found;
}

describe("the description of the interface", () => {
  it("is OpenAPI 3.1.0 of version 1.0.0, in JSON and the same in YAML", async () => {
    expect([document.openapi, document.info.version]).toEqual(["3.1.0", "1.0.0"]);
    const yaml = await appliance.call("/openapi.yaml", { key: null });
    expect(yaml.headers.get("content-type")).toContain("yaml");
    expect(parse(await yaml.text())).toEqual(JSON.parse(text));
  });

  it("has every published operation and nothing else", () => {
    const described = Object.entries(document.paths).flatMap(([route, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => `${method.toUpperCase()} ${route} ${operationId}`),
    );
    expect(described.toSorted()).toEqual(
      published.map(({ method, path: route, id }) => `${method} ${route} ${id}`).toSorted(),
    );
    const ids = published.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("names exactly three ways to call with a key, and the right one elsewhere", () => {
    const expected: Record<string, string[]> = {
      key: ["apiKeyHeader", "bearerApiKey", "sessionCookie"],
      dashboard: ["sessionCookie"],
      person: ["sessionCookie"],
      signer: ["signerToken"],
      viewer: ["viewerToken"],
      public: [],
    };
    for (const { method, path: route, credential } of published) {
      const schemes = operationOf(method, route)?.security.flatMap((scheme) => Object.keys(scheme)) ?? [];
      expect(schemes.toSorted(), `${method} ${route}`).toEqual(expected[credential]);
    }
    expect(document.components.securitySchemes).toMatchObject({
      bearerApiKey: { type: "http", scheme: "bearer" },
      apiKeyHeader: { type: "apiKey", in: "header", name: "x-api-key" },
      sessionCookie: { type: "apiKey", in: "cookie" },
    });
  });

  it("has Idempotency-Key exactly on the operations that take it", () => {
    for (const { method, path: route, idempotent } of published) {
      const names = parametersOf(method, route).map(({ name }) => name);
      expect(names.includes("Idempotency-Key"), `${method} ${route}`).toBe(idempotent === true);
    }
  });

  it("says what a page may hold as the number that it is", () => {
    const listed = published.filter(({ query }) => query instanceof z.ZodObject && "limit" in query.shape);
    expect(listed.length).toBeGreaterThan(4);
    for (const { method, path: route } of listed) {
      const parameters = new Map(parametersOf(method, route).map(({ name, schema }) => [name, schema]));
      expect(parameters.get("limit")).toMatchObject({ type: "integer", minimum: 1, maximum: 100 });
      expect(parameters.get("cursor")).toMatchObject({ type: "string", maxLength: 200, pattern: "^[A-Za-z0-9_-]+$" });
    }
  });

  it("has a header of requests where it is read, and the answers that follow from it", () => {
    const statuses = (method: string, route: string) => Object.keys(operationOf(method, route)?.responses ?? {});
    for (const { method, path: route, responses, errors, cache } of published) {
      const names = parametersOf(method, route).map(({ name }) => name);
      const kinds = Object.values(responses).map(({ kind }) => kind);
      const inParts = method === "GET" && kinds.includes("bytes");
      const name = `${method} ${route}`;
      expect(names.includes("Range") && names.includes("If-Range"), name).toBe(inParts);
      expect(statuses(method, route).includes("206"), name).toBe(inParts);
      expect(statuses(method, route).includes("416"), name).toBe(inParts);
      expect(names.includes("If-None-Match"), name).toBe(inParts || cache !== undefined);
      expect(statuses(method, route).includes("304"), name).toBe(inParts || cache !== undefined);
      expect(names.includes("If-Match"), name).toBe(errors?.includes("precondition-failed") === true);
      expect(statuses(method, route).includes("412"), name).toBe(errors?.includes("precondition-failed") === true);
      expect(names.includes("Last-Event-ID"), name).toBe(kinds.includes("events"));
      for (const status of ["405", "422", "500", "503"]) expect(statuses(method, route), name).toContain(status);
    }
  });

  it("has the headers of answers: each once, and with the status that they come with", () => {
    for (const { method, path: route, idempotent, rateLimit } of published) {
      for (const status of Object.keys(operationOf(method, route)?.responses ?? {}).map(Number)) {
        const headers = responseOf(method, route, status)?.headers ?? {};
        const name = `${method} ${route} ${status}`;
        expect(headers["x-request-id"], name).toEqual({ $ref: "#/components/headers/x-request-id" });
        if (status === 401) expect(headers, name).toHaveProperty("WWW-Authenticate");
        if (status === 405) expect(headers, name).toHaveProperty("Allow");
        if (status === 206 || status === 416) expect(headers, name).toHaveProperty("Content-Range");
        if (status === 206 || status === 304) expect(headers, name).toHaveProperty("ETag");
        if (status === 429 || status === 503) expect(headers, name).toHaveProperty("Retry-After");
        if (rateLimit && status !== 405)
          for (const part of ["Limit", "Remaining", "Reset"]) expect(headers, name).toHaveProperty(`RateLimit-${part}`);
        if (status < 300) expect("Idempotent-Replayed" in headers, name).toBe(idempotent === true);
      }
    }
    expect(responseOf("POST", "/v1/envelopes", 200)?.headers).toHaveProperty("x-deduplicated");
    expect(text.length).toBeLessThan(500_000);
  });

  it("links what creates a thing to what reads, changes and deletes it", () => {
    const linked = new Map<string, Set<string>>();
    for (const { method, path: route, id } of published) {
      for (const status of Object.keys(operationOf(method, route)?.responses ?? {}).map(Number)) {
        for (const { operationId, parameters } of Object.values(responseOf(method, route, status)?.links ?? {})) {
          const to = published.find((one) => one.id === operationId);
          const needed = [...(to?.path.matchAll(/\{(\w+)\}/g) ?? [])].map(([, name]) => name);
          expect(Object.keys(parameters).toSorted(), `${id} to ${operationId}`).toEqual(needed.toSorted());
          linked.set(operationId, (linked.get(operationId) ?? new Set()).add(id));
        }
      }
    }
    // What is found by other means: the file of a signer, the link of a mail, the addresses in a certificate.
    const unlinked = ["getAttachment", "downloadDocument", "getAuthorityCertificate", "getRevocationList"];
    const found = published.filter(({ path: route }) => route.includes("{")).map(({ id }) => id);
    expect(found.filter((id) => !linked.has(id)).toSorted()).toEqual(unlinked.toSorted());
    expect(linked.get("resendToRecipient")).toContain("createEnvelope");
    expect(linked.get("deleteViewer")).toEqual(new Set(["createEnvelope", "addViewers"]));
    expect(linked.get("renderTemplate")).toEqual(new Set(["saveTemplateDraft", "publishTemplate"]));
    expect(linked.get("exchangeSigningToken")).toEqual(new Set(["createSigningSession"]));
  });

  it("has patterns that other languages read: no class that depends on the dialect", () => {
    for (const node of nodesBelow([document.paths, document.components])) {
      if (typeof node.pattern !== "string") continue;
      expect(() => new RegExp(String(node.pattern), "u")).not.toThrow();
      expect(node.pattern).not.toMatch(/\\[dDsSwWpPbB]/);
    }
    const patterns = [...nodesBelow(document)].map(({ pattern }) => pattern).filter((one) => typeof one === "string");
    const python = "import json, re, sys; [re.compile(one) for one in json.load(sys.stdin)]";
    execFileSync("python3", ["-c", python], { input: JSON.stringify(patterns) });
  });

  it("closes requests and leaves answers open", () => {
    for (const { method, path: route, body } of published) {
      const operation = operationOf(method, route);
      for (const node of nodesBelow(operation?.responses)) {
        expect(node.additionalProperties, `${method} ${route}: ${JSON.stringify(node).slice(0, 200)}`).not.toBe(false);
      }
      if (body?.kind !== "json") continue;
      for (const node of nodesBelow(operation?.requestBody)) {
        if (node.properties === undefined) continue;
        expect(node.additionalProperties, `${method} ${route}: ${JSON.stringify(node).slice(0, 200)}`).toBe(false);
      }
    }
  });

  it.each(["input", "output"] as const)("shows an example of every %s that its schema accepts", (io) => {
    const bodies = bodiesOf(io);
    expect(bodies.size).toBeGreaterThan(10);
    for (const [id, schema] of bodies) {
      const { example } = document.components.schemas[id] ?? {};
      expect(example, `${id} has no example`).toBeDefined();
      const parsed = schema.safeParse(example);
      expect(parsed.success, `${id}: ${parsed.error?.message}`).toBe(true);
    }
  });

  it("has no example that belongs to nothing", () => {
    for (const id of Object.keys(examples)) expect(Object.keys(document.components.schemas)).toContain(id);
    expect(text).not.toMatch(/svc[a-z]*_(?!0{43})[0-9A-Za-z]{40,}/);
  });

  it("has a webhook for every type of event that is sent, with the headers and a schema of its own", () => {
    const { webhooks } = readWebhooks(JSON.parse(text));
    expect(Object.keys(webhooks).toSorted()).toEqual(Object.keys(eventSchemas).toSorted());
    const refs = new Set<string>();
    for (const { post } of Object.values(webhooks)) {
      refs.add(post.requestBody.content["application/json"].schema.$ref);
      expect(Object.keys(post.responses)).toEqual(["2XX"]);
      expect(post.parameters.map((parameter) => resolved(parameter))).toMatchObject(
        ["webhook-id", "webhook-timestamp", "webhook-signature", "user-agent"].map((name) => ({
          name,
          in: "header",
          required: true,
        })),
      );
    }
    expect(refs.size).toBe(Object.keys(eventSchemas).length);
    for (const node of nodesBelow(Object.values(webhooks))) expect(node.additionalProperties).not.toBe(false);
    const ids = [...published.map(({ id }) => id), ...Object.values(webhooks).map(({ post }) => post.operationId)];
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(Object.entries(eventSchemas))("shows an example of %s that its schema accepts", (type, schema) => {
    const { webhooks, complaints } = readWebhooks(JSON.parse(text));
    const { example } = webhooks[type]?.post.requestBody.content["application/json"] ?? {};
    expect(example).toEqual(new Map<string, unknown>(Object.entries(eventExamples)).get(type));
    expect(schema.parse(example)).toEqual(example);
    expect(complaints(type, example)).toEqual([]);
    expect(complaints(type, { ...Object(example), type: "x", data: {} })).not.toEqual([]);
  });

  it("tells one life in its examples: states and moments that follow each other", () => {
    const life = [
      "envelope.created",
      "envelope.ready",
      "recipient.sent",
      "recipient.viewed",
      "recipient.signed",
    ] as const;
    const events = [...life, "envelope.completed" as const, "envelope.sealed" as const].map(
      (type) => eventExamples[type],
    );
    expect(new Set(events.map(({ data }) => data.envelope?.id)).size).toBe(1);
    expect(new Set(Object.values(eventExamples).map(({ id }) => id)).size).toBe(Object.keys(eventExamples).length);
    expect(events.map(({ createdAt }) => createdAt)).toEqual(events.map(({ createdAt }) => createdAt).toSorted());
    for (const { createdAt, data } of Object.values(eventExamples))
      if (data.envelope !== null) expect(data.envelope.updatedAt).toBe(createdAt);
    expect(events.map(({ data }) => data.envelope?.status)).toEqual([
      "rendering",
      ...Array(4).fill("sent"),
      "completed",
      "completed",
    ]);
  });

  it("passes the linter", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "signet-openapi-"));
    const file = path.join(folder, "openapi.json");
    await writeFile(file, text);
    const bin = createRequire(import.meta.url).resolve("@redocly/cli/bin/cli.js");
    const args = [
      bin,
      "lint",
      file,
      "--format=json",
      "--config",
      path.resolve(import.meta.dirname, "../../redocly.yaml"),
    ];
    const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
    const output = execFileSync(process.execPath, args, { env, stdio: ["ignore", "pipe", "ignore"] }).toString();
    await rm(folder, { recursive: true });
    const { totals, problems } = z
      .looseObject({
        totals: z.object({ errors: z.number(), warnings: z.number(), ignored: z.number() }),
        problems: z.array(z.unknown()),
      })
      .parse(JSON.parse(output.slice(output.indexOf("{"))));
    expect(totals, JSON.stringify(problems).slice(0, 2000)).toEqual({ errors: 0, warnings: 0, ignored: 0 });
  });
});
