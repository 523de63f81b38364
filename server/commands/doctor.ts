import { stat } from "node:fs/promises";
import path from "node:path";
import { runChecks } from "../features/appliance/checks.ts";
import { machineChecks } from "../features/appliance/machine-checks.ts";
import { type Finding, getChecks } from "../features/health/contract.ts";
import { countStates, finding, messageOf } from "../features/health/service.ts";
import { peekTls } from "../features/tls/peek.ts";
import { readStartFault } from "../kernel/start-fault.ts";
import { callLocal, NoAppliance } from "../local-client.ts";
import { type Command, type CommandContext, print, table } from "./command.ts";
import { entryOf } from "./list.ts";
import { localAddress } from "./with-appliance.ts";
import { withDeps } from "./with-deps.ts";

export const doctor: Command = {
  ...entryOf("doctor"),
  usage: ["signet doctor"],
  exitCodes: { 1: "something is wrong; warnings alone are none" },
  async run(context) {
    const data = await findings(context);
    const counts = countStates(data);
    const ok = counts.wrong === 0;
    const rows = data.map(({ id, state, detail, action }) => {
      return [state === "ok" ? "ok" : state.toUpperCase(), id, action === null ? detail : `${detail}. ${action}`];
    });
    print(context, { ok, counts, findings: data }, table(rows));
    return ok ? 0 : 1;
  },
};

/** A running appliance looks itself: it knows what it serves. Otherwise, or when it does not answer, what lies there is looked at. */
export async function findings(context: CommandContext): Promise<Finding[]> {
  const service = finding("service", "service");
  try {
    const { data } = await callLocal(localAddress(context), getChecks, { query: { thorough: "1" } });
    return [service.ok("service.running", {}), ...data];
  } catch (error) {
    if (!(error instanceof NoAppliance)) throw error;
    const failed = await readStartFault(context.config.dataDir);
    const stopped = failed
      ? service.wrong("service.failed", { at: failed.at, cause: failed.message })
      : service.ok("service.stopped", {});
    const silent = service.wrong("service.silent", { cause: error.message });
    return [error.reason === "stopped" ? stopped : silent, ...(await hereFindings(context))];
  }
}

async function hereFindings(context: CommandContext): Promise<Finding[]> {
  const database = await stat(path.join(context.config.dataDir, "signet.db")).catch(() => null);
  // A machine on which nothing was started yet: opening the data would begin to make it.
  if (database === null) return await machineChecks(context.config);
  try {
    const tls = await peekTls(context.config);
    return await withDeps(context, async (deps) => (await runChecks(deps, { tls, thorough: true })).data);
  } catch (error) {
    // What keeps the data from being opened says the rest.
    const machine = await machineChecks(context.config);
    if (machine.some(({ state }) => state === "wrong")) return machine;
    return [...machine, finding("data", "storage").wrong("data.unreadable", { cause: messageOf(error) })];
  }
}
