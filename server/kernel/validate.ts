import type { z } from "zod";
import { invalid } from "./errors.ts";
import { keyOrder } from "./key-order.ts";
import { type ProblemError, type ProblemErrorCode, pointer, problemErrorCodes } from "./problem.ts";

/** Turns what zod says into the errors of contract §1: every one of them, in the order of the document. */

type Path = (string | number)[];
type Issue = z.core.$ZodIssue;
/** The keys of an object in the order of the document. */
type KeysOf = (value: object) => readonly string[];
/** Where a key stands in its object; undefined when it is missing. */
type IndexOf = (value: object, key: string) => number | undefined;
type Place = (path: Path) => { pointer: string } | { parameter: string };

/** At most this many errors are sent (contract §1). */
const mostErrors = 50;
/** At most this many are looked at, so that an answer costs no more than its body deserves. */
const mostRead = 1000;

/**
 * Parses a JSON body.
 * @param source the bytes that `value` was read from: they say in which order the errors stand
 * @throws AppError `validation-failed` with JSON Pointers
 */
export function parseBody<S extends z.ZodType>(schema: S, value: unknown, source?: Uint8Array): z.output<S> {
  const keysOf = () => {
    const orders = keyOrder(new TextDecoder().decode(source), value);
    return (at: object) => orders.get(at) ?? Object.keys(at);
  };
  return parse(schema, value, (path) => ({ pointer: pointer(path) }), source ? keysOf : () => Object.keys);
}

/** Parses query or path parameters; the errors name the parameter. */
export function parseParameters<S extends z.ZodType>(schema: S, value: Record<string, unknown>): z.output<S> {
  return parse(
    schema,
    value,
    (path) => ({ parameter: String(path[0] ?? "") }),
    () => Object.keys,
    "parameter",
  );
}

type Noun = "member" | "parameter";

function parse<S extends z.ZodType>(
  schema: S,
  value: unknown,
  place: Place,
  keys: () => KeysOf,
  noun: Noun = "member",
): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  // A body of a hundred thousand errors is not worth the time that sorting them takes.
  const found = result.error.issues.slice(0, mostRead).flatMap((issue) => flatten(issue, [], value, noun));
  const indexOf = indexed(keys());
  const placed = found.map((entry) => ({ ...entry, order: orderOf(entry.path, value, indexOf) }));
  placed.sort((a, b) => compareOrder(a.order, b.order));
  const errors = placed
    .slice(0, mostErrors)
    .map(({ path, code, detail }): ProblemError => ({ ...place(path), code, detail }));
  throw invalid(errors);
}

type Found = { path: Path; code: ProblemErrorCode; detail: string };

function flatten(issue: Issue, base: Path, root: unknown, noun: Noun): Found[] {
  const path: Path = [...base, ...issue.path.map((part) => (typeof part === "number" ? part : String(part)))];
  const one = (code: ProblemErrorCode, detail: string, at: Path = path): Found[] => [{ path: at, code, detail }];
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys
        .slice(0, mostRead)
        .flatMap((key) => one("unknown", `\`${key}\` is not a ${noun} that is known here.`, [...path, key]));
    case "invalid_type":
      return valueAt(root, path) === undefined
        ? one("required", `${nameOf(path)} is required.`)
        : one("type", `Expected ${article(issue.expected)}, got ${describe(valueAt(root, path))}.`);
    case "invalid_value":
      return valueAt(root, path) === undefined
        ? one("required", `${nameOf(path)} is required.`)
        : one("enum", `Use ${oneOf(issue.values)}.`);
    case "too_small":
      return one("min", isOwnMessage(issue) ? issue.message : `Must be ${atLeast(issue)}.`);
    case "too_big":
      return one("max", isOwnMessage(issue) ? issue.message : `Must be ${atMost(issue)}.`);
    case "invalid_format":
      return one(issue.format === "regex" ? "pattern" : "format", sentence(issue.message));
    case "not_multiple_of":
      return one("format", `Must be a multiple of ${issue.divisor}.`);
    case "invalid_union":
      return flattenUnion(issue, path, root, noun);
    case "invalid_key":
    case "invalid_element": {
      const inner = issue.issues[0];
      return one("pattern", inner ? sentence(inner.message) : "This key is not allowed.");
    }
    case "custom":
      return one(customCode(issue.params?.code), sentence(issue.message));
  }
}

