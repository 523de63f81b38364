import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { promisify } from "node:util";
import { AppError } from "../../kernel/errors.ts";
import { callLocal, type LocalAddress, NoAppliance } from "../../local-client.ts";
import { endProcess } from "./contract.ts";

/** Whoever starts the appliance again when it ended. */
export type ServiceControl = {
  name: string;
  /** It starts what does not run; otherwise somebody else has to. */
  starts: boolean;
  /** Ends what runs. One that supervises may begin the next at once. */
  stop: () => Promise<void>;
  start: () => Promise<void>;
};

const run = promisify(execFile);

/** Where systemd is found; the tests name another. */
export type Systemd = { booted: string; systemctl: string };
const systemd: Systemd = { booted: "/run/systemd/system", systemctl: "systemctl" };

/** A unit of systemd; starts are not waited for, since the health of what was started is asked anyway. */
function systemdUnit(unit: string, systemctl: string): ServiceControl {
  return {
    name: `systemd ${unit}`,
    starts: true,
    async stop() {
      await run(systemctl, ["stop", unit]);
    },
    async start() {
      // One that failed too often is not started again without this.
      await run(systemctl, ["reset-failed", unit]).catch(() => undefined);
      await run(systemctl, ["start", "--no-block", unit]);
    },
  };
}

/** Something else that starts it again whenever it ended: a container, runit, WinSW. */
function supervised(address: LocalAddress): ServiceControl {
  return {
    name: "its supervisor",
    starts: false,
    async stop() {
      await callLocal(address, endProcess, {}).catch((error: unknown) => {
        // It ended already, or ended before it had answered.
        if (!(error instanceof NoAppliance) || error.reason === "forbidden") throw error;
      });
    },
    start: async () => undefined,
  };
}

/**
 * @param wanted a unit of systemd, `supervised`, or undefined for whichever is there
 * @throws AppError `conflict` when there is no such unit: it could be neither stopped nor started, and nothing be put back
 */
export async function serviceControl(
  wanted: string | undefined,
  address: LocalAddress,
  { booted: bootedFolder, systemctl } = systemd,
): Promise<ServiceControl> {
  if (wanted === "supervised") return supervised(address);
  const unit = wanted ?? "signet.service";
  const booted = await access(bootedFolder).then(
    () => true,
    () => false,
  );
  if (!booted) {
    if (wanted === undefined) return supervised(address);
    throw new AppError("conflict", {
      detail: `systemd does not run here, so no unit ${unit}: say --service supervised.`,
    });
  }
  const { stdout } = await run(systemctl, ["show", "--property=LoadState", "--value", unit]);
  if (stdout.trim() === "loaded") return systemdUnit(unit, systemctl);
  if (wanted === undefined) return supervised(address);
  throw new AppError("conflict", {
    detail: `systemd has no unit ${unit} (${stdout.trim()}): name the one that runs Signet.`,
  });
}
