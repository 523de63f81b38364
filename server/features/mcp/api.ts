import { type AnswerOf, addressOf, type CallParts, type EndpointSpec } from "../../kernel/endpoint.ts";
import { eventData } from "../../kernel/event-data.ts";
import { Problem } from "../../kernel/problem.ts";

/**
 * Calls operations of the API as the holder of an API key. Who may do what, modes, limits and the audit trail are the API's own:
 * nothing is decided here.
 */

export type Sent = {
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  signal: AbortSignal;
};
/** Sends a request with the key to a path of the API: over the network, or within the process. */
export type Send = (path: string, sent: Sent) => Promise<Answer>;
/** What comes back, as `fetch` gives it; the body is read once. */
type Answer = { status: number; body: AsyncIterable<Uint8Array> | null };

/** The API refused the call. */
export class Refused extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.detail);
    this.name = "Refused";
    this.problem = problem;
  }
}

/** There is no answer, or none that can be used. The message is for people. */
export class NoAnswer extends Error {
  override name = "NoAnswer";
}

export type CallOptions = {
  headers?: Readonly<Record<string, string>>;
  signal: AbortSignal;
};

/** Calls of some operations and no others. */
export type Api<O extends EndpointSpec> = {
  /** @throws Refused, NoAnswer */
  call<E extends O>(endpoint: E, input: CallParts<E>, options: CallOptions): Promise<AnswerOf<E, Uint8Array>>;
  /**
   * The data of each event of a stream, until it ends or the signal aborts. A stream that has nothing to tell (204) ends with
   * `{}`, as one does that has told everything.
   * @throws Refused, NoAnswer
   */
  follow<E extends O>(endpoint: E, input: CallParts<E>, options: CallOptions): AsyncGenerator<unknown>;
};

/** Larger answers are not read. */
export const mostBytes = 10 * 1024 * 1024;

/** @param operations those that may be called: any other call is a defect of ours */
export function apiOf<O extends EndpointSpec>(send: Send, operations: readonly O[]): Api<O> {
  async function open(
    endpoint: O,
    { params, query, body }: { params?: unknown; query?: unknown; body?: unknown },
    { headers = {}, signal }: CallOptions,
  ): Promise<Answer> {
    if (!operations.includes(endpoint)) throw new Error(`${endpoint.id} is not among the operations of this tool`);
    const json = body === undefined ? {} : { "content-type": "application/json" };
    const response = await send(addressOf(endpoint, params, query), {
      method: endpoint.method,
      headers: { ...json, ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
    if (response.status < 400) return response;
    const problem = Problem.safeParse(jsonOf(await textOf(response)));
    if (problem.success) throw new Refused(problem.data);
    throw new NoAnswer(`The server answered with status ${response.status}, which cannot be understood.`);
  }

  return {
    async call<E extends O>(endpoint: E, input: CallParts<E>, options: CallOptions) {
      const response = await open(endpoint, input, options);
      // What the schema of this status makes of the body is what the type says.
      return (await readAnswer(endpoint, response)) as AnswerOf<E, Uint8Array>;
    },
    async *follow(endpoint, input, options) {
      const response = await open(endpoint, input, options);
      if (response.status === 204 || response.body === null) {
        await bytesOf(response);
        return yield {};
      }
      for await (const data of eventData(response.body)) yield jsonOf(data);
    },
  };
}

async function readAnswer(endpoint: EndpointSpec, response: Answer): Promise<unknown> {
  const spec = endpoint.responses[response.status];
  if (spec?.kind === "bytes") return await bytesOf(response);
  if (spec?.kind === "empty") return undefined;
  const parsed = spec?.kind === "json" ? spec.schema.safeParse(jsonOf(await textOf(response))) : undefined;
  if (parsed?.success) return parsed.data;
  throw otherwise();
}

/** An answer that does not fit its schema. */
export const otherwise = () =>
  new NoAnswer("The server answered otherwise than this program expects: both must be of one version.");

const textOf = async (response: Answer): Promise<string> => new TextDecoder().decode(await bytesOf(response));

/** @throws NoAnswer when it is larger than `mostBytes`, or cut off */
async function bytesOf(response: Answer): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > mostBytes) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw new NoAnswer("The connection was cut before the answer was complete.", { cause });
  }
  if (size <= mostBytes) return Buffer.concat(chunks);
  throw new NoAnswer(`The answer is larger than ${mostBytes / 1024 / 1024} MB: download it with the API instead.`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
