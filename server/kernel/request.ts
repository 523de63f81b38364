import type { IncomingMessage } from "node:http";
import type { Tx } from "./db.ts";
import type { AnyReply } from "./endpoint.ts";
import { AppError } from "./errors.ts";

/**
 * Stores the reply for idempotent replay in the transaction of the effect, so that a crash cannot part them. Called as the
 * last statement of the transaction.
 */
export type Remember = (tx: Tx, reply: AnyReply) => Promise<void>;

/** What a use case may know of the request, whatever the operation. */
export type RequestInfo = {
  requestId: string;
  ip: string;
  userAgent: string | null;
  /** First value of a request header, by lower-case name. */
  header: (name: string) => string | null;
  /** Aborted when the client goes away. */
  signal: AbortSignal;
  /** Whether the caller still holds what let them in: a stream asks now and then, since keys and sessions end. */
  stillAllowed: () => Promise<boolean>;
  /** Null when no Idempotency-Key was sent. A use case that does not call it has its reply stored after the effect. */
  remember: Remember | null;
};

/**
 * What Node would refuse by itself, without a problem document.
 * @throws AppError `malformed-request` without a host, `expectation-failed`
 */
export function requireUnderstood(request: Pick<IncomingMessage, "httpVersionMajor" | "httpVersionMinor" | "headers">) {
  const { httpVersionMajor, httpVersionMinor, headers } = request;
  if (httpVersionMajor === 1 && httpVersionMinor === 1 && headers.host === undefined) {
    throw new AppError("malformed-request", { detail: "The request has no Host header." });
  }
  const { expect } = headers;
  if (expect !== undefined && expect.toLowerCase() !== "100-continue") throw new AppError("expectation-failed");
}
