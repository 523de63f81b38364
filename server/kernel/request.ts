import type { Tx } from "./db.ts";
import type { AnyReply } from "./endpoint.ts";

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