/** A union speaks through the branch that came furthest; a discriminated one names its discriminator. */
function flattenUnion(issue: z.core.$ZodIssueInvalidUnion, path: Path, root: unknown, noun: Noun): Found[] {
  if (issue.discriminator !== undefined) {
    // Zod's path ends with the discriminator when the object is there and only its value is unknown.
    const last = path.at(-1) === issue.discriminator ? path : [...path, issue.discriminator];
    const holder = last.slice(0, -1);
    const value = valueAt(root, holder);
    if (value === null || typeof value !== "object") {
      const code = value === undefined ? "required" : "type";
      return [{ path: holder, code, detail: `Expected an object, got ${describe(value)}.` }];
    }
    const missing = valueAt(root, last) === undefined;
    return [
      {
        path: last,
        code: missing ? "required" : "enum",
        detail: missing
          ? `\`${issue.discriminator}\` is required.`
          : `This is not a known value of \`${issue.discriminator}\`.`,
      },
    ];
  }
  const branches = issue.errors.map((errors) => errors.flatMap((inner) => flatten(inner, path, root, noun)));
  const deep = branches.filter((branch) => branch.some((entry) => entry.path.length > path.length));
  const best = deep.sort((a, b) => a.length - b.length)[0];
  if (best) return best;
  const code = branches.some((branch) => branch.some((entry) => entry.code !== "type")) ? undefined : "type";
  const other = branches.flat().find((entry) => entry.code !== "type");
  if (!code && other) return [other];
  return [{ path, code: "type", detail: `This type is not accepted here: got ${describe(valueAt(root, path))}.` }];
}

function customCode(value: unknown): ProblemErrorCode {
  return problemErrorCodes.find((code) => code === value) ?? "format";
}

/** Zod's own English starts with these; a message that the contract gave does not. */
function isOwnMessage(issue: Issue): boolean {
  return !/^(Too |Invalid |Unrecognized )/.test(issue.message);
}

function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

function nameOf(path: Path): string {
  const last = path.at(-1);
  return last === undefined ? "The body" : typeof last === "number" ? `Entry ${last}` : `\`${last}\``;
}

function article(expected: string): string {
  const names: Record<string, string> = {
    int: "a whole number",
    record: "an object",
    object: "an object",
    array: "an array",
  };
  return names[expected] ?? `a ${expected}`;
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function oneOf(values: readonly unknown[]): string {
  const shown = values.slice(0, 20).map((value) => `\`${String(value)}\``);
  return shown.length === 1 ? (shown[0] ?? "") : `one of ${shown.join(", ")}`;
}

const unitOf = (origin: string) =>
  origin === "string" ? " characters" : origin === "array" || origin === "set" ? " entries" : "";
function atLeast(issue: z.core.$ZodIssueTooSmall): string {
  return `${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}${unitOf(issue.origin)}`;
}
function atMost(issue: z.core.$ZodIssueTooBig): string {
  return `${issue.inclusive === false ? "less than" : "at most"} ${issue.maximum}${unitOf(issue.origin)}`;
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const part of path) {
    if (value === null || typeof value !== "object") return undefined;
    value = Object.getOwnPropertyDescriptor(value, part)?.value;
  }
  return value;
}

/** Looks the keys of each object up once: an object may have as many wrong members as fit into the body. */
function indexed(keysOf: KeysOf): IndexOf {
  const known = new Map<object, Map<string, number>>();
  return (value, key) => {
    let places = known.get(value);
    if (!places) {
      places = new Map(keysOf(value).map((name, place) => [name, place]));
      known.set(value, places);
    }
    return places.get(key);
  };
}

/** Where the path stands in the document: the place of each key in its object; what is missing comes after what is there. */
function orderOf(path: Path, root: unknown, indexOf: IndexOf): number[] {
  const order: number[] = [];
  let value = root;
  for (const part of path) {
    if (value === null || typeof value !== "object") break;
    const place = Array.isArray(value) ? Number(part) : (indexOf(value, String(part)) ?? -1);
    order.push(place < 0 || Number.isNaN(place) ? Number.MAX_SAFE_INTEGER : place);
    value = Object.getOwnPropertyDescriptor(value, part)?.value;
  }
  return order;
}

function compareOrder(a: readonly number[], b: readonly number[]): number {
  const length = Math.max(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] ?? -1) - (b[i] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}
