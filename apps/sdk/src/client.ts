import type { Resources } from "./api.ts";
import { isObject, unexpected } from "./errors.ts";
import { follow } from "./follow.ts";
import { type Operation, operations } from "./operations.ts";
import type { CallOptions, DownloadedFile, SignetOptions, StreamedFile } from "./options.ts";
import { listOf, type Page } from "./pages.ts";
import { type Call, createTransport, type Transport } from "./transport.ts";

/** The package's own module: a client of one appliance, and what else a program that uses it needs. */

export type * from "./api.ts";
export { SignetConnectionError, SignetError } from "./errors.ts";
export type * from "./options.ts";
export type { List, Page } from "./pages.ts";
export { type VerifyWebhookInput, verifyWebhook, type WebhookFault, WebhookVerificationError } from "./webhooks.ts";

/** A client of one appliance, with one key. */
export type Signet = Resources;

/**
 * @throws TypeError for an address or a key that is none; Error for a key in a browser
 */
export const Signet: new (options: SignetOptions) => Signet = class Signet {
  readonly [group: string]: Readonly<Record<string, Method>>;

  constructor(options: SignetOptions) {
    const transport = createTransport(options);
    const groups: Record<string, Record<string, Method>> = {};
    for (const operation of operations) {
      const { group, name } = operation;
      groups[group] = { ...groups[group], [name]: methodOf(operation, transport) };
    }
    Object.assign(this, groups);
  }
};

type Method = (...args: unknown[]) => unknown;

function methodOf(operation: Operation, transport: Transport): Method {
  switch (operation.answer) {
    case "list":
      return (...args) =>
        listOf(async (cursor) => {
          const { call } = callOf(operation, args, cursor);
          return (await transport.run(call, pageOf)) ?? { data: [], hasMore: false, nextCursor: null };
        });
    case "events":
      return async function* (...args) {
        const { call, lastEventId } = callOf(operation, args);
        yield* follow(transport, call, lastEventId);
      };
    case "json":
      return async (...args) => await transport.run(callOf(operation, args).call, jsonOf);
    case "bytes":
      return async (...args) => await transport.run(callOf(operation, args).call, fileOf);
    case "stream":
      return async (...args) => await transport.run(callOf(operation, args).call, streamOf);
    case "empty":
      return async (...args) => await transport.run(callOf(operation, args).call, async () => undefined);
  }
}

/** What a method takes last; each operation takes some of these. */
type Options = CallOptions & {
  idempotencyKey?: string;
  ifMatch?: string;
  query?: object;
  contentType?: string;
  filename?: string;
  lastEventId?: string | number;
};

const optionNames = ({ method, query, body, idempotent, ifMatch, answer }: Operation): Set<string> =>
  new Set([
    ...["signal", "timeoutMs", "maxRetries", "onResponse"],
    ...(idempotent ? ["idempotencyKey"] : []),
    ...(ifMatch ? ["ifMatch"] : []),
    ...(query && method !== "GET" ? ["query"] : []),
    ...(body === "raw" ? ["contentType", "filename"] : []),
    ...(answer === "events" ? ["lastEventId"] : []),
  ]);

/**
 * Reads the arguments of a method: parameters of the path in their order, then the body, or the query of a GET, then the options.
 * @param cursor of a further page
 * @throws TypeError for what the operation does not take
 */
function callOf(
  operation: Operation,
  args: readonly unknown[],
  cursor?: string,
): { call: Call; lastEventId: string | undefined } {
  const { method, path, body } = operation;
  const rest = [...args];
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segmentOf(operation, name, rest.shift()));
  const content = body === undefined ? undefined : rest.shift();
  const given = operation.query && method === "GET" ? rest.shift() : undefined;
  const options = optionsOf(operation, rest.shift());
  if (rest.length > 0) throw new TypeError(`${nameOf(operation)} takes fewer arguments.`);
  const query = given ?? options.query ?? {};
  if (!isObject(query)) throw new TypeError(`${nameOf(operation)}: the query must be an object.`);
  const headers = headersOf(operation, options);
  const { signal, timeoutMs, maxRetries, onResponse, lastEventId } = options;
  const address = `${filled}${searchOf(cursor === undefined ? query : { ...query, cursor })}`;
  const call = { operation, address, headers, signal, timeoutMs, maxRetries, onResponse };
  return {
    call: { ...call, body: bodyOf(operation, content, options, headers) },
    lastEventId: lastEventId === undefined ? undefined : String(lastEventId),
  };
}

