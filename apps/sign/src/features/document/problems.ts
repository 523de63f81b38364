import { ProblemResponse } from "../../../../shared/api/client.ts";

/** What the service found wrong with a submission, sorted to where it belongs. */
export type Problems = {
  /** Sentence by field id; `signature` and `initials` stand for all fields of that kind. */
  fields: Readonly<Record<string, string>>;
  signature: string | null;
  initials: string | null;
};

export const noProblems: Problems = { fields: {}, signature: null, initials: null };

/** Reads the JSON Pointers (RFC 6901 §6) of a validation problem back into fields; what has no field is left out. */
export function problemsOf(error: unknown): Problems {
  if (!(error instanceof ProblemResponse)) return noProblems;
  const fields: Record<string, string> = {};
  let signature: string | null = null;
  let initials: string | null = null;
  for (const entry of error.problem.errors ?? []) {
    if (!("pointer" in entry)) continue;
    const [part, id] = entry.pointer
      .slice(1)
      .split("/")
      .slice(1)
      .map((token) => decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~"));
    if (part === "fields" && id !== undefined && !Object.hasOwn(fields, id)) fields[id] = entry.detail;
    else if (part === "signature") signature ??= entry.detail;
    else if (part === "initials") initials ??= entry.detail;
  }
  return { fields, signature, initials };
}
