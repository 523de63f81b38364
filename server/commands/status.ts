import { machineChecks } from "../features/appliance/machine-checks.ts";
import { getStatus } from "../features/appliance/status-contract.ts";
import type { BackupState } from "../features/backup/contract.ts";
import { readStartFault } from "../kernel/start-fault.ts";
import { callLocal, NoAppliance } from "../local-client.ts";
import { type Command, print, table } from "./command.ts";
import { entryOf } from "./list.ts";
import { localAddress } from "./with-appliance.ts";

export const status: Command = {
  ...entryOf("status"),
  usage: ["signet status"],
  exitCodes: { 1: "it does not run" },
  async run(context) {
    try {
      const found = await callLocal(localAddress(context), getStatus, {});
      const { queue, queueByKind, storage, memory, expiries, acme, clock, checks, backup } = found;
      const kinds = queueByKind
        .slice(0, 5)
        .map(({ name, queued, running, dead }) => `${name} ${queued + running + dead}`);
      const growth = storage.growthBytesPerDay;
      const rows = [
        ["state", modes[found.mode]],
        ["address", found.url],
        ["version", found.version],
        ["since", `${found.startedAt} (${duration(found.uptimeSeconds)})`],
        ["data folder", found.dataDir],
        [
          "data",
          `${size(storage.usedBytes)}, of it database ${size(storage.databaseBytes)}, documents ${size(storage.documentBytes)}`,
        ],
        ["volume", `${size(storage.freeBytes)} free of ${size(storage.volumeBytes)}`],
        ["growth", growth === null ? "not known yet" : `${size(growth)} a day${until(storage.daysUntilFull)}`],
        ["memory", `${size(memory.processBytes)} used, ${size(memory.freeBytes)} free of ${size(memory.totalBytes)}`],
        [
          "work",
          `${queue.queued} waiting, ${queue.running} running, ${queue.dead} stuck${kinds.length > 0 ? ` (${kinds.join(", ")})` : ""}`,
        ],
        ...expiries.map(({ what, validUntil, days }) => [
          what === "tls" ? "TLS certificate" : `${what} key`,
          days < 0 ? `ended on ${validUntil.slice(0, 10)}` : `until ${validUntil.slice(0, 10)}, ${days} days`,
        ]),
        ...(acme === null ? [] : [["ACME", `${acme.detail}${acme.state === "ok" ? "" : ": signet tls acme status"}`]]),
        ["backup", backedUp(backup)],
        ["clock", clock.doubt ? `${clock.doubt.machine} is not believed: signet clock` : clock.now],
        [
          "checks",
          checks === null
            ? "none yet: signet doctor"
            : `${checks.wrong} wrong, ${checks.warning} warnings, of ${checks.at}`,
        ],
        ...(found.restartNeeded ? [["settings", "changed: the next start brings them into force"]] : []),
      ];
      print(context, { state: "running", ...found }, table(rows));
      return 0;
    } catch (error) {
      if (!(error instanceof NoAppliance) || error.reason !== "stopped") throw error;
      const failed = await readStartFault(context.config.dataDir);
      // A start that may not write leaves no record; what keeps it from that can be seen all the same.
      const wrong = (await machineChecks(context.config)).filter(({ state }) => state === "wrong");
      const lines = [
        "Signet is not running.",
        ...(failed ? [`Its last start failed at ${failed.at}: ${failed.message}`] : []),
        ...wrong.map(({ id, detail, action }) => `WRONG ${id}: ${detail}. ${action}`),
      ];
      print(context, { state: "stopped", lastStart: failed, wrong }, lines.join("\n"));
      return 1;
    }
  },
};

const modes = {
  normal: "running",
  "clock-doubted": "running; the clock is in doubt, and nothing is signed or sent",
  "disk-full": "running; the disk is nearly full or full, and nothing new is begun: signet doctor",
  "read-only": "running; the data folder cannot be written, and all work waits: signet doctor",
  damaged: "running; the database is damaged, and nothing is changed: restore the last backup",
} as const;

function backedUp({ settings, last, lastVerified, lastDrill }: BackupState): string {
  if (settings === null) return "none: set SIGNET_BACKUP_DIR and SIGNET_BACKUP_RECIPIENT";
  const whole = lastVerified === null ? "none verified yet" : `the last whole one is ${lastVerified.ageHours} h old`;
  const drill =
    lastDrill === null ? "no drill yet" : `drill ${lastDrill.status} ${Math.floor(lastDrill.ageHours / 24)} days ago`;
  const failed =
    last?.status === "failed" || last?.status === "damaged" ? `; the last one is ${last.status}: ${last.cause}` : "";
  return `${whole}, ${drill}${failed}`;
}

const units = ["B", "KiB", "MiB", "GiB", "TiB"];

/** Bytes for people. */
export function size(bytes: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(Math.abs(bytes), 1)) / 10), units.length - 1);
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

const until = (days: number | null): string => (days === null ? "" : `, full in ${days} days`);

function duration(seconds: number): string {
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  return days > 0 ? `${days} d ${hours} h` : hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min`;
}
