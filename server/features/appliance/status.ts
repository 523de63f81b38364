import { freemem, totalmem } from "node:os";
import type { RunningHost } from "../../feature.ts";
import type { StorageLevel } from "../../kernel/capacity.ts";
import type { Deps } from "../../kernel/deps.ts";
import { version } from "../../version.ts";
import { readBackupState } from "../backup/service.ts";
import { acmeHealth } from "../tls/service.ts";
import { lastCounts } from "./checks.ts";
import { readExpiries } from "./expiries.ts";
import { readSettings } from "./settings.ts";
import type { ApplianceStatus } from "./status-contract.ts";
import { readStorage } from "./storage.ts";
import { countByKind } from "./work-store.ts";

const modes: Readonly<Record<StorageLevel, ApplianceStatus["mode"]>> = {
  ok: "normal",
  warning: "normal",
  full: "disk-full",
  exhausted: "disk-full",
  "read-only": "read-only",
  damaged: "damaged",
};

/** How the running appliance is, of this moment. */
export async function readStatus(deps: Deps, host: RunningHost): Promise<ApplianceStatus> {
  const { config, clock, db, capacity } = deps;
  const { startedAt, url, tls, jobs, backups } = host;
  const doubt = clock.doubt?.() ?? null;
  const [queue, queueByKind, storage, expiries, acme, backup] = await Promise.all([
    jobs.counts(),
    countByKind(db.read),
    readStorage(deps),
    readExpiries(db.read, clock.now(), tls.current()?.certPem ?? null),
    acmeHealth(deps, tls.current()),
    readBackupState(deps, backups),
  ]);
  return {
    version,
    mode: doubt === null ? modes[capacity.state().storage] : "clock-doubted",
    startedAt,
    uptimeSeconds: Math.floor(process.uptime()),
    url,
    selfSigned: tls.current()?.source === "self-signed",
    dataDir: config.dataDir,
    queue,
    queueByKind,
    storage,
    memory: { processBytes: process.memoryUsage.rss(), freeBytes: freemem(), totalBytes: totalmem() },
    expiries,
    acme: acme && { state: acme.state, detail: acme.detail },
    clock: { now: clock.ts(), doubt },
    backup,
    checks: lastCounts(db),
    restartNeeded: readSettings(config).restartNeeded,
  };
}
