import { z } from "zod";
import {
  type AnswerOf,
  addressOf,
  type CallParts,
  type EndpointSpec,
  type ResponseSpec,
} from "../../../server/kernel/endpoint.ts";
import { Problem } from "../../../server/kernel/problem.ts";
import { shownOrganizationHeader } from "../../../server/kernel/wire.ts";
import { pageLanguage } from "../i18n.ts";

/** What a call of the endpoint takes: parameters, query and body by its schemas, and the access token where one is needed. */
export type CallInput<E extends EndpointSpec> = CallParts<E> & {
  token?: string;
  /** Makes a repeat harmless, on operations that take it. */
  idempotencyKey?: string;
  /** Entity tag that the resource must still have, on operations that look at it. */
  ifMatch?: string;
  signal?: AbortSignal;
};

export type Bytes = { bytes: Uint8Array<ArrayBuffer>; contentType: string; filename: string | null };
/** What a successful call gives: the parsed JSON, the bytes, or nothing. */
export type Answer<E extends EndpointSpec> = AnswerOf<E, Bytes>;

/** The service answered with a problem document (RFC 9457). */
export class ProblemResponse extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.detail);
    this.name = "ProblemResponse";
    this.problem = problem;
  }
}

/** No usable answer came: the network failed, or the answer has another shape than the contract. */
export class NoAnswer extends Error {
  readonly requestId: string | null;
  constructor(message: string, options: { requestId?: string | null; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "NoAnswer";
    this.requestId = options.requestId ?? null;
  }
}

/**
 * Calls an endpoint of the service as its specification says.
 * @throws ProblemResponse with the service's problem document; NoAnswer when there is no answer or an incomprehensible one
 */
export async function callEndpoint<E extends EndpointSpec>(endpoint: E, input: CallInput<E>): Promise<Answer<E>> {
  // Also when it is repeated after a sign-in: what was meant for one organization never happens in another.
  const shown = shownFor(endpoint);
  const response = await send(endpoint, input, shown);
  // The session ended while somebody worked: the call was refused before it did anything, so it may be repeated.
  const ended = response.status === 401 && endpoint.credential !== "public" && !input.token;
  if (ended && onSignedOut !== null && (await onSignedOut())) {
    return await readAnswer(endpoint, await send(endpoint, input, shown));
  }
  return await readAnswer(endpoint, response);
}

let shownOrganization: () => string | null = () => null;
let onOutdated: (() => void) | null = null;

/** Says which organization the page shows, so that the service does nothing for it in another one. */
export function showOrganization(read: () => string | null): void {
  shownOrganization = read;
}

/**
 * What to do when a refusal tells that the page knows too little of its session: it works in another organization by now, or
 * the person may do less.
 * @returns takes it back
 */
export function whenOutdated(handler: () => void): () => void {
  onOutdated = handler;
  return () => {
    if (onOutdated === handler) onOutdated = null;
  };
}

/** Null where it does not matter: for others than people, and for what belongs to the person in every organization. */
export function shownFor({ credential, method }: EndpointSpec): string | null {
  const matters = credential === "key" || credential === "dashboard" || (credential === "person" && method !== "GET");
  return matters ? shownOrganization() : null;
}

let onSignedOut: (() => Promise<boolean>) | null = null;

/**
 * What to do when a call is refused because the session has ended; resolves to whether there is a new one.
 * @returns takes it back
 */
export function whenSignedOut(handler: () => Promise<boolean>): () => void {
  onSignedOut = handler;
  return () => {
    if (onSignedOut === handler) onSignedOut = null;
  };
}

async function send<E extends EndpointSpec>(endpoint: E, input: CallInput<E>, shown: string | null): Promise<Response> {
  const { signal } = input;
  const headers = headersOf(input, shown);
  const body = bodyOf(endpoint, input.body, headers);
  const init: RequestInit = { method: endpoint.method, headers, cache: "no-store", credentials: "same-origin" };
  if (body !== undefined) init.body = body;
  if (signal) init.signal = signal;
  try {
    return await fetch(addressOf(endpoint, input.params, input.query), init);
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new NoAnswer("The server cannot be reached.", { cause });
  }
}

/**
 * What a response says by the endpoint's contract.
 * @throws ProblemResponse, NoAnswer
 */
export async function readAnswer<E extends EndpointSpec>(endpoint: E, response: Response): Promise<Answer<E>> {
  if (!response.ok) {
    const outdated = response.status === 403 || response.headers.has(shownOrganizationHeader);
    if (outdated && endpoint.credential !== "public") onOutdated?.();
    throw await failureOf(response);
  }
  return (await answerOf(endpoint.responses[response.status], response)) as Answer<E>;
}

export function headersOf(
  input: { token?: string; idempotencyKey?: string; ifMatch?: string },
  shown: string | null,
): Headers {
  const headers = new Headers({ accept: "application/json, application/problem+json, */*" });
  // What the service says of an error is shown on the page, which need not be in the browser's language.
  const language = pageLanguage();
  if (language) headers.set("accept-language", language);
  if (input.token) headers.set("authorization", `Bearer ${input.token}`);
  if (input.idempotencyKey) headers.set("idempotency-key", input.idempotencyKey);
  if (input.ifMatch) headers.set("if-match", input.ifMatch);
  if (shown !== null) headers.set(shownOrganizationHeader, shown);
  return headers;
}

const Multipart = z.object({ fields: z.record(z.string(), z.string()), file: z.instanceof(File) });

export function bodyOf(endpoint: EndpointSpec, body: unknown, headers: Headers): BodyInit | undefined {
  if (body === undefined) return undefined;
  if (endpoint.body?.kind === "multipart") {
    const { fields, file } = Multipart.parse(body);
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set("file", file, file.name);
    return form;
  }
  if (body instanceof File) {
    headers.set("content-type", body.type);
    headers.set("content-disposition", `attachment; filename*=UTF-8''${encodeURIComponent(body.name)}`);
    return body;
  }
  headers.set("content-type", "application/json");
  return JSON.stringify(body);
}

async function failureOf(response: Response): Promise<Error> {
  const requestId = response.headers.get("x-request-id");
  const parsed = Problem.safeParse(await response.json().catch(() => null));
  if (parsed.success) return new ProblemResponse(parsed.data);
  return new NoAnswer(`The server answered with status ${response.status}.`, { requestId });
}

async function answerOf(spec: ResponseSpec | undefined, response: Response): Promise<unknown> {
  if (spec?.kind === "json") {
    const parsed = spec.schema.safeParse(await response.json().catch(() => undefined));
    if (parsed.success) return parsed.data;
    const requestId = response.headers.get("x-request-id");
    throw new NoAnswer("The server's answer could not be understood.", { requestId, cause: parsed.error });
  }
  if (spec?.kind === "bytes" || spec?.kind === "stream") {
    return {
      bytes: new Uint8Array(await response.arrayBuffer()),
      contentType: response.headers.get("content-type") ?? "application/octet-stream",
      filename: filenameOf(response.headers.get("content-disposition")),
    };
  }
  return undefined;
}

/** RFC 6266: the extended form wins. */
function filenameOf(disposition: string | null): string | null {
  const extended = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? "")?.[1];
  if (extended) return decodeURIComponent(extended);
  return /filename="([^"]*)"/i.exec(disposition ?? "")?.[1] ?? null;
}
