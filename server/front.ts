import { chmod, lstat, mkdir, rm } from "node:fs/promises";
import { createServer as createHttp, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  constants,
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Server as NetServer, Socket } from "node:net";
import path from "node:path";
import { besideChallenges, plainAnswers } from "./challenge-front.ts";
import { type Config, ConfigError, withPort } from "./config.ts";
import type { ServedPair, TlsKeeper } from "./features/tls/keeper.ts";
import { boundConnections, type Crowd, connectionLimit } from "./front-limits.ts";
import { answerRefused } from "./front-problems.ts";

/** Takes requests of both protocols, as Koa does. */
type Listener = (request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse) => void;

/** Where the appliance listens. */
export type Front = {
  serve: (listener: Listener) => void;
  /** Takes no more connections; hangs up on what is left after `graceMs` milliseconds. */
  close: (graceMs: number) => Promise<void>;
};

export type FrontOptions = {
  patience?: Patience;
  /** How many there may be at a time on all ports together. */
  connections?: number;
  /** Hears that more came, now and then. */
  onCrowd?: (crowd: Crowd) => void;
};

/**
 * Binds the port first, so that a taken one is told at once and a free one (port 0) is known; early requests wait.
 * @throws ConfigError when the address cannot be used
 */
export async function openFront(
  config: Config,
  tls: TlsKeeper,
  {
    patience = { silentMs: 120_000, arrivalMs: 300_000 },
    connections = connectionLimit(),
    onCrowd = () => undefined,
  }: FrontOptions = {},
): Promise<Front & { port: number; httpPort: number | undefined }> {
  const { listener, serve } = waitingListener();
  const pair = tls.current();
  const server = pair === null ? plainServer(listener, patience) : secureServer(pair, tls, { listener, patience });
  // The plain port sends people on, which takes a moment.
  const forPlain = config.httpPort === undefined ? 0 : Math.min(500, Math.ceil(connections / 4));
  boundConnections(server.server, Math.max(1, connections - forPlain), onCrowd);
  let own = config.baseUrl;
  answerRefused(server.server, listener, () => own);
  const port = await listen(server.server, { host: config.host, port: config.port, setting: "SIGNET_PORT" });
  own = withPort(config, port).baseUrl;
  if (config.httpPort === undefined) return { port, httpPort: undefined, serve, close: server.close };
  try {
    if (pair === null) throw new ConfigError("SIGNET_HTTP_PORT is for a server that speaks TLS itself: remove it");
    const { baseUrl } = withPort(config, port);
    const beside = plainAnswers(tls.challenges, baseUrl);
    boundConnections(beside, forPlain, onCrowd);
    const httpPort = await listen(beside, { host: config.host, port: config.httpPort, setting: "SIGNET_HTTP_PORT" });
    const close = async (graceMs: number) => {
      await Promise.all([closeServer(beside, graceMs), server.close(graceMs)]);
    };
    return { port, httpPort, serve, close };
  } catch (error) {
    await server.close(0);
    throw error;
  }
}

type Place = { host: string; port: number; setting: string };

/** @returns the port, which is a free one for port 0. @throws ConfigError */
function listen(server: NetServer, place: Place): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: Error) => reject(listenError(error, place)));
    server.listen(place.port, place.host, () => {
      const address = server.address();
      resolve(address !== null && typeof address === "object" ? address.port : place.port);
    });
  });
}

/**
 * In milliseconds, how long a connection may say nothing, and how long a request may take to arrive: a phone sends a large
 * attachment over a slow network.
 */
export type Patience = { silentMs: number; arrivalMs: number };

/** The same for HTTP/1.1 with and without TLS. */
const timeouts = ({ arrivalMs }: Patience) => ({
  requestTimeout: arrivalMs,
  headersTimeout: Math.min(arrivalMs, 60_000),
  // The API says it in its own words.
  requireHostHeader: false,
  connectionsCheckingInterval: Math.min(arrivalMs, 30_000),
});

/**
 * Hangs up on HTTP/1.1 when nothing comes or goes in this time, a request that is answered slowly included: who asks for much
 * and takes nothing of it would keep it in memory for ever. As long as an HTTP/2 session has altogether.
 */
const silence = ({ silentMs }: Patience): number => 2 * silentMs;

function plainServer(listener: Listener, patience: Patience) {
  const server = createHttp(timeouts(patience), listener);
  server.timeout = silence(patience);
  return { server, close: (graceMs: number) => closeServer(server, graceMs) };
}

