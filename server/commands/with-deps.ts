import { allOrganizations } from "../features/identity/service.ts";
import type { Deps } from "../kernel/deps.ts";
import { AppError, notFound } from "../kernel/errors.ts";
import { createLog } from "../kernel/log.ts";
import { explainStart } from "../kernel/start-fault.ts";
import type { OpenOptions } from "../open-deps.ts";
import { type CommandContext, UsageError } from "./command.ts";

/** Opens the data folder beside a running server or without one, runs the command on it, closes it. */
export async function withDeps<T>(
  { config }: CommandContext,
  use: (deps: Deps) => Promise<T>,
  options: Pick<OpenOptions, "createKey" | "updating"> = {},
): Promise<T> {
  // Most commands ask the running server and never need all that it is made of.
  const { openDeps } = await import("../open-deps.ts");
  const { deps, close } = await openDeps({ config, log: createLog("silent"), ...options }).catch(
    async (error: unknown) => {
      throw await explainStart(error, config);
    },
  );
  try {
    return await use(deps);
  } finally {
    await close();
  }
}

/** The organization that a command means: the only one, or the one named by id or name. */
export async function chosenOrganization(
  deps: Deps,
  wanted: string | undefined,
): Promise<{ id: string; name: string }> {
  const all = await allOrganizations(deps.db.read);
  if (all.length === 0) {
    throw new AppError("not-found", {
      detail: "There is no organization yet: signet init --organization NAME --email ADDRESS makes one.",
    });
  }
  if (wanted === undefined) {
    const [only] = all;
    if (all.length > 1 || !only)
      throw new UsageError(`name one with --organization: ${all.map(({ name }) => name).join(", ")}`);
    return only;
  }
  const found = all.find(({ id, name }) => id === wanted || name === wanted);
  if (!found) throw notFound(`The organization ${wanted}`);
  return found;
}
