import { type Media, type OpenApi, resolveSchema, type Schema } from "./openapi.ts";

/** The example that the document gives for a body, else one made from the schema. */
export function exampleOf(api: OpenApi, media: Media): unknown {
  if (media.example !== undefined) return media.example;
  const named = Object.values(media.examples ?? {})[0];
  if (named) return named.value;
  return media.schema ? made(api, media.schema, 0) : undefined;
}

const deepest = 6;

function made(api: OpenApi, given: Schema, depth: number): unknown {
  const schema = resolveSchema(api, given);
  if (schema.example !== undefined) return schema.example;
  if (schema.examples?.length) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum?.length) return schema.enum[0];
  const choice = schema.oneOf ?? schema.anyOf;
  if (choice) {
    const first = choice.find((option) => resolveSchema(api, option).type !== "null") ?? choice[0];
    return first ? made(api, first, depth) : null;
  }
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => made(api, part, depth)));
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== "null") : schema.type;
  switch (type) {
    case "object":
      return depth > deepest ? {} : object(api, schema, depth);
    case "array":
      return schema.items && depth <= deepest ? [made(api, schema.items, depth + 1)] : [];
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return false;
    case "null":
      return null;
    case "string":
      return text(schema);
    default:
      return schema.properties ? object(api, schema, depth) : null;
  }
}

function object(api: OpenApi, schema: Schema, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, member]) => [name, made(api, member, depth + 1)]),
  );
}

function text(schema: Schema): string {
  switch (schema.format) {
    case "date-time":
      return "2026-11-21T09:10:00.000Z";
    case "date":
      return "2026-11-21";
    case "email":
      return "ada@example.com";
    case "uri":
      return "https://example.com";
    default:
      return "…";
  }
}