/**
 * HTTP/2 for browsers, which then share one connection among all their streams, and HTTP/1.1 for whoever asks for it. Another
 * certificate is shown to whoever connects from then on.
 */
function secureServer(
  pair: ServedPair,
  tls: TlsKeeper,
  { listener, patience }: { listener: Listener; patience: Patience },
) {
  const server = createSecureServer({
    ...contextOf(pair),
    allowHTTP1: true,
    // Node waits for two minutes, which costs a stranger nothing.
    handshakeTimeout: Math.min(patience.silentMs, 30_000),
    // A stranger's connection costs memory for each stream that it may open.
    settings: { maxConcurrentStreams: 128 },
  });
  // Node takes these for HTTP/1.1 as properties only.
  Object.assign(server, timeouts(patience), { timeout: silence(patience) });
  server.on("request", listener);
  server.on("stream", (stream) => boundArrival(stream, patience));
  const [accept] = server.listeners("connection");
  server.removeAllListeners("connection");
  const beside = besideChallenges(tls.challenges, (socket) => accept?.call(server, socket));
  // From the first moment on: one that never gets as far as TLS would keep the end waiting, too.
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    beside(socket);
  });
  tls.onChange((next) => server.setSecureContext(contextOf(next)));
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    // Node's own, from the server's time for HTTP/1.1, would end what is being answered, too.
    session.removeAllListeners("timeout");
    // Nothing is asked on it: a stream that is followed gets a word more often.
    session.setTimeout(patience.silentMs, () => {
      session.close();
      // It waits for its streams: one on which nothing ever comes or goes again would keep it for ever.
      session.setTimeout(patience.silentMs, () => session.destroy());
    });
  });
  return {
    server,
    async close(graceMs: number) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.close();
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      const timer = setTimeout(() => {
        for (const session of sessions) session.destroy();
        for (const socket of sockets) socket.destroy();
      }, graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** HTTP/2 has no time for a request by itself: one that comes drop by drop would keep its stream for ever. */
function boundArrival(stream: ServerHttp2Stream, { arrivalMs }: Patience): void {
  if (stream.endAfterHeaders) return;
  const timer = setTimeout(() => {
    if (stream.state.remoteClose !== 1) stream.close(constants.NGHTTP2_CANCEL);
  }, arrivalMs);
  timer.unref();
  stream.once("close", () => clearTimeout(timer));
}

const contextOf = ({ certPem, keyPem }: ServedPair) =>
  ({ cert: certPem, key: keyPem, minVersion: "TLSv1.2", honorCipherOrder: true }) as const;

/**
 * The socket of this machine's administrators. Whoever may open the file may do everything, so only its owner and group can.
 * The caller holds the lock of the data folder: a socket that lies there is left over.
 * @param file a unix socket, or a named pipe on Windows
 * @throws Error when something else lies there, which is left alone
 */
export async function openAdminSocket(file: string): Promise<Front> {
  const isPipe = file.startsWith("\\\\");
  if (!isPipe) {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    const there = await lstat(file).catch(() => null);
    if (there?.isSocket() === false) throw new Error(`${file} is no socket, and is not replaced by one`);
    await rm(file, { force: true });
  }
  const { listener, serve } = waitingListener();
  const server = createHttp({ requireHostHeader: false }, listener);
  answerRefused(server, listener, () => "");
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(file, resolve);
  });
  if (!isPipe) await chmod(file, 0o660);
  return { serve, close: (graceMs) => closeServer(server, graceMs) };
}

function waitingListener(): { listener: Listener; serve: (next: Listener) => void } {
  const waiting: Parameters<Listener>[] = [];
  let current: Listener = (request, response) => void waiting.push([request, response]);
  return {
    listener: (request, response) => current(request, response),
    serve(next) {
      current = next;
      for (const [request, response] of waiting.splice(0)) next(request, response);
    },
  };
}

async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}

/** The same failure with what to do about it. */
function listenError(error: Error, { host, port, setting }: Place): Error {
  if (!("code" in error)) return error;
  if (error.code === "EADDRINUSE") {
    return new ConfigError(
      `port ${port} on ${host} is taken by another program: end it, or set ${setting} to a free one`,
    );
  }
  if (error.code === "EACCES")
    return new ConfigError(`port ${port} may not be used by this user: set ${setting} above 1023`);
  if (error.code === "ENOTFOUND" || error.code === "EADDRNOTAVAIL") {
    return new ConfigError(`SIGNET_HOST cannot be used: ${host} is no address of this machine`);
  }
  return error;
}
