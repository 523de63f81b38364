import { z } from "zod";
import { Event } from "../server/features/webhooks/contract.ts";
import { type EndpointSpec, endpoint } from "../server/kernel/endpoint.ts";
import { describeApi } from "../server/kernel/openapi.ts";
import { Problem } from "../server/kernel/problem.ts";
import type { SdkOperation } from "./sdk-operations.ts";

/** TypeScript declarations of the SDK's operations, made from the interface description, so that they need no other package. */

/** As much of JSON Schema (2020-12) as the interface description uses. Another keyword that restricts a type fails the build. */
const Schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  description: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  allOf: z.array(z.unknown()).optional(),
});
type Schema = z.infer<typeof Schema>;
const unknownToUs = ["not", "if", "then", "else", "prefixItems", "patternProperties", "dependentSchemas"];

const Content = z.object({ content: z.record(z.string(), z.object({ schema: Schema.optional() })).optional() });
const Operation = z.object({
  summary: z.string(),
  description: z.string().optional(),
  parameters: z
    .array(
      z.object({
        in: z.string().optional(),
        name: z.string().optional(),
        required: z.boolean().optional(),
        description: z.string().optional(),
        schema: Schema.optional(),
      }),
    )
    .default([]),
  requestBody: Content.extend({ required: z.boolean().optional() }).optional(),
  responses: z.record(z.string(), Content),
});
type Operation = z.infer<typeof Operation>;
const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), Schema) }),
});

/** Carries types that no operation answers with, but that a client gets. */
const extra = () =>
  endpoint({
    method: "GET",
    path: "/extra",
    id: "extra",
    tag: "",
    summary: "",
    credential: "public",
    responses: { 200: { kind: "json", schema: Event }, 201: { kind: "json", schema: Problem } },
  });

/** The text of `api.d.ts`. */
export function typesOf(endpoints: readonly EndpointSpec[], operations: readonly SdkOperation[]): string {
  const described = describeApi([...endpoints, extra()], {
    serverUrl: "https://sign.example.com",
    examples: {},
    webhooks: [],
  });
  const { paths, components } = Document.parse(JSON.parse(JSON.stringify(described)));
  const types = createTypes(components.schemas);
  const operationOf = ({ method, path }: { method: string; path: string }): Operation => {
    const found = paths[path]?.[method.toLowerCase()];
    if (!found) throw new Error(`${method} ${path} is not in the interface description`);
    return found;
  };

  const event = types.write(jsonOf(operationOf({ method: "GET", path: "/extra" }), "200"));
  const problem = types.name("Problem");
  const groups = new Map<string, string[]>();
  const queries: string[] = [];
  for (const { endpoint, operation } of operations) {
    const { method, query } = methodOf(endpoint, operation, operationOf(endpoint), types);
    groups.set(operation.group, [...(groups.get(operation.group) ?? []), method]);
    if (query !== null) queries.push(query);
  }
  const interfaces = [...groups].map(
    ([group, methods]) => `export interface ${apiOf(group)} {\n${methods.map(indent).join("\n")}\n}`,
  );
  const resources = [...groups.keys()].map((group) => `  readonly ${group}: ${apiOf(group)};`);
  const { declarations, rewrite } = merged(types.declared);
  return [
    'import type { CallOptions, DownloadedFile, FileContent, FollowOptions, IdempotentOptions, StreamedFile } from "./options.js";',
    'import type { List } from "./pages.js";',
    `/** The groups of operations. */\nexport interface Resources {\n${resources.join("\n")}\n}`,
    ...interfaces.map(rewrite),
    ...queries.map(rewrite),
    ...declarations,
    `/** The codes of errors. New ones can come with every version of the service. */\nexport type ErrorCode = ${problem}["code"];`,
    ...(event === "WebhookEvent" ? [] : [`export type WebhookEvent = ${rewrite(event)};`]),
  ].join("\n\n");
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const apiOf = (group: string): string => `${capitalized(group)}Api`;
const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, "  ");
const comment = (...lines: (string | undefined)[]): string => {
  const text = lines.filter((line) => line !== undefined && line !== "").join("\n * ");
  if (text === "") return "";
  const safe = text.replaceAll("*/", "*\\/");
  return safe.includes("\n") ? `/**\n * ${safe}\n */\n` : `/** ${safe} */\n`;
};
const isName = (text: string): boolean => /^[A-Za-z_$][\w$]*$/.test(text);
const property = (name: string): string => (isName(name) ? name : JSON.stringify(name));

type Types = ReturnType<typeof createTypes>;

