import { lookup as systemLookup } from "node:dns/promises";
import { once as onceOf } from "node:events";
import { readFileSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls, createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import type { buildConnector, Dispatcher } from "undici";
import { mayConnect, parseAllowEntry } from "./address-guard.ts";
import { Gathering } from "./gathering.ts";
import { once } from "./once.ts";

export type OutboundErrorCode = "url-not-allowed" | "dns" | "connect" | "tls" | "timeout" | "redirect" | "too-large";

export class OutboundError extends Error {
  readonly code: OutboundErrorCode;
  /** The status of the answer, where there was one. */
  readonly status: number | undefined;
  constructor(code: OutboundErrorCode, message: string, options: { cause?: unknown; status?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "OutboundError";
    this.code = code;
    this.status = options.status;
  }
}

export type OutboundRequest = {
  method: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  /** Milliseconds from the look-up of the name to the last byte of the answer. */
  timeoutMs: number;
  /** Largest answer that is taken; a larger one fails. */
  maxBytes: number;
  /** Instead, what is behind `maxBytes` is left unread. */
  cut?: boolean;
  /** PEM of an authority that is trusted for this call besides the usual ones. */
  ca?: string | undefined;
};

export type OutboundResponse = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Uint8Array;
  /** The peer is in a network that only the operator's entry opened: do not show its answer to anyone. */
  privateTarget: boolean;
};

/** The only way out by HTTP. */
export type Outbound = {
  /** No redirect is followed. @throws OutboundError */
  fetch(purpose: string, url: string, request: OutboundRequest): Promise<OutboundResponse>;
  /** Whether the URL could be called now: its form and every address of its name. @throws OutboundError */
  check(purpose: string, url: string): Promise<void>;
};

export type OutboundOptions = {
  /** `purpose=CIDR:port` entries. */
  allow?: readonly string[] | undefined;
  proxy?: string | undefined;
  caFile?: string | undefined;
  airGap?: boolean | undefined;
  lookup?: ((hostname: string) => Promise<{ address: string }[]>) | undefined;
};

/** What is published over plain HTTP because it is signed itself (RFC 5280 §8, RFC 3161 §3.4, RFC 6960). */
const plainHttp: ReadonlySet<string> = new Set(["tsa", "crl", "ocsp", "aia"]);
const connectTimeoutMs = 10_000;
/** How long a name server may take while somebody waits for the answer of a form. */
const checkTimeoutMs = 5000;
const gap = "this appliance calls only what SIGNET_OUTBOUND_ALLOW names";

type Target = { url: URL; hostname: string; port: number; addresses: string[]; private: boolean };

/** PEM of the authorities that are trusted: those that come with Node, and those of the operator's file. */
export function trustedAuthorities(caFile: string | undefined): string[] {
  return caFile === undefined ? getCACertificates() : [...getCACertificates(), readFileSync(caFile, "utf8")];
}

/** @throws Error when an entry or the CA file cannot be read, so that the start stops */
export function openOutbound(options: OutboundOptions = {}): Outbound {
  const allow = (options.allow ?? []).map(parseAllowEntry);
  const lookup = options.lookup ?? ((hostname: string) => systemLookup(hostname, { all: true, order: "verbatim" }));
  const ca = options.caFile === undefined ? undefined : trustedAuthorities(options.caFile);
  // Reading some 150 certificates takes longer than a handshake: once for all calls.
  const usual = once(() => (ca === undefined ? undefined : createSecureContext({ ca })));

  async function aim(purpose: string, text: string): Promise<Target> {
    const url = URL.parse(text);
    if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) throw refused("it is no HTTP URL");
    if (url.username !== "" || url.password !== "") throw refused("it names a user");
    // URL has turned decimal, octal and hexadecimal hosts into dotted IPv4 by now.
    const hostname = url.hostname.replace(/^\[|\]$/g, "");
    const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
    const airGap = options.airGap === true;
    // Not even its name is looked up where no entry could allow it.
    if (airGap && !allow.some((entry) => entry.purpose === purpose && entry.port === port)) throw refused(gap);
    const addresses = isIP(hostname) !== 0 ? [hostname] : await resolve(hostname);
    const verdicts = addresses.map((address) => mayConnect(allow, { purpose, address, port }));
    if (verdicts.includes("refused")) throw refused("its address is not public");
    if (airGap && verdicts.includes("public")) throw refused(gap);
    const isPrivate = verdicts.includes("private");
    if (url.protocol === "http:" && !plainHttp.has(purpose) && !isPrivate) throw refused("it is not https");
    return { url, hostname, port, addresses, private: isPrivate };
  }

  /** Look-ups under way. One that is not answered holds a thread of the process: no second one is begun for the same name. */
  const asked = new Map<string, Promise<{ address: string }[]>>();
  function lookUpOnce(hostname: string): Promise<{ address: string }[]> {
    const known = asked.get(hostname);
    if (known !== undefined) return known;
    const answer = lookup(hostname).finally(() => asked.delete(hostname));
    asked.set(hostname, answer);
    return answer;
  }

  async function resolve(hostname: string): Promise<string[]> {
    try {
      const found = await lookUpOnce(hostname);
      if (found.length > 0) return found.map(({ address }) => address);
    } catch (error) {
      throw new OutboundError("dns", "the name of the host could not be resolved", { cause: error });
    }
    throw new OutboundError("dns", "the name of the host has no address");
  }

  /** Connects to the addresses that were checked, in turn, and to nothing else: the name is not looked up again. */
  function connectorTo(target: Target, request: OutboundRequest, signal: AbortSignal): buildConnector.connector {
    const trusted =
      request.ca === undefined ? usual() : createSecureContext({ ca: [...(ca ?? getCACertificates()), request.ca] });
    const open = async () => {
      let failure: unknown;
      for (const address of target.addresses) {
        // Nobody waits any more: what is connected from here on would be nobody's, and a stranger sees it come.
        signal.throwIfAborted();
        try {
          const peer = { host: address, port: target.port };
          const socket =
            options.proxy === undefined ? await dial(peer, signal) : await tunnel(options.proxy, peer, signal);
          return target.url.protocol === "https:" ? await secured(socket, target.hostname, signal, trusted) : socket;
        } catch (error) {
          failure = error;
        }
      }
      throw failure;
    };
    return connectorOf(open);
  }

  return {
    async check(purpose, url) {
      await before(AbortSignal.timeout(checkTimeoutMs), aim(purpose, url));
    },
    async fetch(purpose, text, request) {
      const signal = AbortSignal.timeout(request.timeoutMs);
      const target = await before(signal, aim(purpose, text));
      const undici = await import("undici");
      const client = new undici.Client(target.url.origin, { connect: connectorTo(target, request, signal) });
      try {
        const answer = await client.request({
          method: request.method as Dispatcher.HttpMethod,
          path: target.url.pathname + target.url.search,
          headers: { host: target.url.host, ...request.headers },
          body: request.body ?? null,
          signal,
        });
        const { statusCode: status, headers } = answer;
        if (status >= 300 && status < 400 && status !== 304) {
          throw new OutboundError("redirect", "the answer is a redirect, which is not followed", { status });
        }
        const body = await readAtMost(answer.body, request, status);
        return { status, headers, body, privateTarget: target.private };
      } catch (error) {
        throw asOutboundError(error, signal);
      } finally {
        await client.destroy();
      }
    },
  };
}

