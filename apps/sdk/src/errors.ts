import type { ErrorCode, ProblemError } from "./api.ts";

type ProblemDocument = {
  code?: unknown;
  title?: unknown;
  detail?: unknown;
  errors?: unknown;
  permission?: unknown;
  upgradeUrl?: unknown;
  attemptsRemaining?: unknown;
  retryAfter?: unknown;
};

/** The service refused a call or failed, and said why (RFC 9457). `message` is a sentence for people. */
export class SignetError extends Error {
  /**
   * What went wrong, for programs. `unexpected-answer` when what came is no answer of Signet, for example a proxy's error page.
   * New codes can come with every version of the service.
   */
  readonly code: ErrorCode | "unexpected-answer" | (string & Record<never, never>);
  /** HTTP status. */
  readonly status: number;
  /** Names the request in the service's log. */
  readonly requestId: string | null;
  /** Each thing that is wrong with the request, with a pointer to it. */
  readonly errors: readonly ProblemError[];
  /** Seconds after which another attempt makes sense. */
  readonly retryAfter: number | null;
  /** The permission that the key lacks. */
  readonly permission: string | null;
  /** Where to get a plan that includes what was refused. */
  readonly upgradeUrl: string | null;
  /** How often a code can still be tried. */
  readonly attemptsRemaining: number | null;

  constructor(message: string, status: number, headers: Headers, problem: ProblemDocument) {
    super(message);
    this.name = "SignetError";
    this.code = textOf(problem.code) ?? "unexpected-answer";
    this.status = status;
    this.requestId = headers.get("x-request-id");
    this.errors = Array.isArray(problem.errors) ? problem.errors : [];
    this.retryAfter = secondsOf(headers.get("retry-after")) ?? numberOf(problem.retryAfter);
    this.permission = textOf(problem.permission);
    this.upgradeUrl = textOf(problem.upgradeUrl);
    this.attemptsRemaining = numberOf(problem.attemptsRemaining);
  }
}

/** No answer came: the service could not be reached, the connection broke, or an attempt took longer than `timeoutMs`. */
export class SignetConnectionError extends Error {
  readonly isTimeout: boolean;

  constructor(message: string, options: { cause?: unknown; isTimeout?: boolean } = {}) {
    super(message, { cause: options.cause });
    this.name = "SignetConnectionError";
    this.isTimeout = options.isTimeout ?? false;
  }
}

/** The error that an answer stands for which is no success. */
export async function errorOf(response: Response): Promise<SignetError> {
  const { status, headers } = response;
  const problem: unknown = await response.json().catch(() => null);
  if (isObject(problem) && typeof problem.code === "string") {
    const message = textOf(problem.detail) ?? textOf(problem.title) ?? problem.code;
    return new SignetError(message, status, headers, problem);
  }
  return unexpected(response, `The server answered with status ${status}.`);
}

/** Something else than Signet answered. */
export function unexpected({ status, headers }: Response, message: string): SignetError {
  return new SignetError(message, status, headers, {});
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
const numberOf = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** Retry-After is a number of seconds or a date (RFC 9110 §10.2.3). */
function secondsOf(header: string | null): number | null {
  if (header === null) return null;
  if (/^\d+$/.test(header.trim())) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}
