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
import { Problem } from "../../server/kernel/problem.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";

type Node = Record<string, unknown>;
const published = endpoints.filter((endpoint) => endpoint.published !== false);
const Operation = z.looseObject({
  operationId: z.string(),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z.array(z.looseObject({ name: z.string(), in: z.string() })).default([]),
  requestBody: z.looseObject({ content: z.record(z.string(), z.looseObject({})) }).optional(),
  responses: z.record(z.string(), z.looseObject({})),
});
const Document = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ version: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.looseObject({
    schemas: z.record(z.string(), z.looseObject({})),
    securitySchemes: z.record(z.string(), z.looseObject({})),
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

/** Every schema object below, references followed once. */
function* nodesBelow(value: unknown, seen = new Set<unknown>()): Generator<Node> {
  if (value === null || typeof value !== "object" || seen.has(value)) return;
  seen.add(value);
  if (!Array.isArray(value)) {
    const node = value as Node;
    yield node;
    const name = typeof node.$ref === "string" ? (node.$ref.split("/").at(-1) ?? "") : null;
    if (name !== null) yield* nodesBelow(document.components.schemas[name], seen);
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
      const names = operationOf(method, route)?.parameters.map(({ name }) => name) ?? [];
      expect(names.includes("Idempotency-Key"), `${method} ${route}`).toBe(idempotent === true);
    }
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
