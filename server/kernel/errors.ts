import { type ErrorCode, type ProblemError, problemKinds } from "./problem.ts";

export type AppErrorOptions = {
  /** Sentence for people; the default of the code otherwise. */
  detail?: string;
  errors?: ProblemError[];
  permission?: string;
  attemptsRemaining?: number;
  /** Seconds; sent as Retry-After too. */
  retryAfter?: number;
  upgradeUrl?: string;
  headers?: Record<string, string>;
  /** Kept for the log, never sent. */
  cause?: unknown;
};

/** The one error that use cases throw on purpose. `kernel/failures.ts` turns it into a problem document. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly options: AppErrorOptions;

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(options.detail ?? problemKinds[code].detail, { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.options = options;
  }

  get status(): number {
    return problemKinds[this.code].status;
  }
}

/** A `validation-failed` with these errors; `detail` counts them when there is more than one. */
export function invalid(errors: ProblemError[]): AppError {
  const [first] = errors;
  const detail =
    first && errors.length === 1 ? first.detail : `The request has ${errors.length} invalid members: see \`errors\`.`;
  return new AppError("validation-failed", { detail, errors: errors.slice(0, 50) });
}

export function notFound(what: string): AppError {
  return new AppError("not-found", { detail: `${what} was not found.` });
}
