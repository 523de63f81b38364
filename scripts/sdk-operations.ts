import { z } from "zod";
import type { Operation } from "../apps/sdk/src/operations.ts";
import { type EndpointSpec, isForAllOrigins, type ResponseSpec } from "../server/kernel/endpoint.ts";

/** The SDK's operations, read off the endpoint table: which there are, what they are called, and what a client must know of them. */

export type SdkOperation = { endpoint: EndpointSpec; operation: Operation };

/** What an API key may call, and public verification; both as far as they are published. */
export function sdkOperations(endpoints: readonly EndpointSpec[]): SdkOperation[] {
  return endpoints
    .filter(({ published, credential, path }) => published !== false && isForKeys(credential, path))
    .map((endpoint) => ({ endpoint, operation: operationOf(endpoint) }));
}

const isForKeys = (credential: EndpointSpec["credential"], path: string): boolean =>
  credential === "key" || (credential === "public" && isForAllOrigins(path));

function operationOf(endpoint: EndpointSpec): Operation {
  const { method, path, body, query, idempotent, credential, errors, id } = endpoint;
  if (body?.kind === "multipart") throw new Error(`${id}: the SDK has no multipart bodies yet`);
  const { group, name } = namesOf(endpoint);
  return {
    group,
    name,
    method,
    path,
    ...(body ? { body: body.kind } : {}),
    ...(body?.kind === "raw" ? { types: Object.keys(body.types) } : {}),
    ...(query instanceof z.ZodObject && Object.keys(query.shape).length > 0 ? { query: true } : {}),
    answer: answerOf(endpoint),
    ...(idempotent ? { idempotent } : {}),
    ...(errors?.includes("precondition-failed") ? { ifMatch: true } : {}),
    ...(credential === "public" ? { open: true } : {}),
  };
}

function answerOf(endpoint: EndpointSpec): Operation["answer"] {
  const spec = mainAnswerOf(endpoint);
  return spec.kind === "json" && endpoint.method === "GET" && isList(spec.schema) ? "list" : spec.kind;
}

/** The success that is no special case: the one with content, 201 before 200. */
function mainAnswerOf({ id, responses }: EndpointSpec): ResponseSpec {
  const answers = [201, 200, 202, 204].flatMap((status) => responses[status] ?? []);
  const main = answers.find(({ kind }) => kind !== "empty") ?? answers[0];
  if (main === undefined) throw new Error(`${id}: the SDK does not know its successful answer`);
  return main;
}

const isList = (schema: z.ZodType): boolean =>
  schema instanceof z.ZodObject && "nextCursor" in schema.shape && "data" in schema.shape;

/**
 * By one rule, so that new operations get their names by themselves. The group is the collection in the path:
 * `/v1/webhook-endpoints/{id}` is `webhookEndpoints`. The method is the operation's id without what the group says already
 * (`createWebhookEndpoint` is `create`), and without `get` or `list` where something else is left to name it (`getEnvelopeDocument`
 * is `document`). A stream is followed.
 */
function namesOf({ id, path, responses }: EndpointSpec): { group: string; name: string } {
  const group = isForAllOrigins(path) ? "verification" : camelCase(/^\/v1\/([a-z-]+)/.exec(path)?.[1] ?? "");
  if (group === "") throw new Error(`${id}: the SDK does not know where ${path} belongs`);
  if (Object.values(responses).some(({ kind }) => kind === "events")) return { group, name: "follow" };
  const [, verb = id, thing = ""] = /^([a-z]+)(.*)$/.exec(id) ?? [];
  const rest = withoutGroup(thing, group);
  const name = rest === "" ? verb : verb === "get" || verb === "list" ? decapitalized(rest) : `${verb}${rest}`;
  return { group, name };
}

/** @example withoutGroup("WebhookSecret", "webhookEndpoints") === "Secret" */
function withoutGroup(thing: string, group: string): string {
  const words = capitalized(group.replace(/s$/, "")).match(/[A-Z][a-z]*/g) ?? [];
  for (let count = words.length; count > 0; count -= 1) {
    const start = words.slice(0, count).join("");
    const found = new RegExp(`^${start}${count === words.length ? "s?" : ""}(?=[A-Z]|$)`).exec(thing);
    if (found) return thing.slice(found[0].length);
  }
  return thing;
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const decapitalized = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
const camelCase = (text: string): string => text.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
