import { ProblemResponse } from "../../../../shared/api/client.ts";

const endings = ["envelope-not-in-progress", "not-recipients-turn", "recipient-finished"];

/** Whether a refusal says that the envelope went on without this page: then the session knows what to show instead. */
export function isOver(error: unknown): boolean {
  return error instanceof ProblemResponse && endings.includes(error.problem.code);
}
