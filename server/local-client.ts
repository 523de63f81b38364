import { type IncomingMessage, request as requestHttp } from "node:http";
import type { z } from "zod";
import { type AnswerOf, addressOf, type CallParts, type EndpointSpec, type ResponseSpec } from "./kernel/endpoint.ts";
import { eventData } from "./kernel/event-data.ts";
import { Problem } from "./kernel/problem.ts";
import { operatorHeader } from "./kernel/wire.ts";

/** Calls the running appliance on its admin socket: what the commands and the console's main process share. */

/** What a call takes. */
export type LocalInput<E extends EndpointSpec> = CallParts<E>;
/** What a successful call gives: the parsed JSON, or nothing; bytes are read by `downloadLocal`. */
export type LocalAnswer<E extends EndpointSpec> = AnswerOf<E, undefined>;

/** The appliance answered with a problem document (RFC 9457). */
export class LocalProblem extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.detail);
    this.name = "LocalProblem";
    this.problem = problem;
  }
}

/**
 * Nobody answers on the socket.
 * - `stopped`: there is no socket, or no process behind it
 * - `forbidden`: this user may not open it
 * - `broken`: something else answers, or the connection was cut
 * - `other-version`: it answers, and otherwise than this program expects
 */
export class NoAppliance extends Error {
  readonly reason: "stopped" | "forbidden" | "broken" | "other-version";
  constructor(reason: NoAppliance["reason"], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "NoAppliance";
    this.reason = reason;
  }
}

export type LocalAddress = {
  /** A unix socket or the name of a pipe. */
  socket: string;
  /** The operating-system user who acts, for the audit. */
  operator: string;
};

/**
 * Calls an endpoint of the admin socket.
 * @throws LocalProblem, NoAppliance
 */
export async function callLocal<const E extends EndpointSpec>(
  address: LocalAddress,
  endpoint: E,
  input: LocalInput<E>,
  options: { signal?: AbortSignal } = {},
): Promise<LocalAnswer<E>> {
  const response = await open(address, endpoint, input, options.signal);
  const body = await readAll(response);
  return parseAnswer(endpoint, response, body) as LocalAnswer<E>;
}

type EventOf<R> = R extends { kind: "events"; schema: infer S } ? (S extends z.ZodType ? z.output<S> : never) : never;
/** What one event of a stream holds. */
export type LocalEvent<E extends EndpointSpec> = EventOf<E["responses"][200]>;

/**
 * Follows an event stream until it ends or the reader stops.
 * @throws LocalProblem, NoAppliance
 */
export async function* followLocal<const E extends EndpointSpec>(
  address: LocalAddress,
  endpoint: E,
  input: LocalInput<E>,
  options: { signal?: AbortSignal } = {},
): AsyncGenerator<LocalEvent<E>> {
  const response = await open(address, endpoint, input, options.signal);
  const spec = endpoint.responses[200];
  if (response.statusCode !== 200 || spec?.kind !== "events") {
    parseAnswer(endpoint, response, await readAll(response));
    throw new NoAppliance("broken", "The appliance did not answer with a stream.");
  }
  try {
    for await (const data of eventData(response)) {
      const parsed = spec.schema.safeParse(jsonOf(data));
      if (!parsed.success) throw otherVersion(parsed.error);
      yield parsed.data as LocalEvent<E>;
    }
  } finally {
    response.destroy();
  }
}

/** Saves what an endpoint sends as bytes, piece by piece. */
export async function* downloadLocal<const E extends EndpointSpec>(
  address: LocalAddress,
  endpoint: E,
  input: LocalInput<E>,
): AsyncGenerator<Uint8Array> {
  const response = await open(address, endpoint, input);
  if (response.statusCode !== 200) parseAnswer(endpoint, response, await readAll(response));
  yield* response;
}

async function open<E extends EndpointSpec>(
  { socket, operator }: LocalAddress,
  endpoint: E,
  input: { params?: unknown; query?: unknown; body?: unknown },
  signal?: AbortSignal,
): Promise<IncomingMessage> {
  const body = input.body === undefined ? undefined : JSON.stringify(input.body);
  const headers: Record<string, string> = { host: "localhost", [operatorHeader]: operator };
  if (body !== undefined) {
    headers["content-type"] = "application/json";
    headers["content-length"] = String(Buffer.byteLength(body));
  }
  const path = addressOf(endpoint, input.params, input.query);
  return await new Promise<IncomingMessage>((resolve, reject) => {
    const request = requestHttp(
      { socketPath: socket, method: endpoint.method, path, headers, agent: false, signal },
      resolve,
    );
    request.on("error", (error) => reject(noAppliance(error, socket)));
    request.end(body);
  });
}

function noAppliance(error: Error, socket: string): Error {
  const code = "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ECONNREFUSED") return new NoAppliance("stopped", "Signet is not running.", error);
  if (code === "EACCES" || code === "EPERM") {
    const detail = `This user may not open ${socket}: run the command as an administrator of Signet.`;
    return new NoAppliance("forbidden", detail, error);
  }
  return new NoAppliance("broken", `Signet cannot be reached at ${socket}: ${error.message}`, error);
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(Buffer.from(chunk));
  } catch (cause) {
    throw new NoAppliance("broken", "The connection was cut before the answer was complete.", cause);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseAnswer(endpoint: EndpointSpec, response: IncomingMessage, body: string): unknown {
  const status = response.statusCode ?? 0;
  const spec: ResponseSpec | undefined = endpoint.responses[status];
  if (spec?.kind === "empty") return undefined;
  const value = jsonOf(body);
  if (spec?.kind === "json") {
    const parsed = spec.schema.safeParse(value);
    if (parsed.success) return parsed.data;
    throw otherVersion(parsed.error);
  }
  const problem = Problem.safeParse(value);
  if (problem.success) throw new LocalProblem(problem.data);
  throw new NoAppliance("broken", `The appliance answered with status ${status}, which cannot be understood.`);
}

const otherVersion = (cause: unknown) =>
  new NoAppliance("other-version", "What runs is of another version and answers otherwise: start Signet again.", cause);

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
