/** An operation of the service, as much as a client has to know of it. `scripts/build-sdk.ts` makes these from the endpoint table. */
export type Operation = {
  /** `envelopes` in `signet.envelopes.create`. */
  group: string;
  /** `create` in `signet.envelopes.create`. */
  name: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With `{name}` for parameters. */
  path: string;
  body?: "json" | "raw";
  /** Content types of a raw body; the first is assumed where nothing else is said. */
  types?: readonly string[];
  /** Takes parameters in the query. */
  query?: true;
  answer: "json" | "list" | "bytes" | "stream" | "events" | "empty";
  /** Takes Idempotency-Key. */
  idempotent?: true;
  /** Takes If-Match. */
  ifMatch?: true;
  /** Needs no key, and pages of any origin may call it. */
  open?: true;
};

declare const signetOperations: readonly Operation[];
declare const signetVersion: string;

/** Put in place by the build. */
export const operations: readonly Operation[] = signetOperations;
/** Version of this package, which is that of the service that it was built with. */
export const version: string = signetVersion;
