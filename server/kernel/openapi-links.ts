import { z } from "zod";
import type { EndpointSpec } from "./endpoint.ts";

/** Links (OpenAPI 3.1 §4.8.20): where the things that an answer names can be read, changed and deleted. */

export type Links = Record<
  string,
  { operationId: string; parameters?: Record<string, string>; requestBody?: Record<string, string> }
>;

/**
 * The links of one answer: from what creates a thing to every operation whose path the request and the answer fill together,
 * from what lists things to those that read one, and those that the table names.
 * @param all the operations that may be linked to
 */
export function linksOf(from: EndpointSpec, status: number, all: readonly EndpointSpec[]): Links {
  const response = from.responses[status];
  if (response?.kind !== "json" || !(response.schema instanceof z.ZodObject)) return {};
  const { shape } = response.schema;
  const links: Links = {};
  for (const to of all) {
    const named = from.links?.[to.id];
    const follows = to !== from && (from.method === "GET" ? to.method === "GET" : true);
    const parameters = named?.parameters ?? (follows ? fillPath({ from, status, shape }, to) : undefined);
    if (named === undefined && parameters === undefined) continue;
    links[to.id] = {
      operationId: to.id,
      ...(parameters ? { parameters } : {}),
      ...(named?.body ? { requestBody: named.body } : {}),
    };
  }
  return links;
}

/** @returns an expression for each parameter of the path, at least one of them from the answer; else undefined */
function fillPath(answer: Answer, to: EndpointSpec): Record<string, string> | undefined {
  const filled: Record<string, string> = {};
  let answers = false;
  for (const {
    0: { length },
    1: name = "",
    index,
  } of to.path.matchAll(/\{(\w+)\}/g)) {
    const known = answer.from.path.startsWith(to.path.slice(0, index + length));
    const found = known ? `$request.path.${name}` : inAnswer(answer, to.path.slice(0, index - 1), name);
    if (found === undefined) return undefined;
    filled[name] = found;
    answers ||= !known;
  }
  return answers ? filled : undefined;
}

type Answer = { from: EndpointSpec; status: number; shape: Readonly<Record<string, unknown>> };

/** Where an answer holds what identifies one of `collection`: a path without a slash at its end. */
function inAnswer({ from, status, shape }: Answer, collection: string, name: string): string | undefined {
  const members = collection.slice(collection.lastIndexOf("/") + 1);
  if (from.path === collection) {
    if ("id" in shape) return "$response.body#/id";
    if (holdsId(shape.data)) return "$response.body#/data/0/id";
  }
  if (from.method !== "GET" && status !== 201) return undefined;
  if (holdsId(shape[members])) return `$response.body#/${members}/0/id`;
  return name !== "id" && name in shape && isBelow(from.path, collection) ? `$response.body#/${name}` : undefined;
}

/** Whether both are about the same kind of thing: `/v1/templates/{id}/publish` and `/v1/templates/{id}/versions`. */
const isBelow = (path: string, collection: string): boolean =>
  path.startsWith(collection.slice(0, collection.lastIndexOf("/") + 1)) && path !== collection;

function holdsId(schema: unknown): boolean {
  if (schema instanceof z.ZodOptional) return holdsId(schema.unwrap());
  return schema instanceof z.ZodArray && schema.element instanceof z.ZodObject && "id" in schema.element.shape;
}