function refused(reason: string): OutboundError {
  return new OutboundError("url-not-allowed", `the URL may not be called: ${reason}`);
}

async function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const stop = () => late.reject(asOutboundError(signal.reason, signal));
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

type Peer = { host: string; port: number };

const connectorOf =
  (open: () => Promise<Socket>): buildConnector.connector =>
  (_, callback) => {
    open().then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };

function dial(peer: Peer, signal: AbortSignal): Promise<Socket> {
  return opened(connectTcp({ ...peer, noDelay: true }), "connect", signal);
}

/** @param hostname what the certificate must hold; a name goes into SNI, too */
async function secured(
  socket: Socket,
  hostname: string,
  signal: AbortSignal,
  trusted?: SecureContext,
): Promise<Socket> {
  const over = connectTls({
    socket,
    host: hostname,
    ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
    ALPNProtocols: ["http/1.1"],
    ...(trusted === undefined ? {} : { secureContext: trusted }),
  });
  try {
    return await opened(over, "secureConnect", signal);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The socket once it is connected; one that does not come so far, or not in time, is closed. */
async function opened(socket: Socket, event: "connect" | "secureConnect", signal: AbortSignal): Promise<Socket> {
  // Whoever has the socket hears of an error by its end; between two owners there is nobody else to hear it.
  socket.on("error", () => undefined);
  const late = AbortSignal.timeout(connectTimeoutMs);
  try {
    await onceOf(socket, event, { signal: AbortSignal.any([signal, late]) });
    return socket;
  } catch (error) {
    socket.destroy();
    if (late.aborted) throw new OutboundError("timeout", "there was no connection in time", { cause: error });
    throw error;
  }
}

/**
 * Asks the proxy for a tunnel to the checked address (RFC 9110 §9.3.6). By Node's own client: undici calls a proxy that hangs up on
 * CONNECT again and again, without a pause.
 */
async function tunnel(proxy: string, { host, port }: Peer, signal: AbortSignal): Promise<Socket> {
  const { protocol, hostname: name, port: proxyPort, username, password } = new URL(proxy);
  const hostname = name.replace(/^\[|\]$/g, "");
  const secure = protocol === "https:";
  const plain = await dial({ host: hostname, port: Number(proxyPort || (secure ? 443 : 80)) }, signal);
  const socket = secure ? await secured(plain, hostname, signal) : plain;
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
  const authority = isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
  const asking = httpRequest({
    createConnection: () => socket,
    method: "CONNECT",
    path: authority,
    headers: { host: authority, ...(username === "" ? {} : { "proxy-authorization": `Basic ${credentials}` }) },
  });
  try {
    const answered = onceOf(asking, "connect", { signal });
    asking.end();
    const [answer]: IncomingMessage[] = await answered;
    if (answer?.statusCode !== 200) throw new OutboundError("connect", `the proxy answered ${answer?.statusCode}`);
    return socket;
  } catch (error) {
    // What it still meets is nobody's any more.
    asking.on("error", () => undefined).destroy();
    socket.destroy();
    throw error;
  }
}

async function readAtMost(
  body: AsyncIterable<Uint8Array>,
  { maxBytes, cut }: OutboundRequest,
  status: number,
): Promise<Uint8Array> {
  const answer = new Gathering();
  for await (const part of body) {
    const room = maxBytes - answer.size;
    if (part.length > room && cut === true) {
      answer.add(part.subarray(0, room));
      break;
    }
    if (part.length > room)
      throw new OutboundError("too-large", `the answer is larger than ${maxBytes} bytes`, { status });
    answer.add(part);
  }
  return answer.whole();
}

const tlsCode = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;

function asOutboundError(error: unknown, signal: AbortSignal): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  if (signal.aborted || /TIMEOUT|ETIMEDOUT/.test(code)) {
    return new OutboundError("timeout", "there was no complete answer in time", { cause: error });
  }
  if (tlsCode.test(code)) return new OutboundError("tls", "no trusted TLS connection", { cause: error });
  return new OutboundError("connect", "the connection failed", { cause: error });
}
