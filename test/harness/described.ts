import { subscribe } from "node:diagnostics_channel";
import { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import { Socket } from "node:net";
import { endpoints } from "../../server/contract.ts";
import { type EndpointSpec, isForAllOrigins } from "../../server/kernel/endpoint.ts";
import { type DescribedResponse, responsesOf } from "../../server/kernel/openapi-responses.ts";
import { Problem } from "../../server/kernel/problem.ts";

/**
 * Compares every answer that an appliance of this process gives with what the interface description says of the operation:
 * status, headers, content type, error code. It listens to Node's own channels and sees HTTP/1.1 and HTTP/2 as they leave,
 * whoever asked. The bodies of successes are checked by the server itself (SIGNET_TEST_CHECK_RESPONSES).
 */

/** What HTTP itself and the security of browsers put on any answer. */
const general = new Set([
  ...["connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding", "vary"],
  ...["cache-control", "content-language", "referrer-policy", "strict-transport-security", "x-content-type-options"],
  ...["access-control-allow-origin", "access-control-expose-headers", "x-accel-buffering"],
]);

export type Answer = {
  method: string;
  /** With its query. */
  url: string;
  status: number;
  headers: Readonly<Record<string, unknown>>;
  /** The body, of a problem only. */
  problem: string | null;
};

/** By port, what the answers had that is not described. */
const found = new Map<number, Set<string>>();
let listening = false;

/** Watches the answers of the appliance on this port from now on. */
export function watchAnswers(port: number): void {
  if (!found.has(port)) found.set(port, new Set());
  if (listening) return;
  listening = true;
  subscribe("http.server.request.start", (message) => {
    if (!isExchange(message)) return;
    const { request, response, socket } = message;
    const wrong = found.get(socket.localPort ?? 0);
    if (!wrong) return;
    const problem = keepProblem(response, () => response.getHeader("content-type"));
    response.once("close", () => {
      const { method = "", url = "" } = request;
      const headers = response.getHeaders();
      if (response.headersSent) note(wrong, { method, url, status: response.statusCode, headers, problem: problem() });
    });
  });
  subscribe("http2.server.stream.start", (message) => {
    if (!isStream(message)) return;
    const { stream, headers: asked } = message;
    const wrong = found.get(stream.session?.socket.localPort ?? 0);
    if (!wrong) return;
    const problem = keepProblem(stream, () => stream.sentHeaders?.["content-type"]);
    stream.once("close", () => {
      if (!stream.sentHeaders) return;
      const { ":status": status, ...headers } = stream.sentHeaders;
      const [method, url] = [String(asked[":method"]), String(asked[":path"])];
      note(wrong, { method, url, status: Number(status), headers, problem: problem() });
    });
  });
}

/** @throws Error that names what the appliance on this port answered although its description does not have it */
export function expectDescribed(port: number): void {
  const wrong = [...(found.get(port) ?? [])];
  found.get(port)?.clear();
  if (wrong.length > 0) throw new Error(`Not in the interface description:\n${wrong.join("\n")}`);
}

type Exchange = { request: IncomingMessage; response: ServerResponse; socket: Socket };
const isExchange = (message: unknown): message is Exchange =>
  typeof message === "object" &&
  message !== null &&
  "request" in message &&
  message.request instanceof IncomingMessage &&
  "response" in message &&
  message.response instanceof ServerResponse &&
  "socket" in message &&
  message.socket instanceof Socket;

type Stream = { stream: ServerHttp2Stream; headers: Record<string, unknown> };
const isStream = (message: unknown): message is Stream =>
  typeof message === "object" && message !== null && "stream" in message && "headers" in message;

/** Reads the body along, of a problem only. */
function keepProblem(target: ServerResponse | ServerHttp2Stream, contentType: () => unknown): () => string | null {
  const kept: Buffer[] = [];
  for (const name of ["write", "end"] as const) {
    const { [name]: send } = target;
    const value = (...parts: unknown[]) => {
      const [chunk] = parts;
      const isBody = typeof chunk === "string" || chunk instanceof Uint8Array;
      if (isBody && String(contentType()).startsWith("application/problem+json")) kept.push(Buffer.from(chunk));
      return Reflect.apply(send, target, parts);
    };
    Object.defineProperty(target, name, { value });
  }
  return () => (kept.length > 0 ? Buffer.concat(kept).toString() : null);
}

const described = new Map<EndpointSpec, Map<number, DescribedResponse>>();
function responsesTo(endpoint: EndpointSpec): Map<number, DescribedResponse> {
  const known = described.get(endpoint) ?? responsesOf(endpoint);
  described.set(endpoint, known);
  return known;
}

/** Fixed addresses before those with a parameter in the same place. */
const patterns = endpoints
  .map((endpoint) => ({ endpoint, pattern: new RegExp(`^${endpoint.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`) }))
  .sort((a, b) => a.endpoint.path.split("{").length - b.endpoint.path.split("{").length);

function note(wrong: Set<string>, answer: Answer): void {
  for (const what of undescribed(answer)) wrong.add(what);
}

/** What of this answer no entry of the interface description allows; nothing for pages and the like. */
export function undescribed({ method, url, status, headers, problem }: Answer): string[] {
  const path = url.split("?")[0] ?? "";
  if (!/^\/(v1|auth|\.well-known\/svc)\//.test(path)) return [];
  const asked = method === "HEAD" ? "GET" : method;
  const here = patterns.filter(({ pattern }) => pattern.test(path)).map(({ endpoint }) => endpoint);
  const operation = here.find((endpoint) => endpoint.method === asked);
  if (!operation) {
    const preflight = method === "OPTIONS" && isForAllOrigins(path);
    const expected = preflight ? [204] : here.length === 0 ? [404, 503] : [405, 404, 503];
    return expected.includes(status) ? [] : [`${method} ${path}, which is no operation: status ${status}`];
  }
  const name = `${method} ${operation.path}`;
  const answer = responsesTo(operation).get(status);
  if (!answer) return [`${name}: status ${status}`];
  const { codes, response } = answer;
  const wrong: string[] = [];
  const names = new Set(Object.keys(response.headers).map((header) => header.toLowerCase()));
  for (const header of Object.keys(headers).map((one) => one.toLowerCase())) {
    const ours = general.has(header) || (header === "set-cookie" && operation.published === false);
    if (!ours && !names.has(header)) wrong.push(`${name}: ${status} with the header ${header}`);
  }
  const type = String(headers["content-type"] ?? "").split(";")[0] ?? "";
  const types = Object.keys(response.content ?? {});
  if (type !== "" && !types.includes(type)) wrong.push(`${name}: ${status} with the content type ${type}`);
  if (problem !== null) {
    const parsed = Problem.safeParse(JSON.parse(problem));
    if (!parsed.success) wrong.push(`${name}: ${status} with a body that is no problem: ${parsed.error.message}`);
    else if (!codes.includes(parsed.data.code)) wrong.push(`${name}: ${status} with the code ${parsed.data.code}`);
  }
  return wrong;
}
