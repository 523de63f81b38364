import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

export type Got =
  | { status: number; body: string }
  /** `connected` tells a server that does not answer from one that is not there. */
  | { status: null; code: string; connected: boolean };

const largestBody = 8 * 1024 * 1024;

/**
 * One GET. node:http rather than fetch: it tells a connection that was made from one that was refused, and names causes by
 * code. Redirects are not followed.
 * @param timeoutMs for the whole exchange, in milliseconds
 */
export function get(url: URL, timeoutMs: number): Promise<Got> {
  return new Promise((resolve) => {
    let connected = false;
    const failed = (code: string) => resolve({ status: null, code, connected });
    const start = url.protocol === "https:" ? requestHttps : requestHttp;
    const request = start(url, { agent: false, headers: { accept: "application/json" } }, (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on("data", (chunk: Buffer) => {
        length += chunk.length;
        if (length > largestBody) request.destroy(codeError("ETOOLARGE"));
        else chunks.push(chunk);
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString("utf8") }),
      );
      response.on("error", (error) => failed(codeOf(error)));
    });
    const ready = url.protocol === "https:" ? "secureConnect" : "connect";
    request.on("socket", (socket) => socket.once(ready, () => (connected = true)));
    const timer = setTimeout(() => request.destroy(codeError("ETIMEDOUT")), timeoutMs);
    request.on("close", () => clearTimeout(timer));
    request.on("error", (error) => failed(codeOf(error)));
    request.end();
  });
}

const codeError = (code: string) => Object.assign(new Error(code), { code });

function codeOf(error: Error): string {
  // Both families refused: the reasons stand inside.
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return inner instanceof Error && "code" in inner && typeof inner.code === "string" ? inner.code : "UNKNOWN";
}
