import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server as NetServer, Socket } from "node:net";
import { AppError } from "./kernel/errors.ts";
import { newId } from "./kernel/ids.ts";
import { type ErrorCode, problemKinds } from "./kernel/problem.ts";
import { languageOf, problemOf } from "./kernel/problem-document.ts";
import { readersLanguage } from "./kernel/readers-language.ts";

/** What Node refuses before a request reaches the API is answered like everything else: a problem document with an id. */

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** By the codes of Node's parser and of its timeouts; every other fault is of the request's syntax. */
const codes: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: "headers-too-large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "payload-too-large",
  ERR_HTTP_REQUEST_TIMEOUT: "request-timeout",
};

/** Of the request line and the headers: Node gives no word of them. */
const unreadable = "The request is not HTTP that can be read.";

/**
 * @param baseUrl told when it is needed: a free port is known only once the server listens
 * @param listener takes a request with an `Expect` that Node does not know, too; of both protocols where the server speaks both
 */
export function answerRefused(server: NetServer, listener: Listener, baseUrl: () => string): void {
  // Pipelined requests have several at a time on one connection.
  const answering = new WeakMap<Socket, Set<ServerResponse>>();
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (request.httpVersionMajor !== 1) return;
    const open = answering.get(request.socket) ?? new Set();
    answering.set(request.socket, open.add(response));
    response.once("close", () => open.delete(response));
  });
  server.on("checkExpectation", listener);
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const open = [...(answering.get(socket) ?? [])];
    const inTheMiddle = open.some((response) => response.headersSent && !response.writableFinished);
    if (error.code !== "ECONNRESET" && socket.writable && !inTheMiddle) {
      socket.write(answerTo(codes[error.code ?? ""] ?? "malformed-request", baseUrl()));
    }
    socket.destroy(error);
  });
}

/** A whole HTTP/1.1 answer, after which the connection ends. */
function answerTo(code: ErrorCode, baseUrl: string): string {
  const error = new AppError(code, code === "malformed-request" ? { detail: unreadable } : {});
  const { status, title } = problemKinds[code];
  const { headers, body } = documentOf(error, baseUrl, "en");
  const head = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}`);
  return `${[`HTTP/1.1 ${status} ${title}`, ...head].join("\r\n")}\r\n\r\n${body}`;
}

/** Answers what was asked where there is no API. */
export function answerProblem(error: AppError, request: IncomingMessage, response: ServerResponse, baseUrl: string) {
  const language = toldIn(error, request.headers["accept-language"] ?? "");
  const { headers, body } = documentOf(error, baseUrl, language);
  response.writeHead(error.status, { ...headers, vary: "accept-language" }).end(body);
}

/** English needs no file. Nobody catches what is thrown here, whatever has become of the files of the words. */
function toldIn(error: AppError, acceptLanguage: string): string {
  try {
    return languageOf(error, readersLanguage(acceptLanguage));
  } catch {
    return "en";
  }
}

function documentOf(error: AppError, baseUrl: string, language: string) {
  const requestId = newId("req");
  const body = JSON.stringify(problemOf(error, requestId, { baseUrl, instance: "*", language }));
  const headers = {
    "content-type": "application/problem+json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    "content-language": language,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-request-id": requestId,
  };
  return { headers, body };
}
