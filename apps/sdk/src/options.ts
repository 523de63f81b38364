/** How a client is made. */
export type SignetOptions = {
  /** Address of the appliance, for example `https://sign.example.com`. */
  baseUrl: string;
  /** An API key, `svc_live_…` or `svc_test_…`. Without one, only public verification works. Never in a browser. */
  apiKey?: string | undefined;
  /** Instead of the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /**
   * Milliseconds that one attempt may take; 60 000 unless said otherwise. A stream counts as broken when it is silent for as long: the
   * service says something every 15 seconds.
   */
  timeoutMs?: number | undefined;
  /** Attempts after the first one; 3 unless said otherwise, 0 for none. */
  maxRetries?: number | undefined;
};

/** What was answered, beside its content. */
export type ResponseInfo = { status: number; headers: Headers; requestId: string | null };

/** What every call takes. */
export type CallOptions = {
  /** Stops the call: it is rejected with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds that one attempt may take, instead of the client's `timeoutMs`. */
  timeoutMs?: number | undefined;
  /** Attempts after the first one, instead of the client's `maxRetries`. */
  maxRetries?: number | undefined;
  /** Told of each successful answer: its status and headers, for example `etag` or `x-deduplicated`. */
  onResponse?: ((response: ResponseInfo) => void) | undefined;
};

/** What calls take that create or send something. */
export type IdempotentOptions = CallOptions & {
  /**
   * 1 to 255 printable ASCII characters. The service acts once for a key in 24 hours. One is made for each call, so that it can
   * be retried; give your own where your program may repeat the whole call.
   */
  idempotencyKey?: string | undefined;
};

/** Where to begin in a stream. */
export type FollowOptions = CallOptions & {
  /** The `seq` of the last entry that you have; what came after it is sent. Everything, unless given. */
  lastEventId?: number | string | undefined;
};

/** A file to upload. */
export type FileContent = Blob | ArrayBuffer | Uint8Array;

/** A file as it was downloaded. */
export type DownloadedFile = { bytes: Uint8Array<ArrayBuffer>; contentType: string; filename: string | null };

/** A file that comes as it is made and may be large: read `stream`, or all of it with `bytes()`, once. */
export type StreamedFile = {
  stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  contentType: string;
  filename: string | null;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
};
