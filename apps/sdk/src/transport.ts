import { errorOf, SignetConnectionError, SignetError, unexpected } from "./errors.ts";
import { type Operation, version } from "./operations.ts";
import type { ResponseInfo, SignetOptions } from "./options.ts";

/** One call, ready to be sent as often as it takes. */
export type Call = {
  operation: Operation;
  /** Path and query. */
  address: string;
  headers: Record<string, string>;
  body: BodyInit | null;
  signal: AbortSignal | undefined;
  timeoutMs: number | undefined;
  maxRetries: number | undefined;
  onResponse: ((response: ResponseInfo) => void) | undefined;
};

/** Seconds; an answer that asks for a longer wait is an error at once, so that no call hangs for minutes. */
const longestWait = 60;
const firstWaitMs = 500;
const longestBackoffMs = 8000;

export type Transport = ReturnType<typeof createTransport>;

/** Sends calls: credential, time limit, retries. */
export function createTransport(options: SignetOptions) {
  const inBrowser = isBrowser();
  const { apiKey, timeoutMs = 60_000, maxRetries = 3 } = options;
  const base = baseOf(options.baseUrl);
  // Called without an object before it: browsers' own refuses any other.
  const send = options.fetch ?? ((input: string | URL | Request, init?: RequestInit) => fetch(input, init));
  if (apiKey !== undefined && inBrowser)
    throw new Error("An API key must not be used in a browser: everybody who opens the page could read it.");
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError("apiKey is not an API key.");

  function requestOf({ operation, headers, body }: Call, signal: AbortSignal): RequestInit {
    const all = new Headers(headers);
    all.set("accept", operation.answer === "events" ? "text/event-stream" : "application/json, */*");
    if (apiKey !== undefined && !operation.open) all.set("authorization", `Bearer ${apiKey}`);
    if (!inBrowser) all.set("user-agent", `signet-sdk/${version}`);
    // A redirect would hand the key on, and make a GET of a POST.
    return { method: operation.method, headers: all, body, signal, redirect: "manual", credentials: "omit" };
  }

  /** @throws SignetError, SignetConnectionError, or the reason of the caller's signal */
  async function attempt<T>(call: Call, read: (response: Response) => Promise<T>): Promise<[T, Response]> {
    const limit = new AbortController();
    const signal = call.signal ? AbortSignal.any([call.signal, limit.signal]) : limit.signal;
    const request = requestOf(call, signal);
    const timer = setTimeout(() => limit.abort(), call.timeoutMs ?? timeoutMs);
    try {
      const response = await send(`${base}${call.address}`, request);
      if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400))
        throw unexpected(response, "The server answered with a redirect: check baseUrl.");
      if (!response.ok) throw await errorOf(response);
      return [await read(response), response];
    } catch (error) {
      if (call.signal?.aborted) throw call.signal.reason;
      if (error instanceof SignetError) throw error;
      const isTimeout = limit.signal.aborted;
      const message = isTimeout ? "The server did not answer in time." : "The server cannot be reached.";
      throw new SignetConnectionError(message, { cause: error, isTimeout });
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    timeoutMs,
    /**
     * Sends a call until it succeeds, cannot succeed or has been tried often enough.
     * @param read takes what is needed of a successful answer, as a part of the attempt
     */
    async run<T>(call: Call, read: (response: Response) => Promise<T>): Promise<T | undefined> {
      const { operation, signal, onResponse } = call;
      if (apiKey === undefined && !operation.open)
        throw new Error(`${operation.group}.${operation.name} needs an API key: new Signet({ baseUrl, apiKey }).`);
      const most = call.maxRetries ?? maxRetries;
      let mayBeDone = false;
      for (let retries = 0; ; retries += 1) {
        try {
          const [answer, { status, headers }] = await attempt(call, read);
          onResponse?.({ status, headers, requestId: headers.get("x-request-id") });
          return answer;
        } catch (error) {
          // What an earlier attempt deleted, whose answer was lost, is gone as was asked for.
          if (mayBeDone && operation.method === "DELETE" && error instanceof SignetError && error.status === 404)
            return undefined;
          const wait = retries < most && mayRepeat(call, error) ? waitBefore(retries, error) : null;
          if (wait === null) throw error;
          mayBeDone ||= !(error instanceof SignetError) || error.status >= 500;
          await pause(wait, signal);
        }
      }
    },
  };
}

/** Whether another attempt can do no harm, and may succeed. */
function mayRepeat({ operation, headers }: Call, error: unknown): boolean {
  const { method, open } = operation;
  // A draft that was saved has another tag: repeated, the same request would fail with 412 after it succeeded.
  const isSafe = method === "GET" || method === "DELETE" || (method === "PUT" && !("if-match" in headers));
  const harmless = isSafe || open === true || "idempotency-key" in headers;
  if (error instanceof SignetConnectionError) return harmless;
  if (!(error instanceof SignetError)) return false;
  // Refused before anything was done.
  if (error.status === 429 || error.code === "idempotency-in-progress") return true;
  return harmless && (error.status >= 500 || error.status === 408);
}

/** Milliseconds to wait; null when the service asks for more than anybody waits. */
function waitBefore(retries: number, error: unknown): number | null {
  const asked = error instanceof SignetError ? error.retryAfter : null;
  if (asked !== null) return asked <= longestWait ? asked * 1000 : null;
  const most = Math.min(firstWaitMs * 2 ** retries, longestBackoffMs);
  // Clients that failed together do not come back together.
  return most * (0.5 + Math.random() / 2);
}

/** @throws the signal's reason, when it is aborted meanwhile */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Whether this is a page or one of its workers, which have neither window nor document: every browser names itself Mozilla, no server does. */
const isBrowser = (): boolean =>
  (typeof window !== "undefined" && typeof document !== "undefined") ||
  (typeof navigator !== "undefined" && navigator.userAgent?.startsWith("Mozilla/") === true);

/** Without a slash at the end. @throws TypeError for anything but an address of http or https */
function baseOf(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search !== "" || url.hash !== "")
    throw new TypeError("baseUrl must be the address of the appliance, for example https://sign.example.com.");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}
