import { z } from "zod";
import { localEndpoint } from "../../kernel/endpoint.ts";
import { Ts } from "../../kernel/wire.ts";
import { BackupState } from "../backup/contract.ts";
import { Finding, FindingCounts } from "../health/contract.ts";

const Storage = z.object({
  /** Of the database, documents and everything else in the data folder; measured at most every ten minutes. */
  usedBytes: z.int(),
  databaseBytes: z.int(),
  documentBytes: z.int(),
  measuredAt: Ts,
  /** Of the volume that the data folder lies on. */
  freeBytes: z.int(),
  volumeBytes: z.int(),
  /** Over the last thirty days at most; null until there are two days to compare. */
  growthBytesPerDay: z.int().nullable(),
  /** Null while it does not grow, or too little is known. */
  daysUntilFull: z.int().nullable(),
});

const Expiry = z.object({
  /** `seal`, `timestamp`, `anchor` and `ca` are keys; `tls` is what clients are shown. */
  what: z.enum(["ca", "seal", "timestamp", "anchor", "tls"]),
  validUntil: Ts,
  days: z.int(),
});

export const ApplianceStatus = z
  .object({
    version: z.string(),
    /**
     * `clock-doubted`: it answers, and does nothing that needs the time. `disk-full`: nothing new is begun, or nothing at all.
     * `read-only` and `damaged`: the data folder cannot be written, or its database is damaged, and all work waits.
     */
    mode: z.enum(["normal", "clock-doubted", "disk-full", "read-only", "damaged"]),
    startedAt: Ts,
    uptimeSeconds: z.int(),
    /** Where it answers, without a trailing slash. */
    url: z.string(),
    /** Whether it made its own certificate. */
    selfSigned: z.boolean(),
    dataDir: z.string(),
    queue: z.object({ queued: z.int(), running: z.int(), dead: z.int() }),
    /** The same by kind of work, busiest first; kinds without any are left out. */
    queueByKind: z.array(z.object({ name: z.string(), queued: z.int(), running: z.int(), dead: z.int() })),
    storage: Storage,
    memory: z.object({ processBytes: z.int(), freeBytes: z.int(), totalBytes: z.int() }),
    /** Soonest first. */
    expiries: z.array(Expiry),
    /** How it stands with certificates by ACME; null where they are not set up. */
    acme: Finding.pick({ state: true, detail: true }).nullable(),
    clock: z.object({ now: Ts, doubt: z.object({ machine: Ts, expected: Ts }).nullable() }),
    /** What is set, what runs, how old the last verified backup and the last drill are. */
    backup: BackupState,
    /** Null until the first look of this run. */
    checks: FindingCounts.extend({ at: Ts }).nullable(),
    /** Settings were changed that the next start brings into force. */
    restartNeeded: z.boolean(),
  })
  .meta({ id: "ApplianceStatus" });
export type ApplianceStatus = z.infer<typeof ApplianceStatus>;

export const getStatus = localEndpoint({
  method: "GET",
  path: "/local/status",
  id: "getApplianceStatus",
  summary: "How the appliance is",
  responses: { 200: { kind: "json", schema: ApplianceStatus } },
});

export const statusEndpoints = [getStatus];
