import { ConfigError } from "../config.ts";
import { AppError } from "../kernel/errors.ts";
import type { ProblemError } from "../kernel/problem.ts";
import { LocalProblem } from "../local-client.ts";

/**
 * Does what writes settings. One that cannot be used is the caller's fault and no failure, whoever found it: the running appliance,
 * or this process on the data folder.
 * @throws ConfigError for it, caused by the refusal; everything else as it is
 */
export async function orWrongSetting<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof Error && refusedMembers(error).some(isSetting))
      throw new ConfigError(error.message, { cause: error });
    throw error;
  }
}

const isSetting = (member: ProblemError): boolean => "pointer" in member && member.pointer.startsWith("#/changes/");

function refusedMembers(error: Error): readonly ProblemError[] {
  if (error instanceof AppError) return error.options.errors ?? [];
  return error instanceof LocalProblem ? (error.problem.errors ?? []) : [];
}
