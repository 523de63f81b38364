import type { DrawCode, InspectCode, Result, WorkerFailure } from "../../../workers/protocol.ts";
import { AppError } from "../../kernel/errors.ts";
import { TaskCrashed, TaskTimeout } from "../../kernel/pool.ts";
import type { ProblemError } from "../../kernel/problem.ts";

/** What the workers' refusals mean to the caller. */

/**
 * The value of a drawing task.
 * @param place of the error in the request
 * @throws AppError `render-failed`
 */
export async function drawn<T>(
  task: Promise<Result<T, DrawCode>>,
  place: { pointer: string } | { parameter: string },
): Promise<T> {
  const result = await task.catch((error: unknown) => gaveUp(error, "too-complex"));
  if (result.ok) return result.value;
  const detail = sentence(result.error.message);
  const errors: ProblemError[] = [{ ...place, code: "format", detail }];
  throw new AppError("render-failed", { detail: `The document could not be rendered. ${detail}`, errors });
}

/**
 * The value of an inspection.
 * @throws AppError `invalid-document`, its first error naming the reason
 */
export async function inspected<T>(task: Promise<Result<T, InspectCode>>): Promise<T> {
  const result = await task.catch((error: unknown) => gaveUp(error, "too-complex"));
  if (result.ok) return result.value;
  const detail = sentence(result.error.message);
  throw new AppError("invalid-document", { detail, errors: [{ pointer: "#", code: "format", detail }] });
}

/** A document that takes too long or brings a worker down is the document's fault, not the caller's to repeat. */
function gaveUp<C extends string>(error: unknown, code: C): { ok: false; error: WorkerFailure<C> } {
  if (error instanceof TaskTimeout || error instanceof TaskCrashed) {
    return { ok: false, error: { code, message: "The document is too complex to be processed." } };
  }
  throw error;
}

function sentence(text: string): string {
  const first = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
