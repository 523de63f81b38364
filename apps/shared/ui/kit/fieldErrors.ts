import { ProblemResponse } from "../../api/client.ts";

/** What a refused call says about single members of its body, by pointer (`#/recipients/0/email`); empty for any other error. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof ProblemResponse)) return {};
  const found: Record<string, string> = {};
  for (const entry of error.problem.errors ?? []) {
    if ("pointer" in entry && entry.pointer !== undefined) found[entry.pointer] ??= entry.detail;
  }
  return found;
}
