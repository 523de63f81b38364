import { SignetConnectionError, SignetError } from "./errors.ts";
import { type Call, pause, type Transport } from "./transport.ts";

/** Milliseconds before a stream is opened again, unless the service says otherwise. */
const reconnectMs = 3000;
const longestWaitMs = 30_000;

/**
 * What an event stream tells, over as many connections as it takes, until the service ends it.
 * @throws SignetError when the service refuses it; SignetConnectionError when it could not be opened the first time; the reason of
 *   the caller's signal
 */
export async function* follow(
  transport: Transport,
  call: Call,
  lastEventId: string | undefined,
): AsyncGenerator<unknown, void, undefined> {
  const { signal } = call;
  const quietMs = call.timeoutMs ?? transport.timeoutMs;
  let opened = false;
  let last = lastEventId;
  let wait = reconnectMs;
  let failures = 0;
  for (;;) {
    const connection = new AbortController();
    const headers = last === undefined ? call.headers : { ...call.headers, "last-event-id": last };
    try {
      const both = signal ? AbortSignal.any([signal, connection.signal]) : connection.signal;
      const response = await transport.run({ ...call, headers, signal: both }, async (answer) => answer);
      if (!response?.body || response.status === 204) return;
      opened = true;
      failures = 0;
      for await (const event of eventsOf(response.body, quietMs)) {
        wait = event.retry ?? wait;
        if (event.name === "end") return;
        last = event.id ?? last;
        if (event.data !== "") yield parsed(event.data, response);
      }
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      // A service that starts again answers nothing, or 503, for a while; what was open goes on from its last entry.
      const passing = error instanceof SignetConnectionError || (error instanceof SignetError && error.status >= 500);
      if (error instanceof SignetError || error instanceof SignetConnectionError) {
        if (!opened || !passing) throw error;
        failures += 1;
      }
    } finally {
      connection.abort();
    }
    await pause(Math.min(wait * 2 ** Math.min(failures, 8), Math.max(wait, longestWaitMs)), signal);
  }
}

function parsed(data: string, { status, headers }: Response): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new SignetError("The server sent an event that is not JSON.", status, headers, {});
  }
}

type StreamEvent = { name: string; data: string; id: string | undefined; retry: number | undefined };

/**
 * Server-sent events, as the HTML standard (§9.2.6) reads them; `retry` comes as an event of its own.
 * @param quietMs how long nothing may come, not even a comment, before the connection counts as broken
 */
async function* eventsOf(body: ReadableStream<Uint8Array>, quietMs: number): AsyncGenerator<StreamEvent> {
  let name = "";
  let data: string[] = [];
  let id: string | undefined;
  for await (const line of linesOf(body, quietMs)) {
    if (line === "") {
      if (data.length > 0) yield { name, data: data.join("\n"), id, retry: undefined };
      name = "";
      data = [];
      continue;
    }
    const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "event") name = value;
    else if (field === "data") data.push(value);
    else if (field === "id" && !value.includes("\0")) id = value;
    else if (field === "retry" && /^\d+$/.test(value))
      yield { name: "", data: "", id: undefined, retry: Number(value) };
  }
}

async function* linesOf(body: ReadableStream<Uint8Array>, quietMs: number): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await within(quietMs, reader.read());
      if (done) return;
      text += decoder.decode(value, { stream: true });
      // A carriage return at the very end may be half of a line break.
      const lines = text.split(/\r\n|\n|\r(?=[^\n])/);
      text = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    // Whoever stops reading is told nothing more; that the connection is broken already is no matter.
    await reader.cancel().catch(() => undefined);
  }
}

/** @throws Error when it takes longer */
async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("nothing came for too long")), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
