import type { Deps } from "../kernel/deps.ts";
import type { EndpointSpec } from "../kernel/endpoint.ts";
import { operatorName } from "../kernel/operator-name.ts";
import type { Actor } from "../kernel/wire.ts";
import { callLocal, type LocalAddress, type LocalAnswer, type LocalInput, NoAppliance } from "../local-client.ts";
import type { CommandContext } from "./command.ts";
import { withDeps } from "./with-deps.ts";

/** Where the running appliance of these settings is reached, and who calls. */
export function localAddress({ config }: Pick<CommandContext, "config">): LocalAddress {
  return { socket: config.adminSocket, operator: operatorName() };
}

/** Who acts, in the audit, when no appliance runs that would say so. */
export const operatorActor = (): Actor => ({ type: "operator", id: null, name: operatorName(), email: null });

type Call = <const E extends EndpointSpec>(endpoint: E, input: LocalInput<E>) => Promise<LocalAnswer<E>>;

/**
 * Asks the running appliance; where none runs, does the same on the data folder.
 * @throws LocalProblem, and NoAppliance when one runs that cannot be asked
 */
export async function runningOrHere<T>(
  context: CommandContext,
  ways: {
    running: (call: Call) => Promise<T>;
    here: (deps: Deps, actor: Actor) => Promise<T>;
    /** Makes the master key of an empty data folder. */
    createKey?: boolean;
  },
): Promise<T> {
  const address = localAddress(context);
  try {
    return await ways.running((endpoint, input) => callLocal(address, endpoint, input));
  } catch (error) {
    if (!(error instanceof NoAppliance) || error.reason !== "stopped") throw error;
  }
  const { createKey = false } = ways;
  return await withDeps(context, (deps) => ways.here(deps, operatorActor()), { createKey });
}