/** Writes schemas as types; those with names once, and only those that something refers to. */
function createTypes(schemas: Readonly<Record<string, Schema>>) {
  const declared = new Map<string, string>();

  function name(id: string): string {
    // Schemas without a name of their own have numbers.
    const type = id.replace(/^__schema(\d+)$/, "Schema$1");
    if (declared.has(type)) return type;
    const schema = schemas[id];
    if (schema === undefined) throw new Error(`the interface description has no schema ${id}`);
    // Before it is written: it may refer to itself.
    declared.set(type, "");
    declared.set(type, `${comment(schema.description)}export type ${type} = ${write(schema)};`);
    return type;
  }

  function write(given: unknown): string {
    if (given === true || given === undefined) return "unknown";
    const schema = Schema.parse(given);
    const foreign = unknownToUs.find((keyword) => keyword in schema);
    if (foreign !== undefined) throw new Error(`the SDK's types do not know ${foreign}`);
    if (schema.$ref !== undefined) return name(nameIn(schema.$ref));
    if ("const" in schema) return JSON.stringify(schema.const);
    if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
    const union = schema.anyOf ?? schema.oneOf;
    if (union) return unionOf(union.map(write));
    if (schema.allOf) return schema.allOf.map((one) => `(${write(one)})`).join(" & ");
    return unionOf([schema.type ?? []].flat().map((type) => writePlain(type, schema)));
  }

  const unionOf = (types: string[]): string => (types.length === 0 ? "unknown" : [...new Set(types)].join(" | "));

  function writePlain(type: string, schema: Schema): string {
    switch (type) {
      case "integer":
        return "number";
      case "array": {
        const item = write(schema.items);
        return isName(item) ? `${item}[]` : `(${item})[]`;
      }
      case "object":
        return writeObject(schema);
      case "string":
      case "number":
      case "boolean":
      case "null":
        return type;
      default:
        throw new Error(`the SDK's types do not know the type ${type}`);
    }
  }

  function writeObject({ properties, required = [], additionalProperties }: Schema): string {
    if (!properties) return `{ [name: string]: ${write(additionalProperties)} }`;
    const members = Object.entries(properties).map(([member, schema]) =>
      memberOf(member, schema, required.includes(member), write),
    );
    return members.length === 0 ? "Record<string, never>" : `{\n${members.map(indent).join("\n")}\n}`;
  }

  /** The type of the entries of a page. */
  function itemOf(page: Schema): string {
    const { properties } = page.$ref === undefined ? page : (schemas[nameIn(page.$ref)] ?? {});
    return write(Schema.parse(properties?.data).items);
  }

  return { name, write, itemOf, declared };
}

const nameIn = (reference: string): string => reference.replace("#/components/schemas/", "");

/**
 * The interface description says of a schema what is sent and what is answered (`Box`, `BoxOutput`). Where a client sees no
 * difference, there is one type.
 * @returns the declarations, and what rewrites a text that names types
 */
function merged(declared: ReadonlyMap<string, string>): { declarations: string[]; rewrite: (text: string) => string } {
  const same = new Map<string, string>();
  for (const name of declared.keys()) {
    const base = name.replace(/Output$/, "").replace(/^Schema\d+$/, "Schema0");
    if (base !== name && declared.has(base)) same.set(name, base);
  }
  const rewrite = (text: string): string =>
    text.replaceAll(/\b(\w+Output|Schema\d+)\b/g, (name) => same.get(name) ?? name);
  const differs = ([name, base]: [string, string]): boolean =>
    rewrite(declared.get(name) ?? "") !== rewrite(declared.get(base) ?? "");
  // All are the same until they are found to differ, and with them what is made of them.
  for (let found = [...same].filter(differs); found.length > 0; found = [...same].filter(differs))
    for (const [name] of found) same.delete(name);
  const kept = [...declared].filter(([name]) => !same.has(name));
  return { declarations: kept.map(([, text]) => rewrite(text)), rewrite };
}

function memberOf(name: string, given: unknown, isRequired: boolean, write: (schema: unknown) => string): string {
  const { description } = Schema.parse(given);
  const type = write(given);
  return `${comment(description)}${property(name)}${isRequired ? `: ${type}` : `?: ${type} | undefined`};`;
}

