import { z } from "zod";
import { type EndpointSpec, localEndpoint } from "../../kernel/endpoint.ts";
import { Ts } from "../../kernel/wire.ts";

/** Backups, and drills of restoring them; on the admin socket only. */

export const triggers = ["schedule", "operator", "update", "found"] as const;
export type Trigger = (typeof triggers)[number];
export const runStatuses = ["running", "verified", "damaged", "failed", "cancelled"] as const;
export type RunStatus = (typeof runStatuses)[number];
export const drillStatuses = ["running", "passed", "failed", "cancelled"] as const;
export type DrillStatus = (typeof drillStatuses)[number];
/** With what a drill opens its backup: with the appliance's own master key, or with what is kept away from it. */
export const drillOpeners = ["appliance", "key", "passphrase"] as const;
export type DrillOpener = (typeof drillOpeners)[number];

export const BackupId = z.string().regex(/^[0-9]{8}-[0-9]{9}-[0-9a-f]{6}$/);

export const BackupProgress = z
  .object({
    kind: z.enum(["backup", "verify", "drill", "restore"]),
    /** Of the backup or drill. */
    id: z.string(),
    step: z.enum(["waiting", "database", "blobs", "verify", "prune", "restore", "walk"]),
    files: z.object({ done: z.int(), all: z.int() }),
    bytes: z.object({ done: z.int(), all: z.int() }),
    /** Of this step, as far as one can say. */
    secondsLeft: z.int().nullable(),
  })
  .meta({ id: "BackupProgress" });
export type BackupProgress = z.infer<typeof BackupProgress>;

const BackupRun = z.object({
  id: BackupId,
  trigger: z.enum(triggers),
  status: z.enum(runStatuses),
  startedAt: Ts,
  endedAt: Ts.nullable(),
  cause: z.string().nullable(),
  verifiedAt: Ts.nullable(),
});

/** How many of what a drill went through. */
export const Checked = z.record(z.string(), z.int());

const Drill = z.object({
  id: z.string(),
  backup: z.string().nullable(),
  status: z.enum(drillStatuses),
  startedAt: Ts,
  endedAt: Ts.nullable(),
  cause: z.string().nullable(),
  checked: Checked,
  /** Null while it runs, when it came to no backup, and for those of before this was noted. */
  openedBy: z.enum(drillOpeners).nullable(),
  ageHours: z.int(),
});

export const BackupState = z
  .object({
    /** Null while no folder, or nobody who could open a backup, is set. */
    settings: z
      .object({
        folder: z.string(),
        openedBy: z.string().meta({ description: "The recipient's public key, or `passphrase`" }),
        intervalHours: z.int(),
        keep: z.string(),
      })
      .nullable(),
    running: BackupProgress.nullable(),
    /** The newest, whatever became of it. */
    last: BackupRun.nullable(),
    lastVerified: z.object({ id: BackupId, at: Ts, ageHours: z.int() }).nullable(),
    lastDrill: Drill.nullable(),
    nextAt: Ts.nullable(),
  })
  .meta({ id: "BackupState" });
export type BackupState = z.infer<typeof BackupState>;

export const Backup = z
  .object({
    id: BackupId,
    createdAt: Ts.nullable(),
    version: z.string().nullable(),
    /** Everything that a restore brings. */
    files: z.int().nullable(),
    bytes: z.int().nullable(),
    /** What this one added to the folder, when that is known. */
    addedBytes: z.int().nullable(),
    status: z.enum(["unverified", "verified", "damaged"]),
    verifiedAt: Ts.nullable(),
    /** Dated in the future: it is neither the newest nor removed before its date. */
    ahead: z.boolean(),
    cause: z.string().nullable(),
  })
  .meta({ id: "Backup" });
export type Backup = z.infer<typeof Backup>;

const errors = ["conflict", "not-found"] as const;
const Started = z.object({ id: z.string() });
const params = z.object({ id: BackupId });

export const getBackupState = localEndpoint({
  method: "GET",
  path: "/local/backup",
  id: "getBackupState",
  summary: "What is set for backups, what runs, and how old the last verified one is",
  responses: { 200: { kind: "json", schema: BackupState } },
});

export const followBackup = localEndpoint({
  method: "GET",
  path: "/local/backup/progress",
  id: "followBackup",
  summary: "How far the running backup, check or drill is, until it ends",
  responses: { 200: { kind: "events", schema: BackupProgress } },
});

export const cancelBackup = localEndpoint({
  method: "POST",
  path: "/local/backup/cancel",
  id: "cancelBackup",
  summary: "End what runs; nothing that was complete before is touched",
  responses: { 200: { kind: "json", schema: BackupState } },
  errors,
});

export const listBackups = localEndpoint({
  method: "GET",
  path: "/local/backups",
  id: "listBackups",
  summary: "The complete backups in the folder, newest first",
  responses: { 200: { kind: "json", schema: z.object({ data: z.array(Backup) }) } },
  errors,
});

export const startBackup = localEndpoint({
  method: "POST",
  path: "/local/backups",
  id: "startBackup",
  summary: "Make a backup now",
  responses: { 202: { kind: "json", schema: Started } },
  errors,
});

export const verifyBackup = localEndpoint({
  method: "POST",
  path: "/local/backups/{id}/verify",
  id: "verifyBackup",
  summary: "Read a backup again and check every file of it",
  params,
  responses: { 202: { kind: "json", schema: Started } },
  errors,
});

export const startDrill = localEndpoint({
  method: "POST",
  path: "/local/drills",
  id: "startDrill",
  summary: "Restore a backup into a scratch folder, walk every chain and hash there, and remove it",
  body: { kind: "json", maxBytes: 1000, schema: z.strictObject({ backup: BackupId.optional() }) },
  responses: { 202: { kind: "json", schema: Started } },
  errors,
});

export const endpoints: readonly EndpointSpec[] = [
  getBackupState,
  followBackup,
  cancelBackup,
  listBackups,
  startBackup,
  verifyBackup,
  startDrill,
];

/** What the process that walks through a restored folder tells: thousandths done, then what it found. */
export type WalkAnswer =
  | { done: number }
  | { failure: string }
  | { report: { ok: boolean; checked: Record<string, number>; problems: string[] } };
