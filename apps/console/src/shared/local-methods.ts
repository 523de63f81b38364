import { z } from "zod";
import type { EndpointSpec } from "../../../../server/kernel/endpoint.ts";
import { localEndpoints } from "../../../../server/local-contract.ts";
import { FileName, SubscriptionId } from "./native.ts";

/** The methods that pass a call on to the appliance: one an endpoint of its admin socket, by the endpoint's own schemas. */

/**
 * - `call`: JSON or nothing comes back
 * - `follow`: events come until the end, as messages to the window
 * - `save`: bytes come, and go into a file that the person names
 */
export type LocalKind = "call" | "follow" | "save";
export type LocalMethod = {
  name: string;
  kind: LocalKind;
  endpoint: EndpointSpec;
  input: z.ZodType;
  output: z.ZodType;
};

/** The name of an endpoint's method. */
export function localName({ id, responses }: EndpointSpec): string {
  const kind = kindOf({ responses });
  return kind === "call" ? `local.${id}` : `local.${kind}.${id}`;
}

function kindOf({ responses }: Pick<EndpointSpec, "responses">): LocalKind {
  const kinds = Object.values(responses).map(({ kind }) => kind);
  if (kinds.includes("events")) return "follow";
  return kinds.includes("bytes") || kinds.includes("stream") ? "save" : "call";
}

function inputOf({ params, query, body }: EndpointSpec): z.ZodType {
  return z.strictObject({
    ...(params ? { params } : {}),
    ...(query ? { query: query.optional() } : {}),
    ...(body?.kind === "json" ? { body: body.optional ? body.schema.optional() : body.schema } : {}),
  });
}

function answerOf({ responses }: EndpointSpec): z.ZodType {
  return z.union(
    Object.values(responses).map((response) => (response.kind === "json" ? response.schema : z.undefined())),
  );
}

function methodOf(endpoint: EndpointSpec): LocalMethod {
  const kind = kindOf(endpoint);
  const common = { name: localName(endpoint), kind, endpoint };
  const input = inputOf(endpoint);
  if (kind === "call") return { ...common, input, output: answerOf(endpoint) };
  if (kind === "follow")
    return { ...common, input: z.strictObject({ input, subscription: SubscriptionId }), output: z.object({}) };
  return {
    ...common,
    input: z.strictObject({ input, name: FileName }),
    output: z.object({ saved: z.string().nullable() }),
  };
}

export const localMethods: readonly LocalMethod[] = localEndpoints.map(methodOf);
