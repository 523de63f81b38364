import { z } from "zod";

/** The parts of an OpenAPI 3.1 document that the reference shows. */

export type Schema = {
  $ref?: string | undefined;
  type?: string | string[] | undefined;
  title?: string | undefined;
  description?: string | undefined;
  format?: string | undefined;
  enum?: unknown[] | undefined;
  const?: unknown;
  default?: unknown;
  example?: unknown;
  examples?: unknown[] | undefined;
  properties?: Record<string, Schema> | undefined;
  additionalProperties?: boolean | Schema | undefined;
  required?: string[] | undefined;
  items?: Schema | undefined;
  oneOf?: Schema[] | undefined;
  anyOf?: Schema[] | undefined;
  allOf?: Schema[] | undefined;
  minLength?: number | undefined;
  maxLength?: number | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  minItems?: number | undefined;
  maxItems?: number | undefined;
  pattern?: string | undefined;
};

const SchemaShape: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    title: z.string().optional(),
    description: z.string().optional(),
    format: z.string().optional(),
    enum: z.array(z.unknown()).optional(),
    examples: z.array(z.unknown()).optional(),
    properties: z.record(z.string(), SchemaShape).optional(),
    additionalProperties: z.union([z.boolean(), SchemaShape]).optional(),
    required: z.array(z.string()).optional(),
    items: SchemaShape.optional(),
    oneOf: z.array(SchemaShape).optional(),
    anyOf: z.array(SchemaShape).optional(),
    allOf: z.array(SchemaShape).optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    pattern: z.string().optional(),
  }),
);

const Media = z.looseObject({
  schema: SchemaShape.optional(),
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.looseObject({ value: z.unknown() })).optional(),
});
export type Media = z.infer<typeof Media>;
const Content = z.record(z.string(), Media);
const Parameter = z.looseObject({
  $ref: z.string().optional(),
  name: z.string().optional(),
  in: z.string().optional(),
  required: z.boolean().optional(),
  description: z.string().optional(),
  schema: SchemaShape.optional(),
});
export type Parameter = z.infer<typeof Parameter>;
const Response = z.looseObject({
  $ref: z.string().optional(),
  description: z.string().optional(),
  content: Content.optional(),
});
export type Response = z.infer<typeof Response>;
const Security = z.array(z.record(z.string(), z.array(z.string())));
const OperationShape = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()).optional(),
  summary: z.string().optional(),
  description: z.string().optional(),
  parameters: z.array(Parameter).optional(),
  requestBody: z.looseObject({ required: z.boolean().optional(), content: Content }).optional(),
  responses: z.record(z.string(), Response),
  security: Security.optional(),
});

export const OpenApi = z.looseObject({
  info: z.looseObject({ title: z.string(), version: z.string(), description: z.string().optional() }),
  tags: z.array(z.looseObject({ name: z.string(), description: z.string().optional() })).optional(),
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  webhooks: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  security: Security.optional(),
  components: z
    .looseObject({
      schemas: z.record(z.string(), SchemaShape).optional(),
      parameters: z.record(z.string(), Parameter).optional(),
      responses: z.record(z.string(), Response).optional(),
      securitySchemes: z
        .record(
          z.string(),
          z.looseObject({
            type: z.string(),
            scheme: z.string().optional(),
            in: z.string().optional(),
            name: z.string().optional(),
            description: z.string().optional(),
          }),
        )
        .optional(),
    })
    .optional(),
});
export type OpenApi = z.infer<typeof OpenApi>;

/** `isEvent`: the service calls, and its path is the type of event. */
export type Operation = z.infer<typeof OperationShape> & {
  method: string;
  path: string;
  tag: string;
  isEvent: boolean;
};

/** @throws when the answer is no OpenAPI document */
export async function loadOpenApi(signal: AbortSignal): Promise<OpenApi> {
  const response = await fetch("/openapi.json", { signal, headers: { accept: "application/json" } });
  if (!response.ok) throw new Error(`/openapi.json answered with status ${response.status}.`);
  return OpenApi.parse(await response.json());
}

const methods = ["get", "post", "put", "patch", "delete"];

/** All operations in the order of the document, then all events. */
export function operationsOf(api: OpenApi): Operation[] {
  const all = (items: OpenApi["paths"], isEvent: boolean) =>
    Object.entries(items).flatMap(([path, item]) =>
      methods.flatMap((method) => {
        const { data } = OperationShape.safeParse(item[method]);
        if (data === undefined) return [];
        const tag = isEvent ? "Events" : (data.tags?.[0] ?? "");
        return [{ ...data, method: method.toUpperCase(), path, tag, isEvent }];
      }),
    );
  return [...all(api.paths, false), ...all(api.webhooks ?? {}, true)];
}

/** The name at the end of a reference within the document. */
export const refName = (ref: string) => ref.slice(ref.lastIndexOf("/") + 1);

export function resolveSchema(api: OpenApi, schema: Schema): Schema {
  const target = schema.$ref === undefined ? undefined : api.components?.schemas?.[refName(schema.$ref)];
  return target ? resolveSchema(api, target) : schema;
}

export function resolveResponse(api: OpenApi, response: Response): Response {
  return (response.$ref !== undefined && api.components?.responses?.[refName(response.$ref)]) || response;
}

export function resolveParameter(api: OpenApi, parameter: Parameter): Parameter {
  return (parameter.$ref !== undefined && api.components?.parameters?.[refName(parameter.$ref)]) || parameter;
}
