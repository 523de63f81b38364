import type { IncomingMessage } from "node:http";
import { Busboy } from "@fastify/busboy";
import type { BodySpec, MultipartBody, RawBody, UploadedFile } from "./endpoint.ts";
import { AppError } from "./errors.ts";
import { Gathering } from "./gathering.ts";
import { isSeen } from "./wire.ts";

/** A body that no operation asked for may be this long; it is read only because the idempotency fingerprint covers it. */
const unaskedBytes = 1024 * 1024;

/** `type/subtype` in lower case, without parameters. */
export function mediaType(header: string | undefined): string {
  return (header ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/**
 * The most bytes this request may carry.
 * @throws AppError `unsupported-media-type` when the operation does not take this content type
 */
export function bodyLimit(spec: BodySpec | undefined, contentType: string, hasBody: boolean): number {
  if (!spec) return unaskedBytes;
  switch (spec.kind) {
    case "json":
      if (!hasBody) return spec.maxBytes;
      if (contentType === "application/json" || contentType.endsWith("+json")) return spec.maxBytes;
      throw unsupported(contentType, ["application/json"]);
    case "multipart":
      if (contentType === "multipart/form-data") return spec.maxBytes;
      throw unsupported(contentType, ["multipart/form-data"]);
    case "raw": {
      const limit = spec.types[contentType];
      if (limit !== undefined) return limit;
      throw unsupported(contentType, Object.keys(spec.types));
    }
  }
}

function unsupported(got: string, accepted: readonly string[]): AppError {
  const said = got === "" ? "The request has no Content-Type" : `Content-Type ${got} is not accepted here`;
  return new AppError("unsupported-media-type", { detail: `${said}. Send ${accepted.join(" or ")}.` });
}

/** How slowly a body may come: after `graceMs` milliseconds, `bytesPerSecond` on an average since it began. */
export type Pace = { graceMs: number; bytesPerSecond: number };
/** The slowest mobile network carries ten times as much; one that pauses lives on what came before. */
const slowest: Pace = { graceMs: 30_000, bytesPerSecond: 1024 };

/**
 * Reads the whole body, never more than `limit` bytes of it.
 * @throws AppError `payload-too-large`; `request-timeout` when it comes in drops
 */
export async function readBytes(request: IncomingMessage, limit: number, pace = slowest): Promise<Buffer> {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limit) throw tooLarge(request, limit);
  const body = new Gathering();
  let watch: NodeJS.Timeout | undefined;
  const whole = await new Promise<boolean>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      if (body.size + chunk.length <= limit) body.add(chunk);
      else {
        request.off("data", take);
        resolve(false);
      }
    };
    request.on("data", take);
    request.once("end", () => resolve(true));
    // The client went away: its connection is the only thing that can fail here.
    const cut = (cause?: Error) =>
      reject(new AppError("malformed-request", { detail: "The body ended early.", cause }));
    request.once("error", cut);
    request.once("close", () => cut());
    const began = performance.now();
    watch = setInterval(() => {
      const seconds = (performance.now() - began - pace.graceMs) / 1000;
      if (seconds <= 0 || body.size >= seconds * pace.bytesPerSecond) return;
      request.off("data", take);
      reject(new AppError("request-timeout"));
    }, pace.graceMs / 10);
  }).finally(() => clearInterval(watch));
  if (!whole) throw tooLarge(request, limit);
  return body.whole();
}

/**
 * The answer goes out at once. What the client still sends is dropped without being kept, until the server's request
 * timeout ends it: a connection that closed at once would be reset, and the client would never read why.
 */
function tooLarge(request: IncomingMessage, limit: number): AppError {
  request.resume();
  return new AppError("payload-too-large", { detail: `The body is larger than ${sizeOf(limit)}.` });
}

function sizeOf(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${Math.floor(bytes / 1024 / 1024)} MB` : `${Math.floor(bytes / 1024)} KB`;
}

/** A raw body with the name from Content-Disposition (RFC 6266). */
export function rawBody(request: IncomingMessage, contentType: string, bytes: Uint8Array): RawBody {
  return { contentType, filename: filenameOf(request.headers["content-disposition"]), bytes };
}

function filenameOf(header: string | undefined): string | null {
  if (!header) return null;
  const extended = /filename\*\s*=\s*utf-8''([^;]+)/i.exec(header)?.[1];
  const plain = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(header);
  let name = plain?.[1]?.replace(/\\(.)/g, "$1") ?? plain?.[2] ?? null;
  if (extended) {
    try {
      name = decodeURIComponent(extended);
    } catch {
      // A broken extended name leaves the plain one.
    }
  }
  return plainFileName(name);
}

/**
 * The last part of a path as one line to be read: without control characters and what turns the direction of writing, at most
 * 200 characters long. Null when nothing of it can be seen.
 */
function plainFileName(given: string | null | undefined): string | null {
  const last = (given ?? "").split(/[\\/]/).at(-1) ?? "";
  const line = last.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, "").trim();
  // By code points: half a character could be neither stored nor hashed.
  const name = [...line].slice(0, 200).join("").trim();
  return name !== "" && isSeen(name) ? name : null;
}

/**
 * Splits multipart/form-data (RFC 7578) that is already in memory.
 * @throws AppError `malformed-request`
 */
export async function parseMultipart(
  contentType: string,
  bytes: Uint8Array,
): Promise<MultipartBody<Record<string, string>>> {
  const fields = new Map<string, string>();
  const files: UploadedFile[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      const parser = Busboy({
        headers: { "content-type": contentType },
        limits: { files: 20, fields: 50, fieldSize: 64 * 1024, parts: 70, headerPairs: 100 },
      });
      parser.on("field", (name, value) => {
        fields.set(name, value);
      });
      parser.on("file", (field, stream, filename, _encoding, type) => {
        const content = new Gathering();
        stream.on("data", (chunk: Buffer) => content.add(chunk));
        stream.on("error", reject);
        stream.on("end", () => {
          const name = plainFileName(filename) ?? "file";
          files.push({ field, filename: name, contentType: mediaType(type), bytes: content.whole() });
        });
      });
      for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const) {
        parser.on(limit, () => reject(new Error("too many parts")));
      }
      parser.on("error", reject);
      parser.on("finish", resolve);
      parser.end(bytes);
    });
  } catch (cause) {
    throw new AppError("malformed-request", { detail: "The multipart body could not be read.", cause });
  }
  return { fields: Object.fromEntries(fields), files };
}
