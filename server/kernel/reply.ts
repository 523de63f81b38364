import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { AnyReply, ServerSentEvent } from "./endpoint.ts";
import { AppError } from "./errors.ts";

/** An answer ready for the socket. */
export type Prepared = {
  status: number;
  headers: Record<string, string>;
  body: Buffer | string | Readable | null;
};

type Request = { method: string; header: (name: string) => string | null };

/**
 * Turns what a use case answered into status, headers and body: conditional requests and ranges (RFC 9110 §13, §14) included,
 * which are for reads only.
 * @throws AppError `range-not-satisfiable`
 * @param cached the answer may be kept: it gets a validator of its own when it has none
 */
export function prepareReply(reply: AnyReply, request: Request, cached = false): Prepared {
  if ("events" in reply) {
    return {
      status: reply.status,
      headers: { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" },
      body: Readable.from(writeEvents(reply.events), { objectMode: false }),
    };
  }
  if ("pieces" in reply) {
    return {
      status: reply.status,
      headers: {
        "content-type": reply.contentType,
        "content-disposition": dispositionOf("attachment", reply.filename),
      },
      body: Readable.from(reply.pieces, { objectMode: false }),
    };
  }
  if ("bytes" in reply) {
    const own = cached && reply.bytes instanceof Uint8Array ? { etag: tagOf(reply.bytes) } : {};
    return prepareBytes({ ...own, ...reply }, request);
  }
  if ("body" in reply) {
    const headers: Record<string, string> = { "content-type": "application/json; charset=utf-8", ...reply.headers };
    const body = JSON.stringify(reply.body);
    if (!cached || reply.status !== 200) return { status: reply.status, headers, body };
    headers.etag ??= `"${tagOf(body)}"`;
    return isKnown(request, headers.etag) ? { status: 304, headers, body: null } : { status: 200, headers, body };
  }
  return { status: reply.status, headers: { ...reply.headers }, body: null };
}

const tagOf = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");

/** Whether the client says that it has this already. */
const isKnown = (request: Request, etag: string): boolean =>
  request
    .header("if-none-match")
    ?.split(",")
    .some((tag) => tag.trim().replace(/^W\//, "") === etag || tag.trim() === "*") ?? false;

const isRead = ({ method }: Request): boolean => method === "GET" || method === "HEAD";

type Bytes = Extract<AnyReply, { bytes: unknown }>;

function prepareBytes(reply: Bytes, request: Request): Prepared {
  const etag = reply.etag ? `"${reply.etag}"` : null;
  const headers: Record<string, string> = { "content-type": reply.contentType, ...reply.headers };
  if (reply.disposition) headers["content-disposition"] = dispositionOf(reply.disposition, reply.filename);
  if (etag) headers.etag = etag;
  if (!isRead(request)) return { status: reply.status, headers, body: bodyOf(reply.bytes, null, headers) };
  headers["accept-ranges"] = "bytes";
  if (etag && isKnown(request, etag)) return { status: 304, headers, body: null };
  const size = sizeOf(reply.bytes);
  const ifRange = request.header("if-range");
  const range = ifRange && ifRange !== etag ? null : rangeOf(request.header("range"), size);
  if (range === "unsatisfiable") {
    throw new AppError("range-not-satisfiable", { headers: { "content-range": `bytes */${size}` } });
  }
  if (range) {
    headers["content-range"] = `bytes ${range.start}-${range.end}/${size}`;
    return { status: 206, headers, body: bodyOf(reply.bytes, range, headers) };
  }
  return { status: reply.status, headers, body: bodyOf(reply.bytes, null, headers) };
}

const sizeOf = (bytes: Bytes["bytes"]): number => (bytes instanceof Uint8Array ? bytes.length : bytes.size);

/** @param part null is the whole */
function bodyOf(
  bytes: Bytes["bytes"],
  part: { start: number; end: number } | null,
  headers: Record<string, string>,
): Buffer | Readable {
  const range = part ?? { start: 0, end: sizeOf(bytes) - 1 };
  const length = range.end + 1 - range.start;
  if (bytes instanceof Uint8Array) return Buffer.from(bytes.buffer, bytes.byteOffset + range.start, length);
  // A stream says its length to nobody by itself.
  headers["content-length"] = String(length);
  return Readable.from(bytes.pieces(range), { objectMode: false });
}

/** One byte range; several at once or another unit are answered with the whole (RFC 9110 §14.2 allows it). */
function rangeOf(header: string | null, size: number): { start: number; end: number } | "unsatisfiable" | null {
  const found = header ? /^bytes=(\d*)-(\d*)$/.exec(header.trim()) : null;
  if (!found || (found[1] === "" && found[2] === "")) return null;
  if (found[1] === "") {
    const length = Math.min(Number(found[2]), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size - 1 };
  }
  const start = Number(found[1]);
  const end = found[2] === "" ? size - 1 : Math.min(Number(found[2]), size - 1);
  if (start >= size) return "unsatisfiable";
  return start > end ? null : { start, end };
}

/** Content-Disposition with an ASCII name and, where needed, the UTF-8 one (RFC 6266, RFC 8187). */
function dispositionOf(kind: "inline" | "attachment", filename: string | undefined): string {
  if (!filename) return kind;
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const extended = encodeURIComponent(filename).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return ascii === filename
    ? `${kind}; filename="${ascii}"`
    : `${kind}; filename="${ascii}"; filename*=UTF-8''${extended}`;
}

/** The event stream format of the HTML standard, §9.2.6. */
async function* writeEvents(events: AsyncIterable<ServerSentEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    let text = "";
    if (event.comment !== undefined) text += `: ${event.comment}\n`;
    if (event.retry !== undefined) text += `retry: ${event.retry}\n`;
    if (event.event !== undefined) text += `event: ${event.event}\n`;
    if (event.id !== undefined) text += `id: ${event.id}\n`;
    if (event.data !== undefined)
      text += event.data
        .split("\n")
        .map((line) => `data: ${line}\n`)
        .join("");
    yield `${text}\n`;
  }
}