/** The declaration of an operation's method, and of its query, which has a name of its own. */
function methodOf(
  endpoint: EndpointSpec,
  operation: SdkOperation["operation"],
  described: Operation,
  types: Types,
): { method: string; query: string | null } {
  const placed = described.parameters.filter((one) => one.in === "path" || one.in === "query");
  const path = placed.filter((one) => one.in === "path");
  const inQuery = placed.filter((one) => one.in === "query");
  const queryName = `${capitalized(operation.group)}${capitalized(operation.name)}Query`;
  const query = inQuery.map(({ name = "", schema, description, required = false }) =>
    memberOf(name, { ...schema, description }, required, (one) => types.write(asInQuery(one))),
  );
  const needsQuery = inQuery.some(({ required }) => required);
  const options = optionsOf(operation);
  const parameters = [
    ...namesIn(operation.path).map((name) => {
      const pattern = path.find((one) => one.name === name)?.schema?.pattern;
      // What counts may be given as a number.
      return `${name}: ${typeof pattern === "string" && /[0-9]|\\d/.test(pattern) ? "string | number" : "string"}`;
    }),
    ...bodyOf(endpoint, described, types),
    ...(operation.query && operation.method === "GET" ? [`query${needsQuery ? "" : "?"}: ${queryName}`] : []),
  ];
  const say = [`${described.summary}.`, described.description, `\`${operation.method} ${operation.path}\``];
  const call = (more: readonly string[], answer: string) =>
    `${comment(...say)}${operation.name}(${[...parameters, ...more].join(", ")}): ${answer};`;
  const declaration = operation.query ? `export type ${queryName} = {\n${query.map(indent).join("\n")}\n};` : null;
  if (!operation.query || operation.method === "GET")
    return {
      method: call([`options?: ${options}`], answerOf({ endpoint, operation }, described, types)),
      query: declaration,
    };
  const usual = answerOf({ endpoint, operation }, described, types);
  return { method: withQueryInOptions(call, { options, queryName, described, usual, types }), query: declaration };
}

const namesIn = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => name ?? []);

/** `0|1|true|false` is what the service reads; a program has booleans. */
function asInQuery(schema: unknown): unknown {
  const { enum: values, ...rest } = Schema.parse(schema);
  return values?.join() === "0,1,true,false" ? { ...rest, type: "boolean" } : schema;
}

/** Of operations that write. One with `dry_run` answers otherwise when that is asked for. */
function withQueryInOptions(
  call: (more: readonly string[], answer: string) => string,
  {
    options,
    queryName,
    described,
    usual,
    types,
  }: { options: string; queryName: string; described: Operation; usual: string; types: Types },
): string {
  const isDryRun = described.parameters.some(({ name }) => name === "dry_run");
  if (!isDryRun) return call([`options?: ${options} & { query?: ${queryName} | undefined }`], usual);
  const asked = jsonOf(described, "200");
  const others = (asked.anyOf ?? [asked]).map(types.write).filter((type) => `Promise<${type}>` !== usual);
  return [
    call([`options: ${options} & { query: ${queryName} & { dry_run: true } }`], `Promise<${others.join(" | ")}>`),
    call([`options?: ${options} & { query?: (${queryName} & { dry_run?: false | undefined }) | undefined }`], usual),
  ].join("\n");
}

function optionsOf({ answer, idempotent, ifMatch, body, types = [] }: SdkOperation["operation"]): string {
  const base = answer === "events" ? "FollowOptions" : idempotent ? "IdempotentOptions" : "CallOptions";
  const contentType = types.map((type) => JSON.stringify(type)).join(" | ");
  return [
    base,
    ...(ifMatch ? ["{ /** `etag` that the resource must still have. */ ifMatch?: string | undefined }"] : []),
    ...(body === "raw" ? [`{ contentType?: ${contentType} | undefined; filename?: string | undefined }`] : []),
  ].join(" & ");
}

function bodyOf({ body }: EndpointSpec, { requestBody }: Operation, types: Types): string[] {
  if (body === undefined) return [];
  if (body.kind === "raw") return ["file: FileContent"];
  const schema = requestBody?.content?.["application/json"]?.schema;
  return [`body${requestBody?.required === false ? "?" : ""}: ${types.write(schema)}`];
}

function answerOf({ endpoint, operation }: SdkOperation, described: Operation, types: Types): string {
  const status = ["201", "200", "202", "204"].find((one) => described.responses[one]?.content !== undefined) ?? "204";
  switch (operation.answer) {
    case "empty":
      return "Promise<void>";
    case "bytes":
      return "Promise<DownloadedFile>";
    case "stream":
      return "Promise<StreamedFile>";
    case "events":
      return `AsyncGenerator<${types.name(eventOf(endpoint))}, void, undefined>`;
    case "json":
      return `Promise<${types.write(jsonOf(described, status))}>`;
    case "list": {
      const page = jsonOf(described, status);
      return `List<${types.itemOf(page)}, ${types.write(page)}>`;
    }
  }
}

/** Name of the schema of each event. */
function eventOf({ id, responses }: EndpointSpec): string {
  const stream = Object.values(responses).find(({ kind }) => kind === "events");
  const name = stream?.kind === "events" ? z.globalRegistry.get(stream.schema)?.id : undefined;
  if (name === undefined) throw new Error(`${id}: the schema of its events has no name`);
  return name;
}

function jsonOf({ responses }: Operation, status: string): Schema {
  const schema = responses[status]?.content?.["application/json"]?.schema;
  if (schema === undefined) throw new Error(`the interface description has no JSON for ${status}`);
  return schema;
}
