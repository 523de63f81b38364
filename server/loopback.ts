import { createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from "node:http";
import { duplexPair } from "node:stream";

/** Calls that the process makes to its own API without a socket: they pass everything that a call from outside does. */

export type OwnCall = {
  method: string;
  /** With its query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  /** The client on whose behalf the call is made: rate limits and the audit trail name this address. */
  ip: string;
  signal: AbortSignal;
};

/** The body is read once, to its end or as far as it is wanted. */
export type OwnAnswer = { status: number; body: AsyncIterable<Uint8Array> };

export type Loopback = {
  /** Takes the calls from now on. */
  serve(listener: (request: IncomingMessage, response: ServerResponse) => void): void;
  /** @throws Error when the answer is cut off, or the signal aborts */
  fetch(call: OwnCall): Promise<OwnAnswer>;
};

/**
 * Speaks HTTP over a pair of streams in memory (Node's `duplexPair`; an `http.Server` takes any duplex as a connection). One pair
 * a call, closed with its answer.
 */
export function createLoopback(): Loopback {
  const server = createServer();

  return {
    serve(listener) {
      server.on("request", listener);
    },
    async fetch({ method, path, headers, body: text, ip, signal }) {
      const [near, far] = duplexPair();
      // Cut off while it is written to: whoever asked has left.
      far.on("error", () => undefined);
      server.emit("connection", Object.assign(far, { remoteAddress: ip }));
      const body = await new Promise<IncomingMessage>((resolve, reject) => {
        const sent = { host: "localhost", connection: "close", ...headers };
        const request = requestHttp({ createConnection: () => near, method, path, headers: sent, signal }, resolve);
        request.on("error", reject);
        request.end(text);
      });
      return { status: body.statusCode ?? 500, body };
    },
  };
}