const nameOf = ({ group, name }: Operation): string => `signet.${group}.${name}`;

/** @throws TypeError for what would lead to another address */
function segmentOf(operation: Operation, name: string, value: unknown): string {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || /^\.{0,2}$/.test(text))
    throw new TypeError(`${nameOf(operation)}: ${name} is missing.`);
  return encodeURIComponent(text);
}

/** What is not known is refused: a misplaced `dry_run` must not send an envelope. */
function optionsOf(operation: Operation, value: unknown): Options {
  const options = value ?? {};
  const known = optionNames(operation);
  if (!isOptions(options, known)) {
    const unknown = isObject(options) ? Object.keys(options).filter((name) => !known.has(name)) : [];
    throw new TypeError(
      unknown.length > 0
        ? `${nameOf(operation)} has no option ${unknown.join(", ")}.`
        : `${nameOf(operation)}: the options must be an object.`,
    );
  }
  return options;
}

const isOptions = (value: unknown, known: Set<string>): value is Options =>
  isObject(value) && Object.keys(value).every((name) => known.has(name));

function headersOf(operation: Operation, { idempotencyKey, ifMatch }: Options): Record<string, string> {
  const headers: Record<string, string> = {};
  if (operation.idempotent) {
    const key = idempotencyKey ?? crypto.randomUUID();
    if (!/^[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(key))
      throw new TypeError("idempotencyKey must be 1 to 255 printable ASCII characters.");
    headers["idempotency-key"] = key;
  }
  if (ifMatch !== undefined) headers["if-match"] = ifMatch;
  return headers;
}

/** Adds the headers of the content, too. */
function bodyOf(operation: Operation, content: unknown, options: Options, headers: Record<string, string>) {
  if (operation.body === undefined || content === undefined) return null;
  if (operation.body === "json") {
    headers["content-type"] = "application/json";
    return JSON.stringify(content);
  }
  const isFile = content instanceof Blob;
  if (!isFile && !(content instanceof ArrayBuffer) && !(content instanceof Uint8Array))
    throw new TypeError(`${nameOf(operation)}: the file must be a Blob, an ArrayBuffer or a Uint8Array.`);
  const { types = [] } = operation;
  const own = isFile && types.includes(content.type) ? content.type : types[0];
  headers["content-type"] = options.contentType ?? own ?? "application/octet-stream";
  const filename = options.filename ?? (typeof File !== "undefined" && content instanceof File ? content.name : null);
  if (filename !== null)
    headers["content-disposition"] = `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`;
  return isFile ? content : new Uint8Array(content);
}

/** A list becomes one parameter an entry, and what is undefined is left out. */
function searchOf(query: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined) search.append(name, String(each));
  }
  return search.size > 0 ? `?${search}` : "";
}

async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw unexpected(response, "The server's answer is not JSON: check baseUrl.");
  }
}

async function pageOf(response: Response): Promise<Page<unknown>> {
  const page = await jsonOf(response);
  if (isPage(page)) return page;
  throw unexpected(response, "The server's answer is not a list: check baseUrl.");
}

const isPage = (value: unknown): value is Page<unknown> =>
  isObject(value) && Array.isArray(value.data) && (value.nextCursor === null || typeof value.nextCursor === "string");

async function fileOf(response: Response): Promise<DownloadedFile> {
  return { bytes: new Uint8Array(await response.arrayBuffer()), ...describe(response) };
}

async function streamOf(response: Response): Promise<StreamedFile> {
  return {
    stream: response.body ?? new Blob([]).stream(),
    ...describe(response),
    bytes: async () => new Uint8Array(await response.arrayBuffer()),
  };
}

const describe = ({ headers }: Response) => ({
  contentType: headers.get("content-type") ?? "application/octet-stream",
  filename: filenameOf(headers.get("content-disposition") ?? ""),
});

/** RFC 6266: the extended form wins. */
function filenameOf(disposition: string): string | null {
  const extended = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1];
  if (extended === undefined) return /filename="([^"]*)"/i.exec(disposition)?.[1] ?? null;
  try {
    return decodeURIComponent(extended);
  } catch {
    return null;
  }
}
